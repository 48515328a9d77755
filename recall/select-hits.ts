/**
 * Selects the candidates to show: the sure ones or, when there are none, the best few as possible hits. A reader tells "the wifi
 * is called Kolibri" from a coincidence at a glance; an empty answer hides that the fact exists.
 */
import type { PossibleReason, RecallMode } from "../engine/answer-limits.ts";
import { isPersons, outweighs } from "../engine/store/writer.ts";
import type { LexicalIndex } from "./lexical/lexical-index.ts";
import { bestPerDocument, type ScoredCandidate } from "./scoring.ts";
import { type PossibleWeights, WEIGHTS } from "./weights.ts";

export interface SelectionOptions {
  readonly mode: RecallMode;
  readonly limit: number;
  /** Whether the question has a content word. */
  readonly isDistinctive: boolean;
  /** Whether copies of one text count as one answer. */
  readonly foldsCopies: boolean;
  readonly possible: PossibleWeights;
}

export interface Selection {
  readonly shown: readonly ScoredCandidate[];
  readonly arePossible: boolean;
  /** The best candidates that are not shown, best first, each with a short reason for a person. */
  readonly leftOut: readonly { readonly scored: ScoredCandidate; readonly why: string }[];
  /** Persons' facts that are not shown, best first: however many an agent stores, one that they contradict is compared. */
  readonly persons: readonly ScoredCandidate[];
}

/** How many hidden candidates are explained. */
const EXPLAINED = 5;

export function selectHits(
  scored: readonly ScoredCandidate[],
  index: LexicalIndex,
  wanted: SelectionOptions,
): Selection {
  const best = bestPerDocument(scored);
  const sure = best.filter(({ isSure }) => isSure);
  const most = mostPossible(wanted);
  if (sure.length > 0 || most === 0) {
    const distinct = wanted.foldsCopies ? withoutDuplicates(sure, index) : sure;
    const shown = bestApart(distinct, index, wanted.limit);
    const unsure = sure.length > 0 ? whyNotSure : () => whyNoPossible(wanted);
    return { shown, arePossible: false, ...notShown(best, distinct, shown, unsure) };
  }
  const distinct = withDistinctTexts(possibleHitsAmong(best, wanted.possible), index);
  const shown = bestApart(distinct, index, most);
  const tooWeak = (one: ScoredCandidate) => whyTooWeak(one, best, wanted.possible);
  return { shown, arePossible: true, ...notShown(best, distinct, shown, tooWeak) };
}

/** The most possible hits for one question. */
function mostPossible({ mode, limit, isDistinctive, possible }: SelectionOptions): number {
  if (mode === "quiet" || !isDistinctive) return 0;
  if (mode === "eager") return Math.min(limit, possible.mostEager);
  return limit < possible.few ? 1 : Math.min(limit, possible.most);
}

/** The candidates that qualify as possible hits, in their order. */
export function possibleHitsAmong<T extends Pick<ScoredCandidate, "certainty">>(
  candidates: readonly T[],
  { floor, ratio }: Pick<PossibleWeights, "floor" | "ratio">,
): readonly T[] {
  const least = Math.max(floor, ratio * (candidates[0]?.certainty ?? 0));
  return candidates.filter(({ certainty }) => certainty >= least);
}

function notShown(
  best: readonly ScoredCandidate[],
  distinct: readonly ScoredCandidate[],
  shown: readonly ScoredCandidate[],
  whyWeak: (scored: ScoredCandidate) => string | undefined,
): Pick<Selection, "leftOut" | "persons"> {
  const documents = new Set(shown.map(({ document }) => document));
  const last = distinct.findLastIndex(({ document }) => documents.has(document));
  const whyPassedOver = ({ document }: ScoredCandidate) => {
    const place = distinct.findIndex((one) => one.document === document);
    if (place === -1) return "the same text as another candidate";
    return place < last ? "nearly the same text as a better one" : `below the ${shown.length} that are shown`;
  };
  const others = best.filter(({ document }) => !documents.has(document));
  const explained = others.slice(0, EXPLAINED);
  return {
    leftOut: explained.map((scored) => ({ scored, why: whyWeak(scored) ?? whyPassedOver(scored) })),
    persons: others.filter(({ document }) => isPersons(document)).slice(0, EXPLAINED),
  };
}

/** Why a candidate is hidden when there are sure hits; undefined when it is sure itself. */
function whyNotSure({ isSure, features, strength, sureFrom }: ScoredCandidate): string | undefined {
  if (isSure) return undefined;
  if (features.lacking) return `lacks ${features.otherOwner ? "whom" : "what"} the question asks about`;
  const sum = `the sum of its parts, ${strength.toFixed(2)}`;
  return strength < sureFrom
    ? `not sure: ${sum}, is below ${sureFrom.toFixed(2)}`
    : `weaker than the best: ${sum}`;
}

