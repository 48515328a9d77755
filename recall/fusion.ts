/**
 * Words and meaning in one score. Nearness of meaning comes in deviations from what has nothing to do with the question
 * (recall/meaning/similarity-normalizer.ts), so that nothing here depends on a model; the constants and what they were chosen on are in
 * docs/decisions/0026-words-and-meaning-in-one-score.md.
 */
import type { UnixMs } from "../engine/index.ts";
import type { LexicalIndex } from "./lexical/lexical-index.ts";
import type { Match, Ranked } from "./lexical/lexical-search.ts";
import {
  answeredBy,
  answersAlone,
  type Features,
  isLine,
  isToldByWords,
  scoreOf,
  scoreOfRank,
} from "./lexical/scoring.ts";
import type { CutOff, Ranking } from "./ranking.ts";

interface FusedFeatures extends Features {
  /** Nearness of meaning in deviations, lent by the lines around where there are some. */
  readonly nearness: number;
  /** By how much it is nearer than chance, the margin and the words of the question ask for. */
  readonly beyondChance: number;
  /** 1 for what was written just now, half a month ago, a quarter two months ago. */
  readonly recency: number;
}

export interface FusedMatch extends Match {
  readonly features: FusedFeatures;
}

export interface Meant {
  /** Deviations of the passages near the question, by unit; the others are as far as what has nothing to do with it. */
  readonly nearness: ReadonlyMap<number, number>;
  /** How many there were to choose from: the nearest of many is near by chance alone. */
  readonly passages: number;
}

/** How many deviations nearer than chance an answer must be. */
const MARGIN = 1.75;
/** Deviations that sharing all of the question's words is worth: so much of the nearness says only what words have said. */
const EXPLAINED_BY_WORDS = 4;
/** Deviations more, where the memory has never heard of any word of the question, … */
const UNHEARD_OF = 1;
/** … and fewer, where another word that may mean the same stands for each. */
const BORNE_OUT = 1;

/** In the order of facts five deviations are worth as much as all words, and words that may mean the same half of that. */
const STRENGTH_OF_DEVIATION = 0.2;
const STRENGTH_OF_SYNONYMS = 0.5;
/** By how much weaker than the strongest a fact may be until a third of the score is left. */
const WEAKER = 0.6;
/** A fact that scores less, and that words do not make an answer, stands beside one that answers far more. */
const OUTDONE = 0.3;

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
  const found = ranked.map((one): Found => {
    const own = meant.nearness.get(one.unit) ?? 0;
    const lent = one.features.inThread ? LENT * lentTo(one, meant, index, ranking) : 0;
    const beyondChance = own - chance - MARGIN - askedByWords(one.features);
    return { one, nearness: Math.max(0, own + lent), beyondChance };
  });
  const scored = [...scoredFacts(found, ranking), ...scoredLines(found, chance, ranking)];
  return scored.map((match) => withNewness(match, now));
}

/** What words and meaning say about a passage, before the verdict. */
interface Found {
  readonly one: Ranked;
  readonly nearness: number;
  readonly beyondChance: number;
}

interface Scored extends Found {
  readonly score: number;
}

function withNewness({ one, nearness, beyondChance, score }: Scored, now: UnixMs): FusedMatch {
  const { document, passage } = one;
  const recency = 2 ** (-Math.max(0, now - document.updatedAt) / MONTH_MS);
  const features = { ...one.features, nearness, beyondChance, recency };
  return { document, passage, features, score: score + RECENCY * recency * (1 - score) };
}

/**
 * How near, in deviations, the nearest of so many texts lies that have nothing to do with the question: what the greatest of
 * as many draws from a normal distribution is about.
 */
function nearestByChance(passages: number): number {
  return Math.sqrt(2 * Math.log(passages + 1));
}

/** Deviations that the words of the question ask for beyond chance and margin. */
function askedByWords({ coverage, unknown, synonyms }: Features): number {
  return EXPLAINED_BY_WORDS * coverage + UNHEARD_OF * unknown - BORNE_OUT * synonyms;
}

