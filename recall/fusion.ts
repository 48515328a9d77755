/**
 * Words and meaning in one score. Nearness of meaning comes in deviations from what has nothing to do with the question
 * (recall/meaning/yardstick.ts), so that nothing here depends on a model; the constants and what they were chosen on are in
 * docs/decisions/0026-words-and-meaning-in-one-score.md.
 */
import type { UnixMs } from "../engine/index.ts";
import {
  answeredBy,
  answersAlone,
  type Evidence,
  isLine,
  isToldByWords,
  rivalry,
  scoreOf,
} from "./lexical/judgement.ts";
import type { LexicalIndex } from "./lexical/lexical-index.ts";
import type { Match, Ranked } from "./lexical/search.ts";
import type { Ranking } from "./ranking.ts";

export interface FusedEvidence extends Evidence {
  /** Nearness of meaning in deviations, lent by the lines around where there are some. */
  readonly nearness: number;
  /** By how much it is nearer than chance and the margin ask for, beyond what shared words explain. */
  readonly beyondChance: number;
  /** 1 for what was written just now, half a month ago, a quarter two months ago. */
  readonly recency: number;
}

export interface FusedMatch extends Match {
  readonly evidence: FusedEvidence;
}

export interface Meant {
  /** Deviations of the passages near the question, by unit; the others are as far as what has nothing to do with it. */
  readonly nearness: ReadonlyMap<number, number>;
  /** How many there were to choose from: the nearest of many is near by chance alone. */
  readonly passages: number;
}

/** How many deviations nearer than chance an answer must be. Two is the field's usual line between chance and finding. */
const MARGIN = 2;
/** Deviations that sharing all of the question's words is worth: so much of the nearness says only what words have said. */
const EXPLAINED_BY_WORDS = 4;
/** What a deviation adds to a rank that is 1 where every word occurs: six, a clear paraphrase, are worth a third of it. */
const RANK_OF_DEVIATION = 0.05;
/** Share that the nearest line around lends, and what each place farther takes from it: a reply means what it replies to. */
const LENT = 0.5;
const LENT_DECAY = 0.5;
/** The score of meaning alone: from a doubtful hit at the limit to a good one, never that of all words. */
const BARELY = 0.4;
const SURELY = 0.85;
/** Deviations beyond the limit that close most of that way. */
const SURENESS = 2;
/** A hit of meaning alone that scores less stands beside one that answers far more. */
const OUTDONE = 0.3;
/** How much of what is missing to certainty being new adds: it decides between equals and nothing else. */
const RECENCY = 0.02;
const MONTH_MS = 30 * 86_400_000;

/** All that answers, with its score; in no order. */
export function fuse(
  ranked: readonly Ranked[],
  meant: Meant,
  index: LexicalIndex,
  { ranking, now }: { readonly ranking: Ranking; readonly now: UnixMs },
): readonly FusedMatch[] {
  const chance = nearestByChance(meant.passages);
  const found = ranked.map((one) => {
    const own = meant.nearness.get(one.unit) ?? 0;
    const nearness = Math.max(0, own + LENT * lentTo(one, meant, index, ranking));
    const beyondChance = own - EXPLAINED_BY_WORDS * one.evidence.coverage - chance - MARGIN;
    const recency = 2 ** (-Math.max(0, now - one.document.updatedAt) / MONTH_MS);
    return { ...one, evidence: { ...one.evidence, nearness, beyondChance, recency } };
  });
  const answers = answersAmong(found, chance, ranking);
  const best = { ofAll: mostAnswered(found), ofAnswers: mostAnswered(answers) };
  return answers
    .map(({ document, passage, rank, evidence }) => {
      return { document, passage, evidence, score: fusedScore(rank, evidence, best) };
    })
    .filter(({ evidence, score }) => !isOutdone(evidence, score, ranking));
}

/**
 * How near, in deviations, the nearest of so many texts lies that have nothing to do with the question: what the greatest of
 * as many draws from a normal distribution is about.
 */
function nearestByChance(passages: number): number {
  return Math.sqrt(2 * Math.log(passages + 1));
}

/** What the lines around mean, the nearest ones more. */
function lentTo({ document }: Ranked, { nearness }: Meant, index: LexicalIndex, ranking: Ranking): number {
  const around = index.neighbours.around(document, ranking.reach).filter(({ isThread }) => isThread);
  const lent = around.flatMap(({ document: { units }, distance }) =>
    units.map((unit) => (nearness.get(unit) ?? 0) * LENT_DECAY ** (distance - 1)),
  );
  return Math.max(0, ...lent);
}

type Found = Ranked & { readonly evidence: FusedEvidence };

function answersAmong(found: readonly Found[], chance: number, { cutOff }: Ranking): readonly Found[] {
  if (cutOff === false) return found;
  const isToldInWords = isToldByWords(found, cutOff);
  const isToldInMeaning = found.some(({ evidence }) => evidence.inThread && evidence.beyondChance >= 0);
  return found.filter(({ evidence }) => {
    if (evidence.isNamed) return true;
    if (!evidence.inThread) return evidence.beyondChance >= 0 || answersAlone(evidence, cutOff);
    const isNear = evidence.nearness >= chance;
    return isToldInWords ? isNear || isLine(evidence, cutOff) : isToldInMeaning && isNear;
  });
}

function mostAnswered(found: readonly Found[]): number {
  return Math.max(0, ...found.map(({ evidence }) => shareAnswered(evidence)));
}

/** What the best answers: of all that was looked at, as words are judged, and of what is left as an answer. */
interface Best {
  readonly ofAll: number;
  readonly ofAnswers: number;
}

function fusedScore(rank: number, evidence: FusedEvidence, best: Best): number {
  const together = rank + RANK_OF_DEVIATION * evidence.nearness;
  const share = shareAnswered(evidence);
  const score = scoreOf(together, share, best.ofAll);
  // A line is judged with its thread; what stands alone may be near enough by itself.
  const alone = evidence.inThread ? 0 : scoreOfMeaning(evidence.beyondChance);
  const surer = Math.max(score, alone * rivalry(share, best.ofAnswers));
  return surer + RECENCY * evidence.recency * (1 - surer);
}

/** What only lies near the question is no answer beside one that answers far more of it. */
function isOutdone(evidence: FusedEvidence, score: number, { cutOff }: Ranking): boolean {
  if (cutOff === false || evidence.inThread || evidence.isNamed) return false;
  return score < OUTDONE && !answersAlone(evidence, cutOff);
}

function shareAnswered(evidence: FusedEvidence): number {
  return Math.min(1, answeredBy(evidence) + RANK_OF_DEVIATION * evidence.nearness);
}

function scoreOfMeaning(beyondChance: number): number {
  if (beyondChance < 0) return 0;
  return BARELY + (SURELY - BARELY) * (1 - Math.exp(-beyondChance / SURENESS));
}
