/**
 * Scores every candidate. Its merit, the sum of its features times their weights (recall/weights.ts), determines the
 * order; its doubts determine whether it is sure. Words and meaning share the same sums; words stand in for an unknown meaning.
 */
import { compareText } from "../engine/compare-text.ts";
import type { WordFeatures } from "./lexical/candidate-features.ts";
import type { IndexedDocument } from "./lexical/indexed-document.ts";
import type { LexicalIndex } from "./lexical/lexical-index.ts";
import type { Candidate } from "./lexical/lexical-search.ts";
import type { Passage } from "./lexical/passages.ts";
import { type KindWeights, WEIGHTS } from "./weights.ts";

export interface Features extends WordFeatures {
  /**
   * How many deviations nearer to the question than the nearest of as many unrelated texts; estimated from words when meaning is
   * unknown.
   */
  readonly nearness: number;
}

/** A candidate with its score. */
export interface ScoredCandidate {
  readonly document: IndexedDocument;
  readonly passage: Passage;
  readonly features: Features;
  readonly merit: number;
  readonly doubt: number;
  /** 0 to 1, from merit alone. */
  readonly certainty: number;
  readonly isSure: boolean;
  /** The displayed score: 0.5 or more when sure, below 0.35 otherwise. */
  readonly score: number;
}

/** Similarities of the passages near the question. */
export interface PassageSimilarities {
  /** By unit: how many deviations the similarity of the passage exceeds that of unrelated texts. */
  readonly nearness: ReadonlyMap<number, number>;
  /** How many passages were compared: the nearest of many is near by chance alone. */
  readonly passages: number;
  /** False when some passages have no vectors yet. */
  readonly isWhole: boolean;
}

/** Scores all candidates, in no particular order. */
export function scoreCandidates(
  candidates: readonly Candidate[],
  meant: PassageSimilarities | undefined,
  index: LexicalIndex,
): readonly ScoredCandidate[] {
  const nearness = nearnessBy(meant, index);
  const weighed = candidates.map((candidate) => weigh(candidate, nearness(candidate)));
  const kinds = Map.groupBy(weighed, ({ features }) => features.inThread);
  return [...kinds].flatMap(([inThread, ofKind]) =>
    withVerdict(ofKind, inThread ? WEIGHTS.line : WEIGHTS.fact),
  );
}

const NO_WORDS: Features = {
  ...{
    coverage: 0,
    synonyms: 0,
    bm25: 0,
    proximity: 0,
    context: 0,
    unknown: 0,
    unknownNames: 0,
    nearness: 0,
  },
  ...{ fewWords: false, inThread: false, isNamed: false },
};

/** For a document from the requested time, whatever its words. */
export function sureByTime(document: IndexedDocument, passage: Passage): ScoredCandidate {
  const verdict = { merit: 0, doubt: 0, certainty: 0, isSure: true, score: 0.5 };
  return { document, passage, features: NO_WORDS, ...verdict };
}

type Weighed = Pick<ScoredCandidate, "document" | "passage" | "features" | "merit" | "doubt">;

function weigh({ document, passage, features: words }: Candidate, nearness: number): Weighed {
  const features = { ...words, nearness };
  const { merit, doubt } = features.inThread ? WEIGHTS.line : WEIGHTS.fact;
  return { document, passage, features, merit: sum(features, merit), doubt: sum(features, doubt) };
}

/** Features times weights. */
function sum<K extends keyof Features>(features: Features, weights: Readonly<Partial<Record<K, number>>>) {
  let total = 0;
  for (const name in weights) total += (weights[name] ?? 0) * Number(features[name]);
  return total;
}

/** A document that the question names is sure, and has no effect on the others. */
function withVerdict(weighed: readonly Weighed[], kind: KindWeights): readonly ScoredCandidate[] {
  const others = weighed.filter(({ features }) => !features.isNamed);
  const isEnough = ({ merit, doubt }: Weighed) => merit - doubt >= kind.sureFrom;
  const isOneSure = others.some(isEnough);
  const least = Math.max(...others.map(({ merit }) => merit)) - kind.gap;
  return weighed.map((one) => {
    const { isNamed } = one.features;
    const isSure = isNamed || (one.merit >= least && (kind.together ? isOneSure : isEnough(one)));
    const merit = one.merit + (isNamed ? WEIGHTS.named : 0);
    const certainty = 1 / (1 + Math.exp(WEIGHTS.steepness * (kind.even - merit)));
    return {
      ...one,
      certainty,
      isSure,
      score: isSure ? (1 + certainty) / 2 : WEIGHTS.possible.scale * certainty,
    };
  });
}

/** How many deviations a candidate is nearer than chance. */
function nearnessBy(
  meant: PassageSimilarities | undefined,
  index: LexicalIndex,
): (candidate: Candidate) => number {
  const { meaning, thread } = WEIGHTS;
  const byWords = ({ features }: Candidate) => meaning.ofAllWords * features.coverage;
  if (meant === undefined) return byWords;
  const chance = nearestByChance(meant.passages);
  return (candidate) => {
    const { unit, features } = candidate;
    const known = meant.nearness.get(unit);
    if (known === undefined && !meant.isWhole) return byWords(candidate);
    const lent = features.inThread ? thread.lent * contextNearness(candidate, meant, index) : 0;
    const nearness = Math.max(0, (known ?? 0) + lent) - chance;
    return features.coverage >= meaning.enoughWords ? Math.max(nearness, byWords(candidate)) : nearness;
  };
}

/**
 * How near, in deviations, the nearest of this many unrelated texts is: the approximate maximum of as many draws from a normal
 * distribution.
 */
function nearestByChance(passages: number): number {
  return Math.sqrt(2 * Math.log(passages + 1));
}

/** The similarity of surrounding lines, weighted by closeness: the meaning of a reply includes what it replies to. */
function contextNearness(
  { document }: Candidate,
  { nearness }: PassageSimilarities,
  index: LexicalIndex,
): number {
  let most = 0;
  for (const { document: other, distance } of index.neighbours.around(document)) {
    const share = WEIGHTS.thread.lentDecay ** (distance - 1);
    for (const unit of other.units) most = Math.max(most, share * (nearness.get(unit) ?? 0));
  }
  return most;
}

/** The best passage of each document, best first. */
export function bestPerDocument(scored: readonly ScoredCandidate[]): readonly ScoredCandidate[] {
  const seen = new Set<IndexedDocument>();
  return [...scored].sort(compare).filter(({ document }) => {
    if (seen.has(document)) return false;
    seen.add(document);
    return true;
  });
}

/** By score, then newest, then path: the same query always gives the same order. */
function compare(left: ScoredCandidate, right: ScoredCandidate): number {
  return (
    right.score - left.score ||
    right.document.updatedAt - left.document.updatedAt ||
    compareText(left.document.path, right.document.path) ||
    left.passage.start - right.passage.start
  );
}
