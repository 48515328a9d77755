/**
 * Scores every candidate. Its merit, the sum of its features times their weights (recall/weights.ts), determines the
 * order; its lead over the others and its doubts determine whether it is sure. Each is judged by itself: none hides another. Words and meaning share the same sums; words stand in for an unknown meaning.
 */
import { compareText } from "../engine/compare-text.ts";
import { type Judge, judgeFor } from "./analysis/asked.ts";
import { otherTermOf, termOf } from "./analysis/english.ts";
import type { Query } from "./analysis/query.ts";
import type { WordFeatures } from "./lexical/candidate-features.ts";
import type { IndexedDocument } from "./lexical/indexed-document.ts";
import type { LexicalIndex } from "./lexical/lexical-index.ts";
import type { Candidate } from "./lexical/lexical-search.ts";
import type { Passage } from "./lexical/passages.ts";
import { synonymsOf } from "./lexical/synonyms.ts";
import { unitOf as termOfPosting } from "./lexical/terms.ts";
import { type ChanceWeights, type KindWeights, WEIGHTS } from "./weights.ts";

export interface Features extends WordFeatures {
  /**
   * How many deviations nearer to the question than the nearest of as many unrelated texts; estimated from words when meaning is
   * unknown.
   */
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

/** A candidate with its score. */
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
    return near === undefined ? [] : [weigh(candidate, near)];
  });
  const judge = judgeFor(question);
  const kinds = Map.groupBy(weighed, ({ features }) => features.inThread);
  return [...kinds].flatMap(([inThread, ofKind]) => {
    const kind = inThread ? WEIGHTS.line : WEIGHTS.fact;
    const by = meant === undefined ? "words" : "meaning";
    // Lines of a conversation leave out what the lines around them say.
    const judged =
      inThread || judge === undefined ? ofKind : withLacking(ofKind, kind.sureFrom[by], judge, index);
    return withVerdict(withLead(judged), kind, by, question.asksAll);
  });
}

/** A passage in an order. */
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

function weigh(
  { unit, document, passage, features: words }: Candidate,
  { nearness, isRead }: Nearness,
): Weighed {
  // The model has read the words that this memory has never seen.
  const unknown = isRead ? 0 : words.unknown;
  const features = { ...words, unknown, nearness, ...NOT_READ };
  return { unit, document, passage, features, ...sums(features) };
}

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

/** Features times weights. */
function sum<K extends keyof Features>(features: Features, weights: Readonly<Partial<Record<K, number>>>) {
  let total = 0;
  for (const name in weights) total += (weights[name] ?? 0) * Number(features[name]);
  return total;
}

/** Reads the texts of candidates that may be shown: those that would be sure, and the best few. */
function withLacking(
  weighed: readonly Weighed[],
  sureFrom: number,
  judge: Judge,
  index: LexicalIndex,
): readonly Weighed[] {
  const read = toRead(weighed, sureFrom);
  const sameAs = sameWords(index);
  return weighed.map((one) => {
    if (!read.has(one)) return one;
    const isAbout = wordsIn(one.document, index, sameAs);
    const { owner, answer, noun, matter, ofAsker } = judge(passageText(one), isAbout);
    const lacks = { otherOwner: owner, otherAnswer: answer, otherNoun: noun, otherMatter: matter };
    const features = { ...one.features, ...lacks, lacking: owner || answer, ofAsker };
    return { ...one, features, ...sums(features) };
  });
}

function toRead(weighed: readonly Weighed[], sureFrom: number): ReadonlySet<Weighed> {
  const unnamed = weighed.filter(({ features }) => !features.isNamed);
  return new Set([
    ...bestOf(unnamed, READ_ANYWAY),
    ...unnamed.filter(({ merit, doubt }) => merit - doubt >= sureFrom),
  ]);
}

export function passageText({ document, passage }: Pick<Weighed, "document" | "passage">): string {
  return document.content.slice(passage.start, passage.end);
}

/** By merit, the best first; of equal ones always the same, in whatever order they came. */
function bestOf(weighed: readonly Weighed[], count: number): readonly Weighed[] {
  const best: Weighed[] = [];
  for (const one of weighed) {
    const last = best.at(-1);
    if (best.length === count && last !== undefined && !isBefore(one, last)) continue;
    const place = best.findIndex((other) => isBefore(one, other));
    best.splice(place === -1 ? best.length : place, 0, one);
    best.length = Math.min(best.length, count);
  }
  return best;
}

function isBefore(one: Weighed, other: Weighed): boolean {
  return one.merit > other.merit || (one.merit === other.merit && compareTied(one, other) < 0);
}

/** As many as an answer shows of possible hits. */
const READ_ANYWAY = 3;

/** Whether a document has a word, another form or a synonym of it, in any field. */
function wordsIn(document: IndexedDocument, index: LexicalIndex, sameAs: SameAs): (word: string) => boolean {
  return (word) => {
    const same = sameAs(word);
    return document.units.some((unit) =>
      index.postingsOfUnit(unit).some((posting) => same.has(termOfPosting(posting))),
    );
  };
}

/** The numbers of a word's terms and of their synonyms, as far as this memory has them. */
type SameAs = (word: string) => ReadonlySet<number>;

