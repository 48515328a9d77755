/** From features to a verdict: is it noise, and if not, how sure can one be, on a scale that stays honest beside other hits. */
import type { CutOff, Ranking } from "../ranking.ts";
import type { WordFeatures } from "./candidate-features.ts";

/** All that speaks for a unit. */
export interface Features extends WordFeatures {
  /** The query gives its key, docid or path. */
  readonly isNamed: boolean;
}

/** What a hit scores whose words are all there, each once, in no order. */
const ALL_WORDS = 0.88;
/** More (a phrase, words in the key) brings it nearer to, never to, this. */
const CERTAIN = 0.98;

/** What being named adds to a rank: more than words can. */
const NAMED = 2;

/** What another word that may mean the same is worth, where the word itself is worth 1. */
const SYNONYMS = 0.6;

/** Bends the scale: half of the words is less than half an answer. */
const CURVE = 1.2;
/** How hard a hit is judged for answering less than the best one does. */
const RIVALRY = 2;

/** The order of hits: all that speaks for a unit, 1 where every word occurs once and nothing else is known. */
export function rankOf(features: Features, ranking: Ranking): number {
  const words = ranking.bm25Share * features.bm25 + (1 - ranking.bm25Share) * covered(features);
  const named = features.isNamed ? NAMED : 0;
  return words + ranking.proximity * features.proximity + features.context + named;
}

/** Share of the query that is answered, by the unit itself or by the lines around it. */
export function answeredBy({ coverage, context, isNamed }: Features): number {
  return isNamed ? 1 : Math.min(1, coverage + context);
}

/** 0 to 1 for a rank, given what share is answered, and what share the best answered unit of the same query answers. */
export function scoreOf(rank: number, answered: number, bestAnswered: number): number {
  return scoreOfRank(rank) * (bestAnswered === 0 ? 1 : (answered / bestAnswered) ** RIVALRY);
}

/** The same for what has no rival. */
export function scoreOfRank(rank: number): number {
  return rank <= 1
    ? ALL_WORDS * rank ** CURVE
    : ALL_WORDS + (CERTAIN - ALL_WORDS) * (1 - Math.exp(2 * (1 - rank)));
}

/** Of all that was found, what is an answer; the rest says more about the words people use than about what was asked. */
export function withoutNoise<T extends { readonly features: Features }>(
  found: readonly T[],
  cutOff: CutOff,
): readonly T[] {
  const isTold = isToldByWords(found, cutOff);
  return found.filter(({ features }) => {
    if (features.isNamed) return true;
    return features.inThread ? isTold && isLine(features, cutOff) : answersAlone(features, cutOff);
  });
}

/** Whether words make a fact that stands alone an answer. */
export function answersAlone(features: Features, cutOff: CutOff): boolean {
  if (features.missingNames > cutOff.missingNames || hangsOnOneWord(features, cutOff)) return false;
  return covered(features) - cutOff.unknownPenalty * features.unknown >= cutOff.coverage;
}

/** Share of the query that the unit's own words answer, or others that may mean the same. */
function covered({ coverage, synonyms }: Features): number {
  return coverage + SYNONYMS * synonyms;
}

/** Whether words show that the thread of some of these lines speaks of what was asked. */
export function isToldByWords(found: readonly { readonly features: Features }[], cutOff: CutOff): boolean {
  return found.some(({ features }) => carriesThread(features, cutOff));
}

/** Whether this line shows that its thread speaks of what was asked. */
function carriesThread(features: Features, cutOff: CutOff): boolean {
  return (
    isLine(features, cutOff) && !hangsOnOneWord(features, cutOff) && toldBy(features) >= cutOff.threadBest
  );
}

/** Whether words make this line count, once its thread does. */
export function isLine(features: Features, cutOff: CutOff): boolean {
  if (!features.inThread || features.unknownNames > cutOff.threadUnknownNames) return false;
  return toldBy(features) >= cutOff.threadLine;
}

function toldBy({ coverage, context }: Features): number {
  return coverage + context / 2;
}

function hangsOnOneWord({ matched, asked, coverage }: Features, cutOff: CutOff): boolean {
  return asked > 1 && matched < 2 && coverage < cutOff.singleWordCoverage;
}
