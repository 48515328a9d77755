/**
 * Embeds questions within a time budget: caches vectors, shares concurrent requests, and gives up rather than making a person
 * wait. Tells in a sentence why an answer lacks what a model would find.
 */
import { asHelmdeckError, type ErrorCode, HelmdeckError, isHelmdeckError } from "../../engine/errors.ts";
import { openLimits, orAborted, processTimer, type Timer } from "../../engine/timing.ts";
import { commonnessOf } from "../analysis/commonness.ts";
import { termOf } from "../analysis/english.ts";
import { fold } from "../analysis/words.ts";
import type { Embedder } from "../embedder.ts";
import type { LexicalIndex } from "../lexical/lexical-index.ts";
import { synonymsOf } from "../lexical/synonyms.ts";
import type { Coverage, EmbeddingStatus, QuestionVector } from "../vectors/semantic-contract.ts";
import { measureSpace, ReferenceVectors, type Scale, SharedAttempts } from "./reference-vectors.ts";

export interface QuestionsOptions {
  readonly timer?: Timer;
  /** Default 1,500: a person is waiting, and the keyword results are ready. */
  readonly budgetMs?: number;
  /** Default: one shared instance per process. */
  readonly references?: ReferenceVectors;
}

export type ReadQuestion =
  | { readonly kind: "read"; readonly question: QuestionVector; readonly scale: Scale }
  | { readonly kind: "missed"; readonly code: ErrorCode };

type Space = ReturnType<typeof measureSpace>;

const BUDGET_MS = 1_500;
/** Half a megabyte with the default model. */
const KEPT_QUESTIONS = 128;
/** Long enough for a cold model to load. Questions do not wait for it; the next one uses the result. */
const MEASURING = { deadlineMs: 60_000 };

export class Questions {
  readonly #options: Required<QuestionsOptions>;
  readonly #vectors = new SharedAttempts<Float32Array>(KEPT_QUESTIONS);
  /** By their reference vectors. */
  readonly #spaces = new WeakMap<readonly Float32Array[], Space>();

  constructor({ references = new ReferenceVectors(), ...options }: QuestionsOptions = {}) {
    this.#options = { timer: processTimer, budgetMs: BUDGET_MS, references, ...options };
  }

  /** Never rejects and never exceeds the budget, whatever the embedder does. */
  async read(text: string, embedder: Embedder): Promise<ReadQuestion> {
    const { signal, release } = openLimits({
      timer: this.#options.timer,
      deadlineMs: this.#options.budgetMs,
      tooLate,
    });
    try {
      // The question goes first, for services that process one request at a time.
      const vector = this.#vector(text, embedder, signal);
      const reading = this.#read(embedder, vector, this.#options.references.get(embedder, MEASURING));
      return await orAborted(reading, signal);
    } catch (error) {
      return { kind: "missed", code: asHelmdeckError(error).code };
    } finally {
      release();
    }
  }

  /** Embeds the reference texts before the first question. */
  prepare(embedder: Embedder): void {
    this.#options.references.get(embedder, MEASURING).catch(() => undefined); // the first question retries and reports
  }

  /** Rejects like the embedder. */
  async space(embedder: Embedder): Promise<Space> {
    return this.#spaceOf(await this.#options.references.get(embedder, MEASURING));
  }

  async #read(
    embedder: Embedder,
    asked: Promise<Float32Array>,
    known: Promise<readonly Float32Array[]>,
  ): Promise<ReadQuestion> {
    const [vector, references] = await Promise.all([asked, known]);
    const fitting =
      references[0]?.length === vector.length
        ? references
        : await this.#options.references.remake(embedder, vector.length, MEASURING);
    const scale = this.#spaceOf(fitting)(vector);
    return { kind: "read", question: { space: embedder.space, vector }, scale };
  }

  async #vector(text: string, embedder: Embedder, signal: AbortSignal): Promise<Float32Array> {
    let isShared = true;
    const vector = this.#vectors.getOrMake(JSON.stringify([embedder.space, text]), () => {
      isShared = false;
      return orAborted(embedder.embedQuery(text, { signal, deadlineMs: this.#options.budgetMs }), signal);
    });
    try {
      return await vector;
    } catch (error) {
      // The time of whoever asked first is over, but not this one's.
      if (isShared && isHelmdeckError(error, "deadline_exceeded") && !signal.aborted)
        return this.#vector(text, embedder, signal);
      throw error;
    }
  }

  #spaceOf(references: readonly Float32Array[]): Space {
    const known = this.#spaces.get(references) ?? measureSpace(references);
    this.#spaces.set(references, known);
    return known;
  }
}

function tooLate(): HelmdeckError {
  return new HelmdeckError("deadline_exceeded", "The question was not embedded in time.");
}

const WORD = /\p{L}[\p{L}\p{M}]*/gu;
/** A longer text is pasted and has enough words. */
const LONGEST = 300;

/** Replaces each word that the memory lacks by a synonym that it has, if any: small models may miss that "ship to production" is "deploy". */
export function expandedQuery(question: string, index: LexicalIndex): string | undefined {
  if (question.length > LONGEST) return undefined;
  const words = question.match(WORD) ?? [];
  const commonness = commonnessOf(words.map(fold));
  let at = -1;
  const expanded = question.replace(WORD, (word) => {
    at += 1;
    return commonness[at] === 0 ? word : (knownSynonym(word, index) ?? word);
  });
  return expanded === question ? undefined : expanded;
}

function knownSynonym(word: string, { terms }: LexicalIndex): string | undefined {
  const term = termOf(fold(word));
  if (terms.numberOf(term) !== undefined) return undefined;
  for (const [synonym, { word: itsWord }] of synonymsOf(term))
    if (terms.numberOf(synonym) !== undefined) return itsWord;
  return undefined;
}

const PHRASES: Partial<Readonly<Record<ErrorCode, string>>> = {
  deadline_exceeded: "WHO did not answer in time",
  embeddings_out_of_memory: "WHO has too little memory",
  model_missing: "the embedding model is not installed",
  model_changed: "the built-in model was changed, and is not loaded",
  rate_limited: "WHO received too many requests",
  dimension_mismatch: "the embedding model changed",
};

export function missedNote(code: ErrorCode, { isLocal }: Pick<EmbeddingStatus, "isLocal">): string {
  const phrase = PHRASES[code] ?? "WHO is not available";
  const why = phrase.replace("WHO", isLocal ? "the built-in model" : "the embedding service");
  const isBusy = isLocal && code === "deadline_exceeded";
  return keywordsOnlyNote(`${why}${isBusy ? " (this machine is busy); try again in a moment." : "."}`);
}

/** @param why as the end of a sentence */
export function keywordsOnlyNote(why: string): string {
  return `Searched by keywords only: ${why}`;
}

/** With a remedy, or the reason why there are no vectors yet. */
export function nothingEmbeddedNote({ lastError, ...embedding }: EmbeddingStatus): string {
  if (lastError !== undefined) return missedNote(lastError, embedding);
  const remedy = embedding.embeds
    ? "Embedding continues in the background; try again in a moment."
    : "Run helmdeck-memory embed to do it now; a running gateway or server does it in the background.";
  return keywordsOnlyNote(`no entry is embedded yet. ${remedy}`);
}

export function coverageNote({ embedded, total, refused }: Coverage): string | undefined {
  if (embedded + refused >= total) return undefined;
  return `Embedded so far: ${embedded} of ${total} entries. The others are found by keywords.`;
}
