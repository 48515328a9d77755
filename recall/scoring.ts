/**
 * Scores every candidate. Its merit, the sum of its features times their weights (recall/weights.ts), determines the
 * order; its lead over the others and its doubts determine whether it is sure. Each is judged by itself: none hides another. Words
 * and meaning share the same sums; words stand in for an unknown meaning.
 */
import { compareText } from "../engine/compare-text.ts";
import { type Judge, judgeFor } from "./analysis/asked.ts";
import { otherTermOf, termOf } from "./analysis/english.ts";
import type { Query } from "./analysis/query.ts";
import type { WordFeatures } from "./lexical/candidate-features.ts";
import type { IndexedDocument, Passage } from "./lexical/indexed-document.ts";
import type { LexicalIndex } from "./lexical/lexical-index.ts";
import type { Candidate } from "./lexical/lexical-search.ts";
import { synonymsOf } from "./lexical/synonyms.ts";
import { unitOf as termOfPosting } from "./lexical/terms.ts";
import { type ChanceWeights, type KindWeights, WEIGHTS } from "./weights.ts";

export interface Features extends WordFeatures {
  /** How many deviations nearer to the question than the nearest of as many unrelated texts; by words when meaning is unknown. */
  readonly nearness: number;
  /** What it lacks of what is asked for (recall/analysis/asked.ts). */
  readonly otherOwner: boolean;
  readonly otherAnswer: boolean;
  readonly otherNoun: boolean;
  readonly otherMatter: boolean;
  /** Whether it lacks the owner or the answer. */
  readonly lacking: boolean;
  /** Whether somebody asks about themselves, and it is about its writer. */
  readonly ofAsker: boolean;
  /** Shown because of a fact that was found (recall/hit-conflicts.ts), whatever the question. */
  readonly isBeside: boolean;
  /** How far its merit is above that of all other documents, if a model has read them. */
  readonly lead: number;
}

export interface ScoredCandidate {
  readonly unit: number;
  readonly document: IndexedDocument;
  readonly passage: Passage;
  readonly features: Features;
  readonly merit: number;
  readonly doubt: number;
  /** Orders candidates of all kinds: the odds of an answer, whatever the candidate lacks of what is asked. */
  readonly odds: number;
  /** 0 to 1: how many of such candidates answer the question, as calibrated (bench/fit-chances.ts). */
  readonly chance: number;
  readonly isSure: boolean;
  /** The displayed score: 0.5 or more when sure, 0.01 to 0.34 otherwise; rises with the chance. */
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
  /** Whether the model knows the language of a document. Absent: of all. */
  readonly knows?: (document: IndexedDocument) => boolean;
}

/** Scores all candidates of a question, in no particular order. */
export function scoreCandidates(
  question: Query,
  candidates: readonly Candidate[],
  meant: PassageSimilarities | undefined,
  index: LexicalIndex,
): readonly ScoredCandidate[] {
  if (candidates.length === 0) return [];
  const nearness = nearnessBy(meant, index);
  const weighed = candidates.flatMap((candidate) => {
    const near = nearness(candidate);
    if (near === undefined) return [];
    // The model has read the words that this memory has never seen.
    const unknown = near.isRead ? 0 : candidate.features.unknown;
    const features = { ...candidate.features, unknown, nearness: near.nearness, ...NOT_READ };
    return [{ ...candidate, features, ...sums(features) }];
  });
  const judge = judgeFor(question);
  const kinds = Map.groupBy(weighed, ({ features }) => features.inThread);
  return [...kinds].flatMap(([inThread, ofKind]) => {
    const kind = inThread ? WEIGHTS.line : WEIGHTS.fact;
    const by = meant === undefined ? "words" : "meaning";
    // Lines of a conversation leave out what the lines around them say.
    const judged =
      inThread || judge === undefined ? ofKind : withLacking(ofKind, kind.sureFrom[by], judge, index);
    return withVerdict(judged, kind, by, question.asksAll);
  });
}

export type RankedPassage = Pick<ScoredCandidate, "unit" | "document" | "passage" | "score">;

/** Of a candidate whose text no judge has read. */
const NOT_READ = {
  ...{ otherOwner: false, otherAnswer: false, otherNoun: false, otherMatter: false },
  ...{ lacking: false, ofAsker: false, isBeside: false, lead: 0 },
};

