/** Semantic search for one open memory: the client of the embedding service and the vectors, or the reason why there are none. */
import { defined } from "../../engine/defined.ts";
import { isHelmdeckError } from "../../engine/errors.ts";
import type { MemoryStore } from "../../engine/store/memory-store.ts";
import { processTimer, type Timer } from "../../engine/timing.ts";
import { ReferenceVectors } from "../../recall/meaning/reference-vectors.ts";
import type { SemanticIndex } from "../../recall/vectors/semantic-contract.ts";
import { createSemanticIndex } from "../../recall/vectors/semantic-index.ts";
import type { EmbedderSettings, SidecarEmbedder } from "../../sidecar/embedding-service.ts";
import { createOllamaEmbedder, createOllamaSidecar } from "../../sidecar/ollama.ts";
import { createOpenAiCompatibleEmbedder } from "../../sidecar/openai-compatible.ts";
import { settingsOfSpace } from "../../sidecar/space.ts";
import type { EmbeddingsStatus } from "../memory.ts";
import { referenceCacheOver, vectorCacheOver } from "../vector-cache.ts";
import type { EmbeddingService, EmbeddingSettings } from "./embedding-settings.ts";

export interface EmbeddingsOptions {
  readonly settings: EmbeddingSettings;
  readonly store: MemoryStore;
  /** False in a short-lived process: vectors are read but not made. */
  readonly embedsEntries: boolean;
  readonly timer?: Timer;
  readonly random?: () => number;
}

export interface Embeddings {
  /** Absent: keyword search only. */
  readonly active?: ActiveEmbeddings;
  status(): EmbeddingsStatus;
  /** How a search works now, as far as is known. */
  mode(): "keyword" | "hybrid";
  /** Asks the service, so that the status knows whether it works. Never rejects. */
  ask(): Promise<void>;
  /** Aborts work in progress. */
  close(): void;
}

export interface ActiveEmbeddings {
  readonly embedder: SidecarEmbedder;
  readonly index: SemanticIndex;
  readonly references: ReferenceVectors;
}

/** What doctor and status ask the service. */
export const PROBE = "Is anybody there?";
/** The same time that a search waits for its question. */
const ASK_MS = 1_500;
const ignore = (): void => {};

/** Sends no request yet. Never throws: unusable settings appear in the status. */
export function openEmbeddings(options: EmbeddingsOptions): Embeddings {
  const { settings } = options;
  if (settings.provider === "none" || settings.provider === "unusable") return without(settings);
  try {
    return openWith(settings, options);
  } catch (error) {
    if (isHelmdeckError(error, "invalid_input"))
      return without({ provider: "unusable", problem: error.message });
    throw error;
  }
}

function without(status: EmbeddingsStatus): Embeddings {
  return { status: () => status, mode: () => "keyword", ask: async () => {}, close: () => {} };
}

function openWith(service: EmbeddingService, options: EmbeddingsOptions): Embeddings {
  const { store, embedsEntries, timer = processTimer, random } = options;
  const { provider, url, model, dimensions } = service;
  const embedder = embedderFor(service, { model, ...defined({ dimensions }) });
  const formers = new Map<string, SidecarEmbedder | undefined>();
  const references = new ReferenceVectors(referenceCacheOver(store));
  const index = createSemanticIndex({
    embedder,
    cache: vectorCacheOver(store),
    references,
    formerEmbedder: (space) => {
      if (!formers.has(space)) formers.set(space, formerFor(service, space));
      return formers.get(space);
    },
    readOnly: !embedsEntries,
    timer,
    ...defined({ random }),
  });
  return {
    active: { embedder, index, references },
    status() {
      const { embedded, waiting, refused, state, lastError } = index.status();
      const { reason } = embedder.state();
      const failure = reason ?? lastError;
      return {
        ...{ provider, url, model: embedder.model, state, embedded, waiting, refused },
        ...defined({ failure }),
      };
    },
    mode: () => (embedder.state().reason === undefined ? "hybrid" : "keyword"),
    ask: () => embedder.embedQuery(PROBE, { deadlineMs: ASK_MS }).then(ignore, ignore),
    close() {
      index.close();
      for (const one of [embedder, ...formers.values()]) one?.close();
    },
  };
}

/** The same service may still have the former model. */
function formerFor(service: EmbeddingService, space: string): SidecarEmbedder | undefined {
  const settings = settingsOfSpace(space);
  return settings && embedderFor(service, settings);
}

function embedderFor(
  { provider, url, apiKey, keepAlive }: EmbeddingService,
  settings: EmbedderSettings,
): SidecarEmbedder {
  if (provider === "ollama") {
    const sidecar = createOllamaSidecar({ address: url, ...defined({ keepAlive }) });
    return createOllamaEmbedder(sidecar, settings);
  }
  return createOpenAiCompatibleEmbedder({
    address: url,
    ...defined({ apiKey }),
    ...settings,
  });
}
