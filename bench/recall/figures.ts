/** Recall figures: how much of a question's evidence stands among the first hits. */
import { mean, quantile } from "../measured.ts";
import type { Question } from "./conversations.ts";

/** The keys that one system answered one question with, best first, and how long it took. */
export interface Asked {
  readonly question: Question;
  readonly keys: readonly string[];
  readonly ms: number;
}

export const DEPTHS = [5, 10, 25, 50] as const;

export interface RecallFigures {
  readonly questions: number;
  /** Per depth: evidence found ÷ evidence of each question, then the mean. */
  readonly recall: readonly number[];
  /** Per depth: share of the questions with any evidence found. */
  readonly anyHit: readonly number[];
  readonly p50Ms: number;
  readonly p95Ms: number;
}

export function figuresOf(asked: readonly Asked[]): RecallFigures {
  const ms = asked.map((one) => one.ms);
  return {
    questions: asked.length,
    recall: DEPTHS.map((depth) => mean(asked.map((one) => shareFound(one, depth)))),
    anyHit: DEPTHS.map((depth) => mean(asked.map((one) => (shareFound(one, depth) > 0 ? 1 : 0)))),
    p50Ms: quantile(ms, 0.5),
    p95Ms: quantile(ms, 0.95),
  };
}

function shareFound({ question, keys }: Asked, depth: number): number {
  const first = new Set(keys.slice(0, depth));
  return question.evidence.filter((key) => first.has(key)).length / question.evidence.length;
}