/** Looks up each word of a question once. */
function sameWords(index: LexicalIndex): SameAs {
  const known = new Map<string, ReadonlySet<number>>();
  return (word) => {
    const same = known.get(word) ?? numbersOf(word, index);
    known.set(word, same);
    return same;
  };
}

function numbersOf(word: string, { terms }: LexicalIndex): ReadonlySet<number> {
  const readings = [termOf(word), otherTermOf(word)].filter((term) => term !== undefined);
  const same = readings.flatMap((term) => [term, ...synonymsOf(term).keys()]);
  return new Set(same.map((term) => terms.numberOf(term)).filter((number) => number !== undefined));
}

/** How far the best is ahead of all other documents. */
function withLead(weighed: readonly Weighed[]): readonly Weighed[] {
  const [best, ...others] = weighed
    .filter(({ features }) => !features.isNamed)
    .sort((left, right) => right.merit - left.merit || compareTied(left, right));
  if (best === undefined) return weighed;
  const next = others.find(({ document }) => document !== best.document)?.merit ?? 0;
  const features = { ...best.features, lead: Math.max(0, best.merit - Math.max(0, next)) };
  return weighed.map((one) => (one === best ? { ...best, features } : one));
}

/** A document that the question names is sure, and has no effect on the others. */
function withVerdict(
  weighed: readonly Weighed[],
  kind: KindWeights,
  by: "words" | "meaning",
  asksAll: boolean,
): readonly ScoredCandidate[] {
  const others = weighed.filter(({ features }) => !features.isNamed);
  const isEnough = ({ merit, doubt, features }: Weighed) =>
    merit + kind.lead[by] * features.lead - doubt >= kind.sureFrom[by];
  // One sure line of a conversation makes the others sure.
  const areSure = others.some((one) => one.features.inThread && isEnough(one));
  const best = Math.max(...others.map(({ merit }) => merit));
  return weighed.map((one) => {
    const { isNamed, hasAll } = one.features;
    const isSure = isNamed || (asksAll && hasAll) || areSure || isEnough(one);
    const odds = isNamed ? Number.POSITIVE_INFINITY : oddsOf(one, best, kind.chance[by]);
    const lacks = kind.chance[by].lacking * Number(one.features.lacking);
    const chance = 1 / (1 + Math.exp(-odds - lacks));
    return { ...one, odds, chance, isSure, score: isSure ? (1 + chance) / 2 : possibleScore(chance) };
  });
}

/** As a logarithm. */
function oddsOf(
  { merit, features }: Weighed,
  best: number,
  { base, lead, behind, ...by }: ChanceWeights,
): number {
  return base + by.merit * merit + lead * features.lead + behind * (best - merit);
}

function possibleScore(chance: number): number {
  const { least, most } = WEIGHTS.possible.scores;
  return least + (most - least) * chance;
}

interface Nearness {
  /** In deviations, beyond chance. */
  readonly nearness: number;
  /** By the model, not estimated from words. */
  readonly isRead: boolean;
}

/** How many deviations a candidate is nearer than chance; undefined if it has neither a meaning that is known nor a word of the question. */
function nearnessBy(
  meant: PassageSimilarities | undefined,
  index: LexicalIndex,
): (candidate: Candidate) => Nearness | undefined {
  const { meaning, thread } = WEIGHTS;
  const byWords = ({ features }: Candidate): Nearness => {
    return { nearness: meaning.ofAllWords * features.coverage, isRead: false };
  };
  if (meant === undefined) return byWords;
  const chance = nearestByChance(meant.passages);
  return (candidate) => {
    const { unit, features } = candidate;
    const known = meant.nearness.get(unit);
    const isUnread = known === undefined ? !meant.isWhole : meant.knows?.(candidate.document) === false;
    if (isUnread) {
      if (features.coverage + features.synonyms === 0 && !features.isNamed) return undefined;
      // As far as nothing is, unless half of the question's words say enough.
      const lacking = Math.max(0, 1 - 2 * features.coverage);
      return { nearness: byWords(candidate).nearness - lacking * chance, isRead: false };
    }
    const lent = features.inThread ? thread.lent * contextNearness(candidate, meant, index) : 0;
    const nearness = Math.max(0, (known ?? 0) + lent) - chance;
    const least = features.coverage >= meaning.enoughWords ? byWords(candidate).nearness : nearness;
    return { nearness: Math.max(nearness, least), isRead: !features.inThread };
  };
}

/**
 * How near, in deviations, the nearest of this many unrelated texts is: the approximate maximum of as many draws from a normal
 * distribution.
 */
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
  return [...scored].sort(compare).filter(({ document }) => {
    if (seen.has(document)) return false;
    seen.add(document);
    return true;
  });
}

/** By score, then newest, then path: the same query always gives the same order. */
function compare(left: RankedPassage, right: RankedPassage): number {
  return right.score - left.score || compareTied(left, right);
}

type Tied = Pick<Weighed, "document" | "passage">;

function compareTied(left: Tied, right: Tied): number {
  return (
    right.document.updatedAt - left.document.updatedAt ||
    compareText(left.document.path, right.document.path) ||
    left.passage.start - right.passage.start
  );
}
