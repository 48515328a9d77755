/** The client of an Ollama server. */
import { Ollama } from "ollama/browser";
import { defined } from "../engine/defined.ts";
import { invalidField, isHelmdeckError } from "../engine/errors.ts";
import { processTimer, systemClock, type Timer } from "../engine/timing.ts";
import { createBatchedEmbedder, type EmbedderParts } from "./batched-embedder.ts";
import { checkVectors } from "./check-vectors.ts";
import type {
  CallOptions,
  EmbedderSettings,
  OllamaEmbedRequest,
  OllamaSidecar,
  OllamaSidecarOptions,
  PullProgress,
  SidecarEmbedder,
  SidecarHealth,
} from "./embedding-service.ts";
import { boundedFetch, checkAddress, withDeadline } from "./http-client.ts";
import { isSameOllamaModel, ollamaName } from "./models.ts";
import { pullModel } from "./ollama-pull.ts";
import { checkAnswer, embedAnswer, tagsAnswer, versionAnswer } from "./service-answers.ts";
import { type Asked, unusable } from "./service-failures.ts";

/** For calls without a deadline of their own, except `pull` and `warm`. */
const CALL_TIMEOUT_MS = 10_000;
const HEALTH_TIMEOUT_MS = 2_000;
/** Covers a cold model on a slow disk. */
const WARM_TIMEOUT_MS = 120_000;

export function createOllamaSidecar(
  options: OllamaSidecarOptions,
  timer: Timer = processTimer,
): OllamaSidecar {
  return new OllamaClient(options, timer);
}

class OllamaClient implements OllamaSidecar {
  readonly address: string;
  readonly #who: string;
  readonly #timer: Timer;
  readonly #fetch: typeof fetch;
  readonly #keepAlive: string | undefined;

  constructor(options: OllamaSidecarOptions, timer: Timer) {
    this.address = checkAddress(options.address);
    this.#who = `Ollama at ${this.address}`;
    this.#timer = timer;
    this.#fetch = options.fetch ?? fetch;
    this.#keepAlive = options.keepAlive;
  }

  async health(): Promise<SidecarHealth> {
    try {
      return { ok: true, version: await this.version({ deadlineMs: HEALTH_TIMEOUT_MS }) };
    } catch (error) {
      if (isHelmdeckError(error)) return { ok: false, code: error.code, reason: error.message };
      return { ok: false, code: "internal", reason: "This is a bug in helmdeck memory; please report it." };
    }
  }

  async version(options: CallOptions = {}): Promise<string> {
    const answer = await this.#ask(options, {}, (ollama) => ollama.version());
    return checkAnswer(versionAnswer, answer, this.#asked()).version;
  }

  async models(options: CallOptions = {}): Promise<readonly string[]> {
    const answer = await this.#ask(options, {}, (ollama) => ollama.list());
    const { models } = checkAnswer(tagsAnswer, answer, this.#asked());
    return models.map(({ name }) => name);
  }

  async hasModel(model: string): Promise<boolean> {
    const wanted = requireModel(model);
    return (await this.models()).some((name) => isSameOllamaModel(name, wanted));
  }

  pull(
    model: string,
    onProgress: (progress: PullProgress) => void,
    options: CallOptions = {},
  ): Promise<void> {
    const name = requireModel(model);
    const pull = { url: `${this.address}/api/pull`, model: name, asked: this.#asked(name) };
    return pullModel({ ...pull, fetch: this.#fetch, timer: this.#timer }, onProgress, options);
  }

  /** An embed request without texts only loads the model. */
  async warm(model: string, options: CallOptions = {}): Promise<void> {
    const limits = { deadlineMs: WARM_TIMEOUT_MS, ...options };
    await this.#requestEmbeddings({ model: requireModel(model), texts: [] }, limits);
  }

  async embed(request: OllamaEmbedRequest, options: CallOptions = {}): Promise<readonly Float32Array[]> {
    const { texts, dimensions } = request;
    const model = requireModel(request.model);
    const answer = await this.#requestEmbeddings({ ...request, model }, options);
    const { embeddings } = checkAnswer(embedAnswer, answer, this.#asked(model));
    return checkVectors(this.#asked(model), embeddings, { count: texts.length, dimensions });
  }

  #requestEmbeddings(
    { model, texts, dimensions }: OllamaEmbedRequest,
    options: CallOptions,
  ): Promise<unknown> {
    const body = {
      model,
      input: [...texts],
      // The server truncates silently, so we truncate and report it.
      truncate: false,
      // When omitted, the server's OLLAMA_KEEP_ALIVE applies; a sent value would override it on every call.
      ...defined({ keep_alive: this.#keepAlive, dimensions }),
    };
    return this.#ask(options, { model }, (ollama) => ollama.embed(body));
  }

  /** The library accepts no signal, so each call gets its own client around a fetch that does. */
  #ask(
    options: CallOptions,
    { model }: { readonly model?: string },
    call: (ollama: Ollama) => Promise<unknown>,
  ): Promise<unknown> {
    const asked = this.#asked(model);
    const limits = { deadlineMs: CALL_TIMEOUT_MS, ...options };
    return withDeadline(limits, this.#timer, this.#who, (signal) => {
      const bounded = boundedFetch({ fetch: this.#fetch, signal, asked });
      return call(new Ollama({ host: this.address, fetch: bounded })).catch((error: unknown) => {
        signal.throwIfAborted();
        throw isHelmdeckError(error) ? error : unusable(asked, "a body that is not JSON");
      });
    });
  }

  #asked(model?: string): Asked {
    return { who: this.#who, ...defined({ model }) };
  }
}

/** The name as Ollama lists it. Throws `invalid_input`. */
function requireModel(model: string): string {
  if (/^[\w.:/-]{1,200}$/.test(model.trim())) return ollamaName(model);
  throw invalidField("model", "may have letters, digits and . _ - : / only, at most 200 of them", {
    named: "A model's name",
  });
}

/** Ollama handles one request at a time by default; the timeout covers loading a cold model. */
const DEFAULTS = { concurrency: 1, requestTimeoutMs: 120_000 };

/** An embedder for an Ollama server. */
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
