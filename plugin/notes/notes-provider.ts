/**
 * The built-in model as OpenClaw's embedding provider: one text at a time, each within a deadline.
 *
 * OpenClaw shows a note from a score of 0.35 on, of which the cosine is 70 %. The model's cosines are smaller than those that the
 * bound was chosen for, so each vector gets one more number, the same in all: it moves every cosine by one rule, and changes no order.
 */
import { HelmdeckError, isHelmdeckError } from "../../engine/errors.ts";
import { MODEL_NAME } from "../../model/run-model.ts";
import type { HostApi, Logger } from "../openclaw-api.ts";
import { withinDeadline } from "../within-deadline.ts";

type Provider = NonNullable<
  Awaited<ReturnType<Parameters<HostApi["registerEmbeddingProvider"]>[0]["create"]>>["provider"]
>;
type Input = Parameters<Provider["embed"]>[0];
type Options = Parameters<Provider["embed"]>[1];

/** Of the model's process. */
export interface EmbedsText {
  embed(text: string): Promise<Float32Array>;
}

/** A cosine c becomes (1 - LIFT) * c + LIFT: chosen by measurement (docs/benchmarks.md). */
export const LIFT = 0.3;
/** Vectors with another lift are not comparable, so it is in the name that OpenClaw keeps beside them. */
export const NOTES_MODEL = `${MODEL_NAME}+${LIFT}`;
const DIMENSIONS = 384 + 1;
/** OpenClaw cuts a chunk to as many bytes; in English this is what the model reads. */
const MOST_BYTES = 1_000;
/** Of a note. Includes loading the model on a busy machine. */
const NOTE_WITHIN_MS = 60_000;
/** The host waits 30 s for a search. The model goes on loading for the next question. */
const QUESTION_WITHIN_MS = 5_000;

export interface ProviderOptions {
  readonly questionWithinMs?: number;
}

export function makeNotesProvider(
  id: string,
  model: EmbedsText,
  log: Pick<Logger, "warn">,
  { questionWithinMs = QUESTION_WITHIN_MS }: ProviderOptions = {},
): Provider {
  const embedNote = async (input: Input, options?: Options): Promise<number[]> => {
    options?.signal?.throwIfAborted();
    return lifted(await withinDeadline(NOTE_WITHIN_MS, readable(model, textOf(input))));
  };
  /** OpenClaw compares no note with a vector of zeros, and finds them by keywords. An error would end its search for a minute. */
  const embedQuestion = async (input: Input): Promise<number[]> => {
    try {
      return lifted(await withinDeadline(questionWithinMs, readable(model, textOf(input))));
    } catch (error) {
      log.warn(`OpenClaw's notes are searched by keywords only: ${reasonOf(error)}`);
      return new Array<number>(DIMENSIONS).fill(0);
    }
  };
  return {
    ...{ id, model: NOTES_MODEL, dimensions: DIMENSIONS, maxInputTokens: MOST_BYTES },
    embed: (input, options) =>
      options?.inputType === "query" ? embedQuestion(input) : embedNote(input, options),
    // One after the other, so that a question waits for one text only.
    embedBatch: async (inputs, options) => {
      const vectors: number[][] = [];
      for (const input of inputs) vectors.push(await embedNote(input, options));
      return vectors;
    },
  };
}

/** Never the text. */
function reasonOf(error: unknown): string {
  if (isHelmdeckError(error, "deadline_exceeded")) return "the built-in model did not answer in time.";
  return isHelmdeckError(error) ? error.message : "the built-in model failed.";
}

function textOf(input: Input): string {
  return typeof input === "string" ? input : input.text;
}

/** As much of the text as the model reads. */
async function readable(model: EmbedsText, text: string): Promise<Float32Array> {
  try {
    return await model.embed(text);
  } catch (error) {
    if (!isHelmdeckError(error, "too_large")) throw error;
    const { fits } = error.details;
    if (typeof fits !== "number" || fits >= text.length)
      throw new HelmdeckError("internal", "The model says no length that fits.");
    return model.embed(text.slice(0, fits));
  }
}

function lifted(vector: Float32Array): number[] {
  const share = Math.sqrt(1 - LIFT);
  return [...Array.from(vector, (value) => share * value), Math.sqrt(LIFT)];
}
