/** Questions as vectors, within a budget: kept for a while, asked for once at a time, and given up rather than waited for. */
import {
  asHelmdeckError,
  type ErrorCode,
  HelmdeckError,
  processTimer,
  type Timer,
} from "../../engine/index.ts";
import type { Embedder } from "../embedder.ts";
import type { QuestionVector } from "../vectors/contract.ts";
import { Latest } from "./latest.ts";
import { measureSpace, type Scale, type Yardstick } from "./yardstick.ts";

export interface QuestionsOptions {
  readonly timer?: Timer;
  /** A person waits, and keywords have their answer ready. Default 1,500. */
  readonly budgetMs?: number;
}

export type ReadQuestion =
  | { readonly kind: "read"; readonly question: QuestionVector; readonly scale: Scale }
  | { readonly kind: "missed"; readonly code: ErrorCode };

const BUDGET_MS = 1_500;
/** Half a megabyte of the usual model's. */
const KEPT_QUESTIONS = 128;
/** One for each model that serves; after a change there are two for a while. */
const KEPT_YARDSTICKS = 4;
/** The decoys are not waited for so long, but a cold model may take it, and then they are there for the next question. */
const MEASURING_MS = 60_000;

export class Questions {
  readonly #timer: Timer;
  readonly #budgetMs: number;
  readonly #vectors = new Latest<Float32Array>(KEPT_QUESTIONS);
  readonly #yardsticks = new Latest<Yardstick>(KEPT_YARDSTICKS);

  constructor({ timer = processTimer, budgetMs = BUDGET_MS }: QuestionsOptions = {}) {
    this.#timer = timer;
    this.#budgetMs = budgetMs;
  }

  /** Never rejects, and never takes longer than the budget, whatever the embedder does. */
  async read(text: string, embedder: Embedder): Promise<ReadQuestion> {
    const budget = new AbortController();
    const callOff = this.#timer(() => budget.abort(tooLate()), this.#budgetMs);
    try {
      const asked = Promise.all([this.#vector(text, embedder, budget.signal), this.#yardstick(embedder)]);
      const [vector, yardstick] = await Promise.race([asked, rejectionOf(budget.signal)]);
      return { kind: "read", question: { space: embedder.space, vector }, scale: yardstick.scaleFor(vector) };
    } catch (error) {
      return { kind: "missed", code: asHelmdeckError(error).code };
    } finally {
      callOff();
    }
  }

  /** Takes the measure of a space ahead of the first question. */
  prepare(embedder: Embedder): void {
    this.#yardstick(embedder).catch(() => undefined); // the first question tries again, and tells
  }

  #vector(text: string, embedder: Embedder, signal: AbortSignal): Promise<Float32Array> {
    const limits = { signal, deadlineMs: this.#budgetMs };
    return this.#vectors.get(JSON.stringify([embedder.space, text]), () =>
      Promise.race([embedder.embedQuery(text, limits), rejectionOf(signal)]),
    );
  }

  #yardstick(embedder: Embedder): Promise<Yardstick> {
    return this.#yardsticks.get(embedder.space, () => measureSpace(embedder, { deadlineMs: MEASURING_MS }));
  }
}

function tooLate(): HelmdeckError {
  return new HelmdeckError("deadline_exceeded", "The question was not embedded in time.");
}

function rejectionOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
