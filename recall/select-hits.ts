/**
 * Selects the candidates to show. Each is marked by itself: every sure one is shown up to the limit, and a possible one where its
 * chance is worth its place. A reader tells "the wifi is called Kolibri" from a coincidence at a glance; an empty answer hides
 * that the fact exists.
 */
import type { PossibleReason, RecallMode } from "../engine/answer-limits.ts";
import type { UnixMs } from "../engine/store/memory-store.ts";
import { outweighs } from "../engine/store/writer.ts";
import type { PastActions } from "./analysis/past-actions.ts";
import type { IndexedDocument } from "./lexical/indexed-document.ts";
import type { LexicalIndex } from "./lexical/lexical-index.ts";
import { bestPerDocument, type ScoredCandidate, sureByTime } from "./scoring.ts";
import { type PossibleWeights, WEIGHTS } from "./weights.ts";

export interface SelectionOptions {
  readonly mode: RecallMode;
  readonly limit: number;
  /** Whether the question has a content word. */
  readonly isDistinctive: boolean;
  /** Whether copies of one text count as one sure answer. */
  readonly foldsCopies: boolean;
  readonly possible: PossibleWeights;
}

export interface Selection {
  /** Sure ones and possible ones, the best first. */
  readonly shown: readonly ScoredCandidate[];
  /** The best candidates that are not shown, best first, each with a short reason for a person. */
  readonly leftOut: readonly { readonly scored: ScoredCandidate; readonly why: string }[];
}

const EXPLAINED = 5;

export function selectHits(
  scored: readonly ScoredCandidate[],
  index: LexicalIndex,
  wanted: SelectionOptions,
  parts: readonly (readonly ScoredCandidate[])[] = [],
): Selection {
  const best = bestPerDocument(scored);
  const byParts = parts.map((part) => hitsAmong(bestPerDocument(part), index, wanted));
  const shown = joined(hitsAmong(best, index, wanted), byParts, wanted);
  const documents = new Set(shown.map(({ document }) => document));
  const others = best.filter(({ document }) => !documents.has(document)).slice(0, EXPLAINED);
  const hasSure = shown.some(({ isSure }) => isSure);
  const texts = new Set(shown.map((one) => textOf(one, index)));
  const whyNot = (one: ScoredCandidate) =>
    texts.has(textOf(one, index)) ? "the same text as another candidate" : whyHidden(one, hasSure, wanted);
  return { shown, leftOut: others.map((scored) => ({ scored, why: whyNot(scored) })) };
}

function hitsAmong(
  best: readonly ScoredCandidate[],
  index: LexicalIndex,
  wanted: SelectionOptions,
): readonly ScoredCandidate[] {
  const all = best.filter(({ isSure }) => isSure);
  // Lines of a conversation are kept: a repetition is part of it.
  const identityOf = (one: ScoredCandidate) => (one.features.inThread ? one.document.id : textOf(one, index));
  const sure = bestApart(wanted.foldsCopies ? folded(all, identityOf) : all, index, wanted.limit);
  return [...sure, ...possibleHits(best, sure, index, wanted)];
}

/** By rank. Of possible ones, the best of each part that nothing surely answers; without any of a part, those of the whole question. */
function joined(
  whole: readonly ScoredCandidate[],
  parts: readonly (readonly ScoredCandidate[])[],
  wanted: SelectionOptions,
): readonly ScoredCandidate[] {
  const sure = byRank([whole, ...parts].map((hits) => hits.filter(({ isSure }) => isSure))).slice(
    0,
    wanted.limit,
  );
  const open = parts.filter((hits) => !hits.some(({ isSure }) => isSure)).map((hits) => hits.slice(0, 1));
  const documents = new Set(sure.map(({ document }) => document));
  const possible = byRank([...open, whole.filter(({ isSure }) => !isSure)]).filter(
    ({ document }) => !documents.has(document),
  );
  const places = Math.max(
    mostPossible(wanted, sure.length),
    Math.min(open.length, mostPossible(wanted, 0), wanted.limit - sure.length),
  );
  return [...sure, ...possible.slice(0, places)].toSorted((one, other) => other.score - one.score);
}

/** The first of each list, then the second ones; each document once. */
function byRank(lists: readonly (readonly ScoredCandidate[])[]): readonly ScoredCandidate[] {
  const ranked = lists
    .flatMap((list) => list.map((one, rank) => ({ one, rank })))
    .sort((left, right) => left.rank - right.rank);
  const seen = new Map(ranked.toReversed().map(({ one }) => [one.document, one]));
  return ranked.map(({ one }) => one).filter((one) => seen.get(one.document) === one);
}

/** Of the few best others, those with enough of a chance. No text takes two places, not even lines of a conversation. */
function possibleHits(
  best: readonly ScoredCandidate[],
  sure: readonly ScoredCandidate[],
  index: LexicalIndex,
  wanted: SelectionOptions,
): readonly ScoredCandidate[] {
  const places = mostPossible(wanted, sure.length);
  if (places === 0) return [];
  const least = sure.length > 0 ? wanted.possible.beside : wanted.possible.least;
  const others = best
    .filter((one) => !one.isSure && one.odds >= Math.log(least / (1 - least)))
    .toSorted((one, other) => other.odds - one.odds);
  const texts = new Set(sure.map((one) => textOf(one, index)));
  const distinct = folded(others, (one) => textOf(one, index)).filter(
    (one) => !texts.has(textOf(one, index)),
  );
  return bestApart(distinct, index, places)
    .filter(({ chance }) => chance >= least)
    .toSorted((one, other) => other.score - one.score);
}