export const NO_WORDS: Features = {
  ...{ coverage: 0, synonyms: 0, bm25: 0, proximity: 0, context: 0, nearness: 0 },
  ...{ unknown: 0, unknownNames: 0 },
  ...{ fewWords: false, hasAll: false, inThread: false, isNamed: false },
  ...NOT_READ,
};

/** For a document from the requested time, whatever its words. */
export function sureByTime(document: IndexedDocument, passage: Passage): ScoredCandidate {
  const verdict = { merit: 0, doubt: 0, odds: 0, chance: 0, isSure: true, score: 0.5 };
  return { unit: document.units[0] ?? -1, document, passage, features: NO_WORDS, ...verdict };
}

type Weighed = Pick<ScoredCandidate, "unit" | "document" | "passage" | "features" | "merit" | "doubt">;

function sums(features: Features): Pick<Weighed, "merit" | "doubt"> {
  const { doubt } = features.inThread ? WEIGHTS.line : WEIGHTS.fact;
  return { merit: meritOf(features, features.nearness, features.ofAsker), doubt: sum(features, doubt) };
}

/** Written out, since this is what a search does most often. */
function meritOf(features: WordFeatures, nearness: number, ofAsker: boolean): number {
  const { merit } = features.inThread ? WEIGHTS.line : WEIGHTS.fact;
  return (
    (merit.coverage ?? 0) * features.coverage +
    (merit.synonyms ?? 0) * features.synonyms +
    (merit.bm25 ?? 0) * features.bm25 +
    (merit.proximity ?? 0) * features.proximity +
    (merit.context ?? 0) * features.context +
    (merit.nearness ?? 0) * nearness +
    (merit.ofAsker ?? 0) * Number(ofAsker)
  );
}

function sum<K extends keyof Features>(features: Features, weights: Readonly<Partial<Record<K, number>>>) {
  let total = 0;
  for (const name in weights) total += (weights[name] ?? 0) * Number(features[name]);
  return total;
}

/** As many as an answer shows of possible hits. */
const READ_ANYWAY = 3;

/** Reads the texts of candidates that may be shown: those that would be sure, and the best few. */
function withLacking(
  weighed: readonly Weighed[],
  sureFrom: number,
  judge: Judge,
  index: LexicalIndex,
): readonly Weighed[] {
  const unnamed = weighed.filter(({ features }) => !features.isNamed).sort(byMerit);
  const read = new Set([
    ...unnamed.slice(0, READ_ANYWAY),
    ...unnamed.filter(({ merit, doubt }) => merit - doubt >= sureFrom),
  ]);
  const readWords = wordReader(index);
  return weighed.map((one) => {
    if (!read.has(one)) return one;
    const { owner, answer, noun, matter, ofAsker } = judge(passageText(one), readWords(one.document));
    const lacks = { otherOwner: owner, otherAnswer: answer, otherNoun: noun, otherMatter: matter };
    const features = { ...one.features, ...lacks, lacking: owner || answer, ofAsker };
    return { ...one, features, ...sums(features) };
  });
}

export function passageText({ document, passage }: Pick<Weighed, "document" | "passage">): string {
  return document.content.slice(passage.start, passage.end);
}

/** The best first; of equal ones always the same, in whatever order they came. */
function byMerit(one: Weighed, other: Weighed): number {
  return other.merit - one.merit || compareTied(one, other);
}

/** Tells whether a document has a word, another form or a synonym of it, in any field. Looks up each word of a question once. */
function wordReader(index: LexicalIndex): (document: IndexedDocument) => (word: string) => boolean {
  const known = new Map<string, ReadonlySet<number>>();
  return ({ units }) =>
    (word) => {
      const same = known.get(word) ?? numbersOf(word, index);
      known.set(word, same);
      return units.some((unit) =>
        index.postingsOfUnit(unit).some((posting) => same.has(termOfPosting(posting))),
      );
    };
}

/** Of the terms of a word and of their synonyms, as far as this memory has them. */
function numbersOf(word: string, { terms }: LexicalIndex): ReadonlySet<number> {
  const readings = [termOf(word), otherTermOf(word)].filter((term) => term !== undefined);
  const same = readings.flatMap((term) => [term, ...synonymsOf(term).keys()]);
  return new Set(same.map((term) => terms.numberOf(term)).filter((number) => number !== undefined));
}

