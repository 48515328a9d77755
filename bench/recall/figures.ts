/** Recall figures: how much of a question's evidence is among the first hits. */
import { mean, quantile } from "../measured.ts";
import type { Question } from "./conversations.ts";

/** The keys that one system returned for one question, best first, and the time it took. */
export interface Asked {
  readonly question: Question;
  readonly keys: readonly string[];
  readonly ms: number;
}

export const DEPTHS = [5, 10, 25, 50] as const;
/** The depths that others report for LoCoMo: for whole sessions, for all of the evidence, and for its order. */
export const PEERS_DEPTHS = { sessions: [1, 5, 10], all: [5, 10], ndcg: 5 } as const;

/** Figures in the metrics of other published systems. All are shares of the questions, except `ndcg`. */
export interface PeersFigures {
  readonly questions: number;
  /** Per depth: share with any session of the evidence among the first sessions. A session ranks by its best turn. */
  readonly sessionAny: readonly number[];
  /** Per depth: share with all turns of the evidence among the first hits. */
  readonly all: readonly number[];
  /** Normalized discounted cumulative gain of the evidence's turns, each with gain 1. This is the mean over the questions. */
  readonly ndcg: number;
}

export interface RecallFigures {
  readonly questions: number;
  /** Per depth: the mean over the questions of the share of the evidence that was found. */
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

export function peersFiguresOf(asked: readonly Asked[]): PeersFigures {
  const share = (holds: (one: Asked) => boolean) => mean(asked.map((one) => (holds(one) ? 1 : 0)));
  return {
    questions: asked.length,
    sessionAny: PEERS_DEPTHS.sessions.map((depth) => share((one) => findsSession(one, depth))),
    all: PEERS_DEPTHS.all.map((depth) => share((one) => shareFound(one, depth) === 1)),
    ndcg: mean(asked.map((one) => ndcg(one, PEERS_DEPTHS.ndcg))),
  };
}

/** A turn's key is `<session>/<turn>`. */
const sessionOf = (key: string) => key.slice(0, key.indexOf("/"));

function findsSession({ question, keys }: Asked, depth: number): boolean {
  const first = [...new Set(keys.map(sessionOf))].slice(0, depth);
  return question.evidence.some((key) => first.includes(sessionOf(key)));
}

function ndcg({ question, keys }: Asked, depth: number): number {
  const gain = (rank: number) => 1 / Math.log2(rank + 2);
  const found = keys.slice(0, depth).map((key, rank) => (question.evidence.includes(key) ? gain(rank) : 0));
  const best = question.evidence.slice(0, depth).map((_, rank) => gain(rank));
  return sum(found) / sum(best);
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

function shareFound({ question, keys }: Asked, depth: number): number {
  const first = new Set(keys.slice(0, depth));
  return question.evidence.filter((key) => first.has(key)).length / question.evidence.length;
}
