/**
 * Selects the candidates to show: the sure ones or, when there are none, the best few as possible hits. A reader tells "the wifi
 * is called Kolibri" from a coincidence at a glance; an empty answer hides that the fact exists.
 */
import type { RecallMode } from "../engine/answer-limits.ts";
import type { LexicalIndex } from "./lexical/lexical-index.ts";
import { bestApart, withDistinctTexts, withoutDuplicates } from "./near-duplicates.ts";
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
    return { shown, arePossible: false, leftOut: leftOut(best, distinct, shown, unsure) };
  }
  const distinct = withDistinctTexts(possibleHitsAmong(best, wanted.possible), index);
  const shown = bestApart(distinct, index, most);
  const tooWeak = (one: ScoredCandidate) => whyTooWeak(one, best, wanted.possible);
  return { shown, arePossible: true, leftOut: leftOut(best, distinct, shown, tooWeak) };
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

function leftOut(
  best: readonly ScoredCandidate[],
  distinct: readonly ScoredCandidate[],
  shown: readonly ScoredCandidate[],
  whyWeak: (scored: ScoredCandidate) => string | undefined,
): Selection["leftOut"] {
  const documents = new Set(shown.map(({ document }) => document));
  const last = distinct.findLastIndex(({ document }) => documents.has(document));
  const whyPassedOver = ({ document }: ScoredCandidate) => {
    const place = distinct.findIndex((one) => one.document === document);
    if (place === -1) return "the same text as another candidate";
    return place < last ? "nearly the same text as a better one" : `below the ${shown.length} that are shown`;
  };
  return best
    .filter(({ document }) => !documents.has(document))
    .slice(0, EXPLAINED)
    .map((scored) => ({ scored, why: whyWeak(scored) ?? whyPassedOver(scored) }));
}

/** Why a candidate is hidden when there are sure hits; undefined when it is sure itself. */
function whyNotSure({ isSure, merit, doubt, features }: ScoredCandidate): string | undefined {
  if (isSure) return undefined;
  const { sureFrom } = features.inThread ? WEIGHTS.line : WEIGHTS.fact;
  const sum = `merit ${merit.toFixed(2)} minus doubts ${doubt.toFixed(2)}`;
  return merit - doubt < sureFrom
    ? `not sure: ${sum} is below ${sureFrom.toFixed(2)}`
    : `weaker than the best: ${sum}`;
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