/** A document that the question names is sure, and has no effect on the others. */
function withVerdict(
  weighed: readonly Weighed[],
  kind: KindWeights,
  by: "words" | "meaning",
  asksAll: boolean,
): readonly ScoredCandidate[] {
  const others = weighed.filter(({ features }) => !features.isNamed);
  const best = others.reduce<Weighed | undefined>(
    (most, one) => (most === undefined || byMerit(one, most) < 0 ? one : most),
    undefined,
  );
  let next = 0;
  for (const { document, merit } of others) if (document !== best?.document) next = Math.max(next, merit);
  const leadOf = (one: Weighed) => (one === best ? Math.max(0, one.merit - next) : 0);
  const isEnough = (one: Weighed) => one.merit + kind.lead[by] * leadOf(one) - one.doubt >= kind.sureFrom[by];
  // One sure line of a conversation makes the others sure.
  const areSure = others.some((one) => one.features.inThread && isEnough(one));
  return weighed.map((one) => {
    const features = one === best ? { ...one.features, lead: leadOf(one) } : one.features;
    const isSure = features.isNamed || (asksAll && features.hasAll) || areSure || isEnough(one);
    const odds = features.isNamed
      ? Number.POSITIVE_INFINITY
      : oddsOf({ ...one, features }, best?.merit ?? 0, kind.chance[by]);
    const chance = 1 / (1 + Math.exp(-odds - kind.chance[by].lacking * Number(features.lacking)));
    const { least, most } = WEIGHTS.possible.scores;
    const score = isSure ? (1 + chance) / 2 : least + (most - least) * chance;
    return { ...one, features, odds, chance, isSure, score };
  });
}

function oddsOf({ merit, features }: Weighed, best: number, weights: ChanceWeights): number {
  const { base, lead, behind } = weights;
  return base + weights.merit * merit + lead * features.lead + behind * (best - merit);
}

/** How many deviations a candidate is nearer than chance; undefined if it has neither a meaning that is known nor a word of the question. */
function nearnessBy(
  meant: PassageSimilarities | undefined,
  index: LexicalIndex,
): (candidate: Candidate) => { readonly nearness: number; readonly isRead: boolean } | undefined {
  const { meaning, thread } = WEIGHTS;
  const byWords = ({ features }: Candidate) => meaning.ofAllWords * features.coverage;
  if (meant === undefined) return (candidate) => ({ nearness: byWords(candidate), isRead: false });
  const chance = nearestByChance(meant.passages);
  return (candidate) => {
    const { unit, features } = candidate;
    const known = meant.nearness.get(unit);
    const isUnread = known === undefined ? !meant.isWhole : meant.knows?.(candidate.document) === false;
    if (isUnread) {
      if (features.coverage + features.synonyms === 0 && !features.isNamed) return undefined;
      // As far as nothing is, unless half of the question's words say enough.
      const lacking = Math.max(0, 1 - 2 * features.coverage);
      return { nearness: byWords(candidate) - lacking * chance, isRead: false };
    }
    const lent = features.inThread ? thread.lent * contextNearness(candidate, meant, index) : 0;
    const nearness = Math.max(0, (known ?? 0) + lent) - chance;
    const least = features.coverage >= meaning.enoughWords ? byWords(candidate) : nearness;
    return { nearness: Math.max(nearness, least), isRead: !features.inThread };
  };
}

/** How near, in deviations, the nearest of this many unrelated texts is: about the maximum of as many draws from a normal distribution. */
export function nearestByChance(passages: number): number {
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
export function bestPerDocument<Ranked extends RankedPassage>(scored: readonly Ranked[]): readonly Ranked[] {
  const seen = new Set<IndexedDocument>();
  const ranked = scored.toSorted((one, other) => other.score - one.score || compareTied(one, other));
  return ranked.filter(({ document }) => {
    if (seen.has(document)) return false;
    seen.add(document);
    return true;
  });
}

/** By newest, then path: the same query always gives the same order. */
function compareTied(left: Omit<RankedPassage, "score">, right: Omit<RankedPassage, "score">): number {
  return (
    right.document.updatedAt - left.document.updatedAt ||
    compareText(left.document.path, right.document.path) ||
    left.passage.start - right.passage.start
  );
}