/** The most possible hits for one question, beside so many sure ones. */
function mostPossible({ mode, limit, isDistinctive, possible }: SelectionOptions, sure: number): number {
  if (mode === "quiet" || !isDistinctive) return 0;
  const most = mode === "eager" ? possible.mostEager : possible.most;
  const places = Math.max(0, Math.min(limit, most) - sure);
  return mode !== "eager" && limit < possible.few ? Math.min(1, places) : places;
}

function whyHidden(
  { isSure, chance, features }: ScoredCandidate,
  hasSure: boolean,
  { mode, isDistinctive, possible }: SelectionOptions,
): string {
  if (isSure) return "others come first";
  if (features.otherOwner) return "about someone else";
  if (features.otherAnswer) return "does not say what is asked";
  if (mode === "quiet") return "not sure, and recall mode is quiet";
  if (!isDistinctive) return "the question has no content word";
  if (chance >= (hasSure ? possible.beside : possible.least)) return "others come first";
  return hasSure ? "not sure, and others are" : "too weak a match";
}

/** In one word. */
export function whyPossible({ features }: ScoredCandidate): PossibleReason {
  if (features.otherOwner) return "owner";
  if (features.otherAnswer) return "answer";
  if (features.unknownNames > 0) return "name";
  if (features.coverage > 0) return "words";
  return features.synonyms > 0 ? "synonyms" : "meaning";
}

/** Words to compare, from the beginnings of two texts. */
const WORDS_COMPARED = 200;

/** One per group of near-copies first, then the others: "room 12" and "room 13" are both facts, but cannot crowd out other answers. */
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

/** Each text once: the groups keep the order of their best members, and show a person's copy or else the newest. */
function folded(
  scored: readonly ScoredCandidate[],
  identityOf: (scored: ScoredCandidate) => string,
): readonly ScoredCandidate[] {
  const groups = Map.groupBy(scored, identityOf);
  return [...groups.values()].flatMap((group) => {
    const [best] = group;
    if (best === undefined) return [];
    const heard = group.reduce((one, other) => (outweighs(other.document, one.document) ? other : one));
    const { score, odds, chance, isSure } = best;
    return [{ ...heard, score, odds, chance, isSure }];
  });
}

/** Equal texts have the same words in the same order, regardless of case, endings and punctuation. */
export function textOf({ document }: ScoredCandidate, index: LexicalIndex): string {
  return document.units.map((unit) => index.bodyTerms(unit).join(" ")).join("\n");
}

/**
 * What is known of records of tool calls. An agent makes hundreds of calls for each fact, so their records have their own index. At most
 * one follows the facts, unless the question asks about past actions: then every action from the requested time is an answer.
 */
export interface ToolCalls {
  /** Candidates that match words of the question. */
  readonly scored: readonly ScoredCandidate[];
  readonly deed: PastActions | undefined;
  /** The indexes with runs: tool calls, and the facts' index with packs and pipelines. */
  readonly indexes: readonly LexicalIndex[];
  readonly now: UnixMs;
}

/** The chosen facts and other documents, together with matching calls. */
export function withToolCalls(choice: Selection, toolCalls: ToolCalls, limit: number): Selection {
  const { deed } = toolCalls;
  const sure = bestPerDocument(
    toolCalls.scored.filter((one) => one.isSure && (deed?.covers?.(one.document.createdAt) ?? true)),
  );
  if (deed === undefined) return behind(choice, sure, limit);
  const done = deed.isOpen ? [...sure, ...doneThen(toolCalls, limit)] : sure;
  if (done.length === 0) return choice;
  const facts = choice.shown.filter(({ isSure }) => isSure);
  return { ...choice, shown: bestPerDocument([...facts, ...done]).slice(0, limit) };
}

/** At most this many, ranked below everything else. */
function behind(choice: Selection, sure: readonly ScoredCandidate[], limit: number): Selection {
  const { shown } = choice;
  if (shown.some(({ isSure }) => !isSure)) return choice;
  const { mostBehind, step } = WEIGHTS.calls;
  const lowest = shown.at(-1)?.score ?? 1 + step;
  const added = sure.slice(0, Math.min(mostBehind, limit - shown.length));
  const below = added.map((one) => ({ ...one, score: Math.min(one.score, lowest - step) }));
  return { ...choice, shown: [...shown, ...below] };
}

interface Run {
  readonly document: IndexedDocument;
  readonly index: LexicalIndex;
}

/** The newest run of each tool, pack and pipeline, then the next of each: a hundred calls of one tool do not hide the others. */
function doneThen({ deed, indexes, now }: ToolCalls, limit: number): readonly ScoredCandidate[] {
  const isMeant = ({ origin, createdAt, expiresAt }: IndexedDocument): boolean =>
    origin === "audit" && expiresAt > now && (deed?.covers?.(createdAt) ?? true);
  const runs = indexes.flatMap((index) =>
    [...index.documents()].filter(isMeant).map((document): Run => ({ document, index })),
  );
  const byName = Map.groupBy(runs, ({ document: { key } }) => key.slice(0, key.lastIndexOf("/")));
  const newest = [...byName.values()].map((same) => same.sort(newestFirst).slice(0, limit));
  const ranked = newest.flatMap((same) => same.map((run, rank) => ({ ...run, rank })));
  return ranked
    .sort((one, other) => one.rank - other.rank || newestFirst(one, other))
    .slice(0, limit)
    .flatMap(({ document, index }) => {
      const passage = index.passageOf(document.units[0] ?? -1);
      return passage === undefined ? [] : [sureByTime(document, passage)];
    });
}

function newestFirst({ document: one }: Run, { document: other }: Run): number {
  return other.createdAt - one.createdAt;
}
