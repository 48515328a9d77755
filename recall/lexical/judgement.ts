/** From evidence to a verdict: is it noise, and if not, how sure can one be, on a scale that stays honest beside other hits. */
import type { CutOff, Ranking } from "../ranking.ts";
import type { Evidence } from "./inspection.ts";

/** What a hit scores whose words are all there, each once, in no order. */
const ALL_WORDS = 0.88;
/** More (a phrase, words in the key) brings it nearer to, never to, this. */
const CERTAIN = 0.98;

/** Bends the scale: half of the words is less than half an answer. */
const CURVE = 1.2;
/** How hard a hit is judged for answering less than the best one does. */
const RIVALRY = 2;

/** The order of hits: all that speaks for a unit, 1 where every word occurs once and nothing else is known. */
export function rankOf(evidence: Evidence, ranking: Ranking): number {
  const words = ranking.bm25Share * evidence.bm25 + (1 - ranking.bm25Share) * evidence.coverage;
  return words + ranking.proximity * evidence.proximity + evidence.context;
}

/** 0 to 1 for a rank, given the best rank of the same query. Never falls as the rank rises. */
export function scoreOf(rank: number, best: number): number {
  const sure =
    rank <= 1
      ? ALL_WORDS * rank ** CURVE
      : ALL_WORDS + (CERTAIN - ALL_WORDS) * (1 - Math.exp(2 * (1 - rank)));
  const rivals = best <= 1 ? 1 : Math.min(1, rank) ** RIVALRY;
  return sure * rivals;
}

/** False for noise: a match that says more about the words people use than about what was asked. */
export function isAnswer(evidence: Evidence, cutOff: CutOff): boolean {
  return evidence.inThread ? answersInThread(evidence, cutOff) : answersAlone(evidence, cutOff);
}

function answersAlone(evidence: Evidence, cutOff: CutOff): boolean {
  const { coverage, matched, asked } = evidence;
  if (evidence.missingNames > cutOff.missingNames) return false;
  if (asked > 1 && matched === 1 && coverage < cutOff.singleWordCoverage) return false;
  return coverage - cutOff.unknownPenalty * evidence.unknown >= cutOff.coverage;
}

function answersInThread(evidence: Evidence, cutOff: CutOff): boolean {
  if (evidence.unknownNames > cutOff.threadUnknownNames) return false;
  return evidence.coverage + evidence.context / 2 >= cutOff.threadCoverage;
}
