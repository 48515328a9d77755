/**
 * Embeds questions within a time budget: caches vectors, shares concurrent requests, and gives up rather than making a person
 * wait.
 */
import { asHelmdeckError, type ErrorCode, HelmdeckError, isHelmdeckError } from "../../engine/errors.ts";
import { openLimits, orAborted, processTimer, type Timer } from "../../engine/timing.ts";
import { commonnessOf } from "../analysis/commonness.ts";
import { termOf } from "../analysis/english.ts";
import { fold } from "../analysis/words.ts";
import type { Embedder } from "../embedder.ts";
import type { LexicalIndex } from "../lexical/lexical-index.ts";
import { synonymsOf } from "../lexical/synonyms.ts";
import type { QuestionVector } from "../vectors/semantic-contract.ts";
import { LruCache } from "./lru-cache.ts";
import { ReferenceVectors } from "./reference-vectors.ts";
import { measureSpace, type Scale, type SimilarityNormalizer } from "./similarity-normalizer.ts";

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

const BUDGET_MS = 1_500;
/** Half a megabyte with the default model. */
const KEPT_QUESTIONS = 128;
/** Long enough for a cold model to load. Questions do not wait for it; the next one uses the result. */
const MEASURING = { deadlineMs: 60_000 };

export class Questions {
  readonly #timer: Timer;
  readonly #budgetMs: number;
  readonly #vectors = new LruCache<Float32Array>(KEPT_QUESTIONS);
  readonly #references: ReferenceVectors;
  /** By their reference vectors. */
  readonly #normalizers = new WeakMap<readonly Float32Array[], SimilarityNormalizer>();

  constructor(options: QuestionsOptions = {}) {
    const { timer = processTimer, budgetMs = BUDGET_MS, references = new ReferenceVectors() } = options;
    this.#timer = timer;
    this.#budgetMs = budgetMs;
    this.#references = references;
  }

  /** Never rejects and never exceeds the budget, whatever the embedder does. */
  async read(text: string, embedder: Embedder): Promise<ReadQuestion> {
    const { signal, release } = openLimits({ timer: this.#timer, deadlineMs: this.#budgetMs, tooLate });
    try {
      // The question goes first, for services that process one request at a time.
      const vector = this.#vector(text, embedder, signal);
      const reading = this.#read(embedder, vector, this.#references.get(embedder, MEASURING));
      return await orAborted(reading, signal);
    } catch (error) {
      return { kind: "missed", code: asHelmdeckError(error).code };
    } finally {
      release();
    }
  }

  /** Embeds the reference texts before the first question. */
  prepare(embedder: Embedder): void {
    this.#references.get(embedder, MEASURING).catch(() => undefined); // the first question retries and reports
  }

  /** Measures similarities of a model's vectors. Rejects like the embedder. */
  async space(embedder: Embedder): Promise<SimilarityNormalizer> {
    return this.#normalizer(await this.#references.get(embedder, MEASURING));
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
        : await this.#references.remake(embedder, vector.length, MEASURING);
    const scale = this.#normalizer(fitting).scaleFor(vector);
    return { kind: "read", question: { space: embedder.space, vector }, scale };
  }

  async #vector(text: string, embedder: Embedder, signal: AbortSignal): Promise<Float32Array> {
    let isShared = true;
    const vector = this.#vectors.get(JSON.stringify([embedder.space, text]), () => {
      isShared = false;
      return orAborted(embedder.embedQuery(text, { signal, deadlineMs: this.#budgetMs }), signal);
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

  #normalizer(references: readonly Float32Array[]): SimilarityNormalizer {
    const known = this.#normalizers.get(references) ?? measureSpace(references);
    this.#normalizers.set(references, known);
    return known;
  }
}

function tooLate(): HelmdeckError {
  return new HelmdeckError("deadline_exceeded", "The question was not embedded in time.");
}

const WORD = /\p{L}[\p{L}\p{M}]*/gu;
/** A longer text is pasted and has enough words. */
const LONGEST = 300;

/**
 * Rewrites a question with words from the memory: "ship to production" becomes "deploy …" when the memory has "deploy" but not
 * "ship". This helps small models that miss the synonym.
 *
 * Replaces each word that the memory lacks by a synonym that it has; undefined when there is none.
 */
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