/** What the lines around mean, the nearest ones more. */
function lentTo({ document }: Ranked, { nearness }: Meant, index: LexicalIndex, ranking: Ranking): number {
  let most = 0;
  for (const { document: other, distance, isThread } of index.neighbours.around(document, ranking.reach)) {
    if (!isThread) continue;
    const share = LENT_DECAY ** (distance - 1);
    for (const unit of other.units) most = Math.max(most, share * (nearness.get(unit) ?? 0));
  }
  return most;
}

/**
 * What stands alone. Whether there is an answer is decided by the one fact that tells it; then the strongest comes first, as
 * sure as what speaks for it, and each weaker one is that much less so.
 */
function scoredFacts(found: readonly Found[], { cutOff }: Ranking): readonly Scored[] {
  const facts = found.filter(({ one }) => !one.features.inThread);
  if (cutOff !== false && !facts.some((fact) => isAnswer(fact, cutOff))) return [];
  const strengths = facts.map(strengthOf);
  const strongest = Math.max(...strengths);
  const sureness = Math.max(...facts.filter((_, place) => strengths[place] === strongest).map(surenessOf));
  return facts
    .map((fact) => ({ ...fact, score: sureness * Math.exp((strengthOf(fact) - strongest) / WEAKER) }))
    .filter(({ one: { features }, score }) => {
      return cutOff === false || score >= OUTDONE || features.isNamed || answersAlone(features, cutOff);
    });
}

function isAnswer({ one: { features }, beyondChance }: Found, cutOff: CutOff): boolean {
  return features.isNamed || beyondChance >= 0 || answersAlone(features, cutOff);
}

/**
 * The order of facts. Few of the question's words say next to nothing, since they are in many facts: a rank counts squared,
 * so that a quarter of the words outranks no clear nearness, and all of them do.
 */
function strengthOf({ one: { rank, features }, nearness }: Found): number {
  const words = rank <= 1 ? rank ** 2 : 2 * rank - 1; // goes on as straight as the square arrives there
  return words + STRENGTH_OF_DEVIATION * nearness + STRENGTH_OF_SYNONYMS * features.synonyms;
}

function surenessOf({ one: { rank }, nearness, beyondChance }: Found): number {
  return Math.max(scoreOfRank(rank + RANK_OF_DEVIATION * nearness), scoreOfMeaning(beyondChance));
}

function scoreOfMeaning(beyondChance: number): number {
  if (beyondChance < 0) return 0;
  return BARELY + (SURELY - BARELY) * (1 - Math.exp(-beyondChance / SURENESS));
}

/** Lines of a thread, judged together: once one line answers, those count that are nearer than chance. */
function scoredLines(found: readonly Found[], chance: number, { cutOff }: Ranking): readonly Scored[] {
  const lines = found.filter(({ one }) => one.features.inThread);
  const bestAnswered = Math.max(0, ...found.map(shareAnswered));
  return (cutOff === false ? lines : linesThatCount(lines, chance, cutOff)).map((line) => {
    const together = line.one.rank + RANK_OF_DEVIATION * line.nearness;
    return { ...line, score: scoreOf(together, shareAnswered(line), bestAnswered) };
  });
}

function linesThatCount(lines: readonly Found[], chance: number, cutOff: CutOff): readonly Found[] {
  const isToldInWords = isToldByWords(
    lines.map(({ one }) => one),
    cutOff,
  );
  const isToldInMeaning = lines.some(({ beyondChance }) => beyondChance >= 0);
  return lines.filter(({ one, nearness }) => {
    if (one.features.isNamed) return true;
    const isNear = nearness >= chance;
    return isToldInWords ? isNear || isLine(one.features, cutOff) : isToldInMeaning && isNear;
  });
}

function shareAnswered({ one, nearness }: Found): number {
  return Math.min(1, answeredBy(one.features) + RANK_OF_DEVIATION * nearness);
}
