/** The client of an Ollama server: its models, embeddings, and downloads. */
import { Ollama } from "ollama/browser";
import { defined } from "../engine/defined.ts";
import { HelmdeckError, invalidField, isHelmdeckError } from "../engine/errors.ts";
import { processTimer, systemClock, type Timer } from "../engine/timing.ts";
import { createBatchedEmbedder, type EmbedderParts } from "./batched-embedder.ts";
import type {
  CallOptions,
  EmbedderSettings,
  OllamaEmbedRequest,
  OllamaSidecar,
  OllamaSidecarOptions,
  PullProgress,
  SidecarEmbedder,
} from "./embedding-service.ts";
import {
  boundedFetch,
  checkAddress,
  checkAnswer,
  checkVectors,
  chunksOf,
  embedAnswer,
  pullLine,
  request,
  tagsAnswer,
  versionAnswer,
  withDeadline,
} from "./http-client.ts";
import { isSameOllamaModel, ollamaName } from "./models.ts";
import { type Asked, unavailable, unusable } from "./service-failures.ts";

/** For calls without a deadline of their own, except `pull` and `warm`. */
const CALL_TIMEOUT_MS = 10_000;
const HEALTH_TIMEOUT_MS = 2_000;
/** Covers a cold model on a slow disk. */
const WARM_TIMEOUT_MS = 120_000;

