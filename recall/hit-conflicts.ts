/**
 * What belongs together in an answer (recall/related-facts.ts): facts that contradict each other or say the same stand together, a
 * person's before an agent's, and else the newer one first; each says what it contradicts. A newer one comes with the older also if
 * the question does not find it: otherwise an answer would be sure of what has changed.
 */
import { outweighs } from "../engine/store/writer.ts";
import type { IndexedDocument } from "./lexical/indexed-document.ts";
import type { LexicalIndex } from "./lexical/lexical-index.ts";
import type { Link } from "./related-facts.ts";
import { NO_WORDS, type ScoredCandidate } from "./scoring.ts";
import { textOf } from "./select-hits.ts";
import { WEIGHTS } from "./weights.ts";

/** A hit that is shown, with the facts that it contradicts, newest first; mostly none. */
export interface Shown extends ScoredCandidate {
  readonly conflicts: readonly IndexedDocument[];
}

/**
 * The same candidates, and those that must stand beside them. Of two that contradict each other or say the same, the one whose word
 * weighs more takes the place and score of the better. What is merely similar and newer may follow as a possible hit.
 */
export function withConflicts(
  shown: readonly ScoredCandidate[],
  index: LexicalIndex,
  { limit, now }: { readonly limit: number; readonly now: number },
): readonly Shown[] {
  const all = [...shown, ...besideOf(shown, index, now)];
  const relationOf = (one: ScoredCandidate, other: ScoredCandidate): Link["relation"] | undefined =>
    index.related.of(one.unit).find(({ unit }) => unit === other.unit)?.relation;
  const areOfOne = (one: ScoredCandidate, other: ScoredCandidate) => {
    const relation = relationOf(one, other);
    return relation === "contradict" || relation === "same";
  };
  const ordered = [...all];
  for (let place = 0; place < ordered.length; ) {
    const here = ordered[place];
    const heavier = ordered.findIndex(
      (other, at) => at > place && here && outweighs(other.document, here.document) && areOfOne(here, other),
    );
    const other = ordered[heavier];
    if (here !== undefined && other !== undefined) {
      ordered[place] = { ...other, score: here.score, isSure: here.isSure };
      ordered[heavier] = { ...here, score: other.score, isSure: other.isSure };
    } else place += 1;
  }
  const below: ScoredCandidate[] = [];
  for (const one of ordered) {
    const before = below.filter((other) => areOfOne(one, other));
    const most = Math.min(...before.map(({ score }) => score - WEIGHTS.conflicts.step));
    below.push({ ...one, score: Math.min(one.score, most) });
  }
  const ranked = below.toSorted(bestFirst);
  const followed = ranked.flatMap((one) => [
    one,
    ...ranked.filter((other) => isNewer(other, one) && areOfOne(one, other)),
  ]);
  const kept = [...new Set(followed)].slice(0, limit).sort(bestFirst);
  return kept.map((one) => ({ ...one, conflicts: conflictsOf(one, index, now) }));
}

/** Also those that are not shown: whoever reads a fact knows what it replaces. */
function conflictsOf(one: ScoredCandidate, index: LexicalIndex, now: number): readonly IndexedDocument[] {
  const documents = index.related.of(one.unit).flatMap(({ unit, relation }) => {
    const document = relation === "contradict" ? index.documentOf(unit) : undefined;
    return document === undefined || document.expiresAt <= now ? [] : [document];
  });
  return documents.toSorted((a, b) => b.updatedAt - a.updatedAt).slice(0, WEIGHTS.conflicts.named);
}

/** What is newer than a shown fact, or weighs more, and belongs to it. */
function besideOf(
  shown: readonly ScoredCandidate[],
  index: LexicalIndex,
  now: number,
): readonly ScoredCandidate[] {
  const units = new Set(shown.map(({ unit }) => unit));
  const texts = new Set<string>();
  const all = shown.flatMap((one) =>
    index.related.of(one.unit).flatMap(({ unit, relation }) => {
      const [document, passage] = [index.documentOf(unit), index.passageOf(unit)];
      if (units.has(unit) || document === undefined || passage === undefined || document.expiresAt <= now)
        return [];
      const place = { unit, document, passage, score: one.score - WEIGHTS.conflicts.step };
      const beside = { ...one, ...place, features: { ...NO_WORDS, isBeside: true }, relation };
      return isNewer(beside, one) || (relation !== "similar" && outweighs(document, one.document))
        ? [beside]
        : [];
    }),
  );
  if (all.length > 0) for (const one of shown) texts.add(textOf(one, index));
  const others = all.filter((one) => !texts.has(textOf(one, index)));
  const found = new Map<number, ScoredCandidate>();
  for (const { relation, ...one } of others)
    if (relation !== "similar" && !found.has(one.unit)) found.set(one.unit, one);
  const possible = others
    .filter(({ relation, isSure, unit }) => relation === "similar" && isSure && !found.has(unit))
    .slice(0, WEIGHTS.conflicts.similar)
    .map((one) => ({ ...one, isSure: false, score: Math.min(one.score, WEIGHTS.conflicts.step) }));
  return [...found.values(), ...possible];
}

function isNewer({ document: one }: ScoredCandidate, { document: other }: ScoredCandidate): boolean {
  return one.updatedAt > other.updatedAt;
}

function bestFirst(one: ScoredCandidate, other: ScoredCandidate): number {
  return other.score - one.score;
}
