/**
 * Downloads a model through Ollama and reports progress line by line.
 *
 * Does not use the ollama package: it sends the model in a field that Ollama's API description no longer has, and prints
 * unreadable lines to the console, whatever they hold.
 */
import { HelmdeckError } from "../engine/errors.ts";
import type { Timer } from "../engine/timing.ts";
import type { CallOptions, PullProgress } from "./embedding-service.ts";
import { chunksOf, request, withDeadline } from "./http-client.ts";
import { checkAnswer, pullLine } from "./service-answers.ts";
import { type Asked, unavailable, unusable } from "./service-failures.ts";

/** Long enough for a checksum of several gigabytes, during which the server sends nothing. */
const SILENCE_MS = 60_000;
const MAX_LINE_LENGTH = 64 * 1024;

export interface PullRequest {
  readonly url: string;
  readonly model: string;
  readonly asked: Asked;
  readonly fetch: typeof fetch;
  readonly timer: Timer;
}

export function pullModel(
  pull: PullRequest,
  onProgress: (progress: PullProgress) => void,
  options: CallOptions,
): Promise<void> {
  const { asked, timer } = pull;
  return withDeadline(options, timer, asked.who, async (whole) => {
    const silence = new SilenceAlarm(pull);
    try {
      await followPull(pull, onProgress, AbortSignal.any([whole, silence.signal]), silence);
    } finally {
      silence.off();
    }
  });
}

async function followPull(
  { url, model, asked, fetch }: PullRequest,
  onProgress: (progress: PullProgress) => void,
  signal: AbortSignal,
  silence: SilenceAlarm,
): Promise<void> {
  const init = {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/x-ndjson" },
    body: JSON.stringify({ model, stream: true }),
  };
  const options = { fetch, signal, asked };
  for await (const line of linesOf(await request(url, init, options), asked, signal)) {
    silence.reset();
    const { status, error, digest, total, completed } = checkAnswer(pullLine, parsed(line, asked), asked);
    if (error !== undefined) throw pullFailure(asked, error);
    onProgress({ status: status ?? "", digest, totalBytes: total, completedBytes: completed });
    if (status === "success") return;
  }
  throw unavailable(`${asked.who} interrupted the download of ${model}; the downloaded part is kept.`, {});
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
function pullFailure({ who, model = "" }: Asked, error: string): HelmdeckError {
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

/** Fires after a time without a message. */
class SilenceAlarm {
  readonly #controller = new AbortController();
  readonly #pull: PullRequest;
  #callOff: () => void = () => {};

  constructor(pull: PullRequest) {
    this.#pull = pull;
    this.reset();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  reset(): void {
    this.off();
    this.#callOff = this.#pull.timer(() => this.#controller.abort(this.#silent()), SILENCE_MS);
  }

  off(): void {
    this.#callOff();
  }

  #silent(): HelmdeckError {
    const { asked, model } = this.#pull;
    return new HelmdeckError(
      "deadline_exceeded",
      `${asked.who} made no progress downloading ${model} for ${SILENCE_MS / 1_000} s; the downloaded part is kept.`,
      { details: { model } },
    );
  }
}
