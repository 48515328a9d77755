/** An embedder for an Ollama server. */

import { defined } from "../engine/defined.ts";
import { systemClock } from "../engine/timing.ts";
import { createBatchedEmbedder, type EmbedderParts } from "./batched-embedder.ts";
import type { CallOptions, EmbedderSettings, OllamaSidecar, SidecarEmbedder } from "./embedding-service.ts";
import { ollamaName } from "./models.ts";

/** Ollama handles one request at a time by default; the timeout covers loading a cold model. */
const DEFAULTS = { concurrency: 1, requestTimeoutMs: 120_000 };

export function createOllamaEmbedder(
  sidecar: OllamaSidecar,
  settings: EmbedderSettings,
  parts: EmbedderParts = { clock: systemClock, random: Math.random },
): SidecarEmbedder {
  const model = ollamaName(settings.model);
  const { dimensions } = settings;
  const service = {
    who: `Ollama at ${sidecar.address}`,
    model,
    send: (texts: readonly string[], options: CallOptions) =>
      sidecar.embed({ model, texts, ...defined({ dimensions }) }, options),
    warm: (options: CallOptions) => sidecar.warm(model, options),
  };
  return createBatchedEmbedder(service, settings, DEFAULTS, parts);
}
