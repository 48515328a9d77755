/**
 * The contradictions among an answer's sure facts: said in each of them, and the newer fact first. Of facts that seem to say the
 * same, the newer one comes first, too: "the branch is stable" and "the branch is release" may differ in a word that is no known value.
 */
import { termOf } from "./analysis/english.ts";
import { Claim, type Stem } from "./claims.ts";
import { relationOf } from "./conflicts.ts";
import type { LexicalIndex } from "./lexical/lexical-index.ts";
import type { ScoredCandidate } from "./scoring.ts";
import { WEIGHTS } from "./weights.ts";

/** A hit that is shown, with those that it contradicts, newest first; mostly none. */
export interface Shown extends ScoredCandidate {
  readonly conflicts: readonly ScoredCandidate[];
}

/** The same candidates. Of two that contradict each other or say the same, the newer takes the place and score of the better. */
export function withConflicts(shown: readonly ScoredCandidate[], index: LexicalIndex): readonly Shown[] {
  const { conflicts, sayings } = relationsAmong(shown, index);
  if (conflicts.size + sayings.size === 0) return shown.map((one) => ({ ...one, conflicts: [] }));
  const areOfOne = (one: ScoredCandidate, other: ScoredCandidate) =>
    [conflicts, sayings].some((those) => those.get(one.unit)?.some(({ unit }) => unit === other.unit));
  const ordered = [...shown];
  for (let place = 0; place < ordered.length; ) {
    const newer = ordered.findIndex((other, at) => {
      const here = ordered[place];
      return at > place && here !== undefined && isNewer(other, here) && areOfOne(here, other);
    });
    if (newer === -1) place += 1;
    else exchange(ordered, place, newer);
  }
  const below: ScoredCandidate[] = [];
  for (const one of ordered) {
    const newer = below.filter((other) => areOfOne(one, other));
    const most = Math.min(...newer.map(({ score }) => score - WEIGHTS.conflicts.step));
    below.push({ ...one, score: Math.min(one.score, most) });
  }
  return below
    .toSorted((one, other) => other.score - one.score)
    .map((one) => ({ ...one, conflicts: (conflicts.get(one.unit) ?? []).toSorted(newestFirst) }));
}

function exchange(ordered: ScoredCandidate[], place: number, newer: number): void {
  const [here, other] = [ordered[place], ordered[newer]];
  if (here === undefined || other === undefined) return;
  ordered[place] = { ...other, score: here.score };
  ordered[newer] = { ...here, score: other.score };
}

/** By unit. */
type Related = ReadonlyMap<number, readonly ScoredCandidate[]>;

/** Those that contradict each other, and those that seem to say the same. */
function relationsAmong(shown: readonly ScoredCandidate[], index: LexicalIndex) {
  const related = {
    contradict: new Map<number, ScoredCandidate[]>(),
    same: new Map<number, ScoredCandidate[]>(),
  };
  const stem = stemOnce();
  const facts = shown
    .filter((one) => isShortFact(one, index))
    .slice(0, WEIGHTS.conflicts.most)
    .map((one) => ({ one, weights: weightsOf(one, index), claim: claimLazily(one, stem) }));
  for (const [place, here] of facts.entries()) {
    for (const there of facts.slice(place + 1)) {
      if (!shareWords(here.weights, there.weights)) continue;
      const relation = relationOf(here.claim(), there.claim());
      if (relation !== "contradict" && relation !== "same") continue;
      note(related[relation], here.one, there.one);
      note(related[relation], there.one, here.one);
    }
  }
  const { contradict: conflicts, same: sayings }: Record<"contradict" | "same", Related> = related;
  return { conflicts, sayings };
}

/** Hits have many words in common. */
function stemOnce(): Stem {
  const terms = new Map<string, string>();
  return (word) => {
    const term = terms.get(word) ?? termOf(word);
    terms.set(word, term);
    return term;
  };
}

function note(related: Map<number, ScoredCandidate[]>, one: ScoredCandidate, other: ScoredCandidate): void {
  const known = related.get(one.unit);
  if (known === undefined) related.set(one.unit, [other]);
  else known.push(other);
}

/** A long fact says many things. */
function isShortFact({ document, unit, features, isSure }: ScoredCandidate, index: LexicalIndex): boolean {
  const isFact = isSure && document.kind === "fact" && !features.inThread;
  return isFact && document.units.length === 1 && index.bodyLength(unit) <= WEIGHTS.conflicts.words;
}

function claimLazily(one: ScoredCandidate, stem: Stem): () => Claim {
  let claim: Claim | undefined;
  return () => {
    claim ??= claimOfHit(one, stem);
    return claim;
  };
}

export function claimOfHit({ document, passage }: ScoredCandidate, stem?: Stem): Claim {
  return new Claim({ key: document.key, value: document.content.slice(passage.start, passage.end) }, stem);
}

/** By its number, how telling each term is in this memory. */
type TermWeights = ReadonlyMap<number, number>;

function weightsOf({ unit }: ScoredCandidate, index: LexicalIndex): TermWeights {
  const weights = new Map<number, number>();
  for (const term of index.bodyTerms(unit))
    weights.set(term, Math.log(1 + index.documentCount / Math.max(1, index.terms.documentCount(term))));
  return weights;
}

/** Reading two facts takes longer than finding them, so only those with enough words in common are read. */
function shareWords(one: TermWeights, other: TermWeights): boolean {
  let [all, itsAll, common] = [0, 0, 0];
  for (const [term, weight] of one) {
    all += weight;
    if (other.has(term)) common += weight;
  }
  for (const weight of other.values()) itsAll += weight;
  return common >= WEIGHTS.conflicts.read * Math.min(all, itsAll);
}

function isNewer({ document: one }: ScoredCandidate, { document: other }: ScoredCandidate): boolean {
  return one.updatedAt > other.updatedAt;
}

function newestFirst({ document: one }: ScoredCandidate, { document: other }: ScoredCandidate): number {
  return other.updatedAt - one.updatedAt;
}
