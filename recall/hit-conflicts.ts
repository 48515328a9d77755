/**
 * The contradictions among an answer's sure facts: said in each of them, a person's fact before an agent's, and else the newer one
 * first. Of facts that seem to say the same, too: "the branch is stable" and "the branch is release" may differ in a word that is no
 * known value.
 */
import { isPersons, outweighs } from "../engine/store/writer.ts";
import { termOf } from "./analysis/english.ts";
import { Claim, type Stem } from "./claims.ts";
import { relationOf } from "./conflicts.ts";
import type { LexicalIndex } from "./lexical/lexical-index.ts";
import { passageText, type ScoredCandidate } from "./scoring.ts";
import { textOf } from "./select-hits.ts";
import { WEIGHTS } from "./weights.ts";

/** A hit that is shown, with those that it contradicts, newest first; mostly none. */
export interface Shown extends ScoredCandidate {
  readonly conflicts: readonly ScoredCandidate[];
}

/**
 * The same candidates. Of two that contradict each other or say the same, the one whose word weighs more takes the place and score of
 * the better.
 *
 * @param hidden the best that are not shown, such as "I no longer eat meat" behind "I eat meat". One that is newer than a shown fact
 *   or weighs more, and contradicts it or says the same, is shown, too: otherwise an answer would be sure of what has changed
 * @param arePossible then only a person's fact and another's are compared
 */
export function withConflicts(
  sure: readonly ScoredCandidate[],
  index: LexicalIndex,
  { hidden, limit, arePossible }: Answering,
): readonly Shown[] {
  const { conflicts, sayings, beside } = relationsAmong(sure, { hidden, arePossible }, index);
  const shown = [...sure, ...beside];
  if (conflicts.size + sayings.size === 0) return shown.map((one) => ({ ...one, conflicts: [] }));
  const areOfOne = (one: ScoredCandidate, other: ScoredCandidate) =>
    [conflicts, sayings].some((those) => those.get(one.unit)?.some(({ unit }) => unit === other.unit));
  const ordered = [...shown];
  for (let place = 0; place < ordered.length; ) {
    const here = ordered[place];
    const heavier = ordered.findIndex(
      (other, at) => at > place && here && isHeavier(other, here) && areOfOne(here, other),
    );
    const other = ordered[heavier];
    if (here !== undefined && other !== undefined) {
      ordered[place] = { ...other, score: here.score };
      ordered[heavier] = { ...here, score: other.score };
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
  const units = new Set(kept.map(({ unit }) => unit));
  return kept.map((one) => {
    const others = (conflicts.get(one.unit) ?? []).filter(
      (other) => units.has(other.unit) || areUnlike(one, other),
    );
    return { ...one, conflicts: others.toSorted((a, b) => b.document.updatedAt - a.document.updatedAt) };
  });
}

interface Answering {
  readonly hidden: readonly ScoredCandidate[];
  readonly limit: number;
  readonly arePossible: boolean;
}

/** By unit. */
type Related = Map<number, readonly ScoredCandidate[]>;

/** Those that contradict each other, those that seem to say the same, and the hidden ones to be shown beside one of these. */
function relationsAmong(
  sure: readonly ScoredCandidate[],
  { hidden, arePossible }: Pick<Answering, "hidden" | "arePossible">,
  index: LexicalIndex,
) {
  const related: Record<"contradict" | "same", Related> = { contradict: new Map(), same: new Map() };
  const stem = stemOnce();
  const read = (ones: readonly ScoredCandidate[]) =>
    ones
      .filter((one) => isShortFact(one, index))
      .slice(0, WEIGHTS.conflicts.most)
      .map((one) => ({ one, weights: weightsOf(one, index), claim: claimLazily(one, stem) }));
  const facts = read(sure.filter(({ isSure }) => isSure || arePossible));
  const areCompared = (one: ScoredCandidate, other: ScoredCandidate) => !arePossible || areUnlike(one, other);
  const isMissed = (one: ScoredCandidate, shown: ScoredCandidate) =>
    areCompared(one, shown) && (isNewer(one, shown) || isHeavier(one, shown));
  const mayBeShown = (one: ScoredCandidate) =>
    (!one.features.lacking || arePossible) && facts.some((fact) => isMissed(one, fact.one));
  const rivalling = hidden.filter(mayBeShown);
  const texts = new Set(rivalling.length === 0 ? [] : sure.map((one) => textOf(one, index)));
  const rivals = read(rivalling.filter((one) => !texts.has(textOf(one, index))));
  const beside = new Map<number, ScoredCandidate>();
  for (const [place, here] of facts.entries()) {
    const those = rivals.filter(({ one }) => isMissed(one, here.one));
    const others = facts.slice(place + 1).filter(({ one }) => areCompared(one, here.one));
    for (const there of [...others, ...those]) {
      if (!shareWords(here.weights, there.weights)) continue;
      const relation = relationOf(here.claim(), there.claim());
      if (relation !== "contradict" && relation !== "same") continue;
      note(related[relation], here.one, there.one);
      note(related[relation], there.one, here.one);
      if (those.includes(there))
        beside.set(there.one.unit, {
          ...there.one,
          isSure: !arePossible,
          score: here.one.score - WEIGHTS.conflicts.step,
        });
    }
  }
  return { conflicts: related.contradict, sayings: related.same, beside: [...beside.values()] };
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

function note(related: Related, one: ScoredCandidate, other: ScoredCandidate): void {
  related.set(one.unit, [...(related.get(one.unit) ?? []), other]);
}

/** A long fact says many things. */
function isShortFact({ document, unit, features }: ScoredCandidate, index: LexicalIndex): boolean {
  const isFact = document.kind === "fact" && !features.inThread;
  return isFact && document.units.length === 1 && index.bodyLength(unit) <= WEIGHTS.conflicts.words;
}

function claimLazily(one: ScoredCandidate, stem: Stem): () => Claim {
  let claim: Claim | undefined;
  return () => {
    claim ??= claimOfHit(one, stem);
    return claim;
  };
}

export function claimOfHit(hit: Pick<ScoredCandidate, "document" | "passage">, stem?: Stem): Claim {
  return new Claim({ key: hit.document.key, value: passageText(hit) }, stem);
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

function isHeavier({ document: one }: ScoredCandidate, { document: other }: ScoredCandidate): boolean {
  return outweighs(one, other);
}

/** A person's and another's. */
function areUnlike({ document: one }: ScoredCandidate, { document: other }: ScoredCandidate): boolean {
  return isPersons(one) !== isPersons(other);
}

function bestFirst(one: ScoredCandidate, other: ScoredCandidate): number {
  return other.score - one.score;
}