/** In one word. */
export function whyPossible({ features }: ScoredCandidate): PossibleReason {
  if (features.otherOwner) return "owner";
  if (features.otherAnswer) return "answer";
  if (features.unknownNames > 0) return "name";
  if (features.coverage > 0) return "words";
  return features.synonyms > 0 ? "synonyms" : "meaning";
}

function whyNoPossible({ mode }: SelectionOptions): string {
  return mode === "quiet" ? "not sure, and recall mode is quiet" : "the question has no content word";
}

function whyTooWeak(
  { certainty }: ScoredCandidate,
  [best]: readonly ScoredCandidate[],
  { floor, ratio }: PossibleWeights,
) {
  const is = `certainty ${certainty.toFixed(3)} is below`;
  if (certainty < floor) return `${is} the floor of ${floor}`;
  const least = ratio * (best?.certainty ?? 0);
  return certainty < least ? `${is} ${ratio} times the best candidate's` : undefined;
}

/**
 * Handles copies of a text. In semantic search, the same text stored twice is one answer; a person's copy or else the newest represents it.
 *
 * Near-copies may carry different facts ("room 12", "room 13"), and so may the same text under several keys. None is hidden; but
 * when slots are few, near-copies share one, so that they cannot crowd out other answers.
 *
 * Keeps each text once, in the given order. Lines of a conversation are kept: a repetition is part of it.
 */
function withoutDuplicates(
  scored: readonly ScoredCandidate[],
  index: LexicalIndex,
): readonly ScoredCandidate[] {
  return folded(scored, (one) => (one.features.inThread ? one.document.id : textOf(one, index)));
}

/** The same for a few slots: no text takes two, not even lines of a conversation. */
function withDistinctTexts(
  scored: readonly ScoredCandidate[],
  index: LexicalIndex,
): readonly ScoredCandidate[] {
  return folded(scored, (one) => textOf(one, index));
}

/** Words to compare, from the beginnings of two texts. */
const WORDS_COMPARED = 200;

/** The best ones in the given order: one per group of near-copies first, then the others in the remaining slots. */
function bestApart(
  matches: readonly ScoredCandidate[],
  index: LexicalIndex,
  places: number,
): readonly ScoredCandidate[] {
  if (matches.length <= places) return matches;
  const apart: ScoredCandidate[] = [];
  const copies: ScoredCandidate[] = [];
  const texts: Uint32Array[] = [];
  for (const match of matches) {
    const words = wordsOf(match, index);
    const isCopy = texts.some((text) => areNear(text, words));
    (isCopy ? copies : apart).push(match);
    if (!isCopy) texts.push(words);
    if (apart.length === places) break;
  }
  const chosen = new Set([...apart, ...copies].slice(0, places));
  return matches.filter((match) => chosen.has(match));
}

/** Sorted, so that two texts can be compared in one pass. */
function wordsOf({ document }: ScoredCandidate, index: LexicalIndex): Uint32Array {
  const words: number[] = [];
  for (const unit of document.units) {
    words.push(...index.bodyTerms(unit).subarray(0, WORDS_COMPARED - words.length));
    if (words.length === WORDS_COMPARED) break;
  }
  return Uint32Array.from(words).sort();
}

/** Stops once one text has too many words of its own: most texts have little in common. */
function areNear(one: Uint32Array, other: Uint32Array): boolean {
  const needed = WEIGHTS.copies.shared * Math.max(one.length, other.length);
  let spareHere = one.length - needed;
  let spareThere = other.length - needed;
  let [left, right] = [0, 0];
  while (spareHere >= 0 && spareThere >= 0 && left < one.length && right < other.length) {
    const order = (one[left] ?? 0) - (other[right] ?? 0);
    if (order < 0) spareHere -= 1;
    if (order > 0) spareThere -= 1;
    if (order <= 0) left += 1;
    if (order >= 0) right += 1;
  }
  return spareHere >= one.length - left && spareThere >= other.length - right;
}

/** The groups keep the order of their best members; each shows the one whose word weighs most. */
function folded(
  scored: readonly ScoredCandidate[],
  identityOf: (scored: ScoredCandidate) => string,
): readonly ScoredCandidate[] {
  const groups = Map.groupBy(scored, identityOf);
  return [...groups.values()].flatMap((group) => {
    const [best] = group;
    if (best === undefined) return [];
    const heard = group.reduce((one, other) => (outweighs(other.document, one.document) ? other : one));
    return [{ ...heard, score: best.score, certainty: best.certainty }];
  });
}

/** Equal texts have the same words in the same order, regardless of case, endings and punctuation. */
export function textOf({ document }: ScoredCandidate, index: LexicalIndex): string {
  return document.units.map((unit) => index.bodyTerms(unit).join(" ")).join("\n");
}