export function createOllamaSidecar(
  options: OllamaSidecarOptions,
  timer: Timer = processTimer,
): OllamaSidecar {
  const { fetch: fetchImpl = fetch, keepAlive } = options;
  const address = checkAddress(options.address);
  const who = `Ollama at ${address}`;

  /** The library accepts no signal, so each call gets its own client around a fetch that does. */
  const ask = <Answer>(asked: Asked, own: CallOptions, call: (ollama: Ollama) => Promise<Answer>) =>
    withDeadline({ deadlineMs: CALL_TIMEOUT_MS, ...own }, timer, who, (signal) => {
      const bounded = boundedFetch({ fetch: fetchImpl, signal, asked });
      return call(new Ollama({ host: address, fetch: bounded })).catch((error: unknown) => {
        signal.throwIfAborted();
        throw isHelmdeckError(error) ? error : unusable(asked, "a body that is not JSON");
      });
    });

  const requestEmbeddings = ({ model, texts, dimensions }: OllamaEmbedRequest, own: CallOptions) => {
    const body = {
      model,
      input: [...texts],
      // The server truncates silently, so we truncate and report it.
      truncate: false,
      // When omitted, the server's OLLAMA_KEEP_ALIVE applies; a sent value would override it on every call.
      ...defined({ keep_alive: keepAlive, dimensions }),
    };
    return ask({ who, model }, own, (ollama) => ollama.embed(body));
  };

  const version = async (own: CallOptions = {}): Promise<string> =>
    checkAnswer(versionAnswer, await ask({ who }, own, (ollama) => ollama.version()), { who }).version;

  const models = async (own: CallOptions = {}): Promise<readonly string[]> => {
    const answer = await ask({ who }, own, (ollama) => ollama.list());
    return checkAnswer(tagsAnswer, answer, { who }).models.map(({ name }) => name);
  };

  return {
    address,
    version,
    models,
    health: async () => {
      try {
        return { ok: true, version: await version({ deadlineMs: HEALTH_TIMEOUT_MS }) };
      } catch (error) {
        if (isHelmdeckError(error)) return { ok: false, code: error.code, reason: error.message };
        return { ok: false, code: "internal", reason: "This is a bug in helmdeck memory; please report it." };
      }
    },
    hasModel: async (model) => {
      const wanted = requireModel(model);
      return (await models()).some((name) => isSameOllamaModel(name, wanted));
    },
    pull: (model, onProgress, own = {}) => {
      const name = requireModel(model);
      return pullModel({ address, model: name, fetch: fetchImpl, timer }, onProgress, own);
    },
    /** An embed request without texts only loads the model. */
    warm: async (model, own = {}) => {
      const limits = { deadlineMs: WARM_TIMEOUT_MS, ...own };
      await requestEmbeddings({ model: requireModel(model), texts: [] }, limits);
    },
    embed: async (request, own = {}) => {
      const model = requireModel(request.model);
      const asked = { who, model };
      const { embeddings } = checkAnswer(
        embedAnswer,
        await requestEmbeddings({ ...request, model }, own),
        asked,
      );
      return checkVectors(asked, embeddings, {
        count: request.texts.length,
        dimensions: request.dimensions,
      });
    },
  };
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

/** Long enough for a checksum of several gigabytes, during which the server sends nothing. */
const SILENCE_MS = 60_000;
const MAX_LINE_LENGTH = 64 * 1024;

interface PullRequest {
  readonly address: string;
  readonly model: string;
  readonly fetch: typeof fetch;
  readonly timer: Timer;
}

/**
 * Downloads a model and reports progress line by line. Does not use the ollama package: it sends the model in a field that
 * Ollama's API description no longer has, and prints unreadable lines to the console, whatever they hold.
 */
function pullModel(
  { address, model, fetch, timer }: PullRequest,
  onProgress: (progress: PullProgress) => void,
  own: CallOptions,
): Promise<void> {
  const asked = { who: `Ollama at ${address}`, model };
  const init = {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/x-ndjson" },
    body: JSON.stringify({ model, stream: true }),
  };
  const silence = new AbortController();
  const fallSilent = () =>
    silence.abort(
      new HelmdeckError(
        "deadline_exceeded",
        `${asked.who} made no progress downloading ${model} for ${SILENCE_MS / 1_000} s; the downloaded part is kept.`,
        { details: { model } },
      ),
    );
  return withDeadline(own, timer, asked.who, async (whole) => {
    let callOff = timer(fallSilent, SILENCE_MS);
    try {
      const signal = AbortSignal.any([whole, silence.signal]);
      const response = await request(`${address}/api/pull`, init, { fetch, signal, asked });
      for await (const line of linesOf(response, asked, signal)) {
        callOff();
        callOff = timer(fallSilent, SILENCE_MS);
        const { status, error, digest, total, completed } = checkAnswer(pullLine, parsed(line, asked), asked);
        if (error !== undefined) throw pullFailure(asked, error);
        onProgress({ status: status ?? "", digest, totalBytes: total, completedBytes: completed });
        if (status === "success") return;
      }
    } finally {
      callOff();
    }
    throw unavailable(`${asked.who} interrupted the download of ${model}; the downloaded part is kept.`, {});
  });
}

async function* linesOf(response: Response, asked: Asked, signal: AbortSignal): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of chunksOf(response, { asked, signal })) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > MAX_LINE_LENGTH) throw unusable(asked, "a line without an end");
    yield* lines.filter((line) => line.trim() !== "");
  }
  if (rest.trim() !== "") yield rest;
}

function parsed(line: string, asked: Asked): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw unusable(asked, "a body that is not JSON");
  }
}

/** Common reasons; the registry's own message is not shown. */
function pullFailure({ who, model }: Required<Asked>, error: string): HelmdeckError {
  if (/file does not exist|not found|invalid model name/i.test(error))
    return new HelmdeckError("model_missing", `${who} found no model ${model} to download.`, {
      details: { model },
    });
  return unavailable(`${who} could not download ${model}: ${reasonFor(error)}.`, {});
}

function reasonFor(error: string): string {
  if (/no space left/i.test(error)) return "its disk is full";
  if (/no such host|dial tcp|lookup .* on|network is unreachable/i.test(error))
    return "it cannot reach the registry";
  if (/tls|certificate|x509/i.test(error)) return "it does not trust the registry's certificate";
  if (/newer version of ollama/i.test(error)) return "the model needs a newer version of Ollama";
  if (/permission denied|read-only file system/i.test(error)) return "it cannot write to its models folder";
  if (/digest mismatch/i.test(error)) return "a file was damaged in transfer; try again";
  return "the reason is in its log";
}
