/**
 * What belongs together in a memory: of each fact a few others that contradict it, say the same, or are about the same thing.
 *
 * Derived once for each fact, from those that share its rarest words and those that a model finds near; so a search that finds the old
 * one knows the newer one, whatever words that has in common with the question. Holds numbers of units only, and nothing of a fact
 * that is removed.
 */
import type { EntryId } from "../engine/store/memory-store.ts";
import { isPersons } from "../engine/store/writer.ts";
import { Claim, STATE_WORDS } from "./claims.ts";
import { type Relation, relationOf } from "./conflicts.ts";
import { Column } from "./lexical/arena.ts";
import type { IndexedDocument, Passage } from "./lexical/indexed-document.ts";
import { kindsOf, synonymsOf } from "./lexical/synonyms.ts";
import { type Terms, unitOf } from "./lexical/terms.ts";
import { isTelling } from "./topic.ts";
import { WEIGHTS } from "./weights.ts";

export interface Link {
  readonly unit: number;
  readonly relation: Exclude<Relation, "none">;
}

/** Two facts of a memory. */
export interface RelatedPair {
  readonly ids: readonly [EntryId, EntryId];
  readonly relation: Link["relation"];
}

/** How near facts are to one of them, by a model that has read it. */
export interface FactMeaning {
  readonly nearest: readonly IndexedDocument[];
  /** From unrelated texts; undefined for a fact that the model has not read. */
  deviations(other: IndexedDocument): number | undefined;
}

/** Undefined for a fact that the model has not read. */
export type ReadMeaning = (document: IndexedDocument) => FactMeaning | undefined;

/** By a fact's unit. */
const STATES = { none: 0, waiting: 1, byWords: 2, byMeaning: 3 } as const;

/** For each fact: postings that are counted, the rarest word first; others that are read, and that are kept. */
const MOST_COUNTED = 400;
const MOST_READ = 12;
const MOST_KEPT = 8;
/** Claims that are kept while facts are compared. */
const MOST_CLAIMS = 1_000;
/** A synonym's weight, and that of another member of a word's kind. */
const SYNONYM = 0.7;
const SIBLING = 0.5;
const RELATIONS = ["contradict", "same", "similar"] as const;

/** The index of the facts. */
interface FactIndex {
  readonly terms: Pick<Terms, "numberOf" | "postings" | "documentCount">;
  readonly documentCount: number;
  readonly unitEnd: number;
  documentOf(unit: number): IndexedDocument | undefined;
  passageOf(unit: number): Passage | undefined;
  bodyTerms(unit: number): Uint32Array;
  bodyLength(unit: number): number;
  termOf(word: string): string;
}

export class RelatedFacts {
  readonly #index: FactIndex;
  readonly #links = new Map<number, readonly Link[]>();
  readonly #states = new Column();
  /** Units whose last link was dropped for stronger ones: others may still name them. */
  readonly #crowded = new Set<number>();
  readonly #persons = new Set<number>();
  readonly #claims = new Map<number, Claim>();
  #waiting = 0;
  /** Where {@link relateUntil} continues. */
  #at = 0;

  constructor(index: FactIndex) {
    this.#index = index;
  }

  /** Facts that were added and not compared yet. */
  get waiting(): number {
    return this.#waiting;
  }

  added({ kind, units: [unit, second], writer, conversationId }: IndexedDocument): void {
    if (unit === undefined || second !== undefined || kind !== "fact" || conversationId !== undefined) return;
    if (this.#index.bodyLength(unit) > WEIGHTS.conflicts.words) return; // a long fact says many things
    if (isPersons({ writer })) this.#persons.add(unit);
    this.#setState(unit, STATES.waiting);
    this.#at = 0;
  }

  removed({ units: [unit] }: IndexedDocument): void {
    this.#claims.clear();
    if (unit === undefined) return;
    const holders = this.#crowded.has(unit)
      ? [...this.#links.keys()]
      : this.of(unit).map((link) => link.unit);
    for (const holder of holders) this.#unlink(holder, unit);
    this.#links.delete(unit);
    this.#crowded.delete(unit);
    this.#persons.delete(unit);
    this.#setState(unit, STATES.none);
  }

  of(unit: number): readonly Link[] {
    return this.#links.get(unit) ?? [];
  }

  /** Compares these facts, and the few that wait: one of them may be the newer one. Those that were compared are not again. */
  relate(units: readonly number[], meaning: ReadMeaning | undefined): void {
    const areFew = this.#waiting <= WEIGHTS.conflicts.most;
    if (areFew && this.#waiting > 0) this.#at = 0;
    if (areFew && this.#waiting > 0) this.relateUntil(Number.POSITIVE_INFINITY, undefined);
    for (const unit of units) {
      const state = this.#states.get(unit);
      if (state === STATES.none) continue;
      const read = state === STATES.byMeaning && areFew ? undefined : this.#meaningOf(unit, meaning);
      if (!areFew || read !== undefined) this.#relate(unit, read);
    }
  }

  /** Continues with facts that wait, or that a model has read since; true if it stopped at that time. */
  relateUntil(deadline: number, meaning: ReadMeaning | undefined): boolean {
    const { unitEnd } = this.#index;
    for (; this.#at < unitEnd; this.#at += 1) {
      const state = this.#states.get(this.#at);
      if (state !== STATES.waiting && (meaning === undefined || state !== STATES.byWords)) continue;
      if (performance.now() >= deadline) return true;
      const read = this.#meaningOf(this.#at, meaning);
      if (state === STATES.waiting || read !== undefined) this.#relate(this.#at, read);
    }
    this.#at = 0;
    this.#claims.clear();
    return false;
  }

  /** Each once. */
  *pairs(): Generator<RelatedPair> {
    for (const [unit, links] of this.#links)
      for (const { unit: other, relation } of links) {
        const isTwice = unit > other && this.of(other).some((link) => link.unit === unit);
        const [one, two] = [this.#index.documentOf(unit), this.#index.documentOf(other)];
        if (!isTwice && one && two) yield { ids: [one.id, two.id], relation };
      }
  }

  /** Its links as rows of three numbers, and its states. */
  get numbers(): {
    readonly links: Uint32Array;
    readonly states: Uint32Array;
    readonly crowded: readonly number[];
  } {
    const rows = [...this.#links].flatMap(([unit, links]) =>
      links.flatMap((link) => [unit, link.unit, RELATIONS.indexOf(link.relation)]),
    );
    return { links: Uint32Array.from(rows), states: this.#states.data, crowded: [...this.#crowded] };
  }

  restore({ links, states, crowded }: RelatedFacts["numbers"]): void {
    for (let at = 0; at < links.length; at += 3) {
      const [unit = 0, other = 0, relation = 0] = links.subarray(at, at + 3);
      this.#links.set(unit, [...this.of(unit), { unit: other, relation: RELATIONS[relation] ?? "similar" }]);
    }
    this.#states.data = states;
    for (const unit of crowded) this.#crowded.add(unit);
    for (const [unit, state] of states.entries())
      if (state !== STATES.none && isPersons(this.#index.documentOf(unit) ?? {})) this.#persons.add(unit);
    this.#waiting = states.filter((state) => state === STATES.waiting).length;
  }

  get sizeBytes(): number {
    let bytes = this.#states.sizeBytes;
    for (const links of this.#links.values()) bytes += LINK_BYTES.fact + links.length * LINK_BYTES.link;
    return bytes;
  }

  #meaningOf(unit: number, meaning: ReadMeaning | undefined): FactMeaning | undefined {
    const document = meaning && this.#index.documentOf(unit);
    return document && meaning?.(document);
  }

  #relate(unit: number, meaning: FactMeaning | undefined): void {
    this.#setState(unit, meaning === undefined ? STATES.byWords : STATES.byMeaning);
    const claim = this.#claimOf(unit);
    const near = (meaning?.nearest ?? []).flatMap(({ units: [other = unit] }) => other);
    for (const other of new Set([...this.#closest(claim, unit), ...near])) {
      const there = this.#index.documentOf(other);
      if (there === undefined || other === unit || this.#states.get(other) === STATES.none) continue;
      const relation = relationOf(claim, this.#claimOf(other), meaning?.deviations(there));
      this.#link(unit, other, relation);
      this.#link(other, unit, relation);
    }
  }

  /** Those that share most of its words, by how rare they are, and persons' facts among them, however many others there are. */
  #closest(claim: Claim, unit: number): readonly number[] {
    const words = this.#weightsOf(claim);
    const common = new Map<number, number>();
    let left = MOST_COUNTED;
    for (const [term, weight] of words) {
      const postings = this.#index.terms.postings(term);
      for (const posting of postings.subarray(0, left))
        common.set(unitOf(posting), (common.get(unitOf(posting)) ?? 0) + weight);
      left = Math.max(0, left - postings.length);
    }
    if (left === 0) for (const person of this.#persons) common.set(person, this.#sharedWith(person, words));
    const best = [...common]
      .filter(([other, weight]) => other !== unit && weight > 0 && this.#states.get(other) !== STATES.none)
      .sort(([one, weight], [other, its]) => its - weight || one - other)
      .map(([other]) => other);
    const persons = best.slice(MOST_READ).filter((other) => this.#persons.has(other));
    return [...best.slice(0, MOST_READ), ...persons.slice(0, MOST_READ)];
  }

  #sharedWith(unit: number, words: ReadonlyMap<number, number>): number {
    let sum = 0;
    for (const term of new Set(this.#index.bodyTerms(unit))) sum += words.get(term) ?? 0;
    return sum;
  }

  /** Its words and their weights, by the terms' numbers, the rarest first. */
  #weightsOf(claim: Claim): ReadonlyMap<number, number> {
    const closeness = new Map<string, number>();
    const add = (terms: Iterable<string>, close: number) => {
      for (const term of terms) closeness.set(term, Math.max(close, closeness.get(term) ?? 0));
    };
    for (const word of [...claim.around, ...claim.said]) {
      add(word.terms, 1);
      if (!isTelling(word)) continue;
      add(
        word.terms.flatMap((term) => [...synonymsOf(term).keys()]),
        SYNONYM,
      );
      add(
        word.terms.flatMap(kindsOf).flatMap((kind) => [...synonymsOf(kind).keys()]),
        SIBLING,
      );
    }
    for (const name of claim.names) add(name, 1);
    if (claim.hasState) add(STATE_WORDS, 1);
    const weights = [...closeness].flatMap(([term, close]) => {
      const number = this.#index.terms.numberOf(term);
      return number === undefined ? [] : [[number, close * this.#rarity(number)] as const];
    });
    return new Map(weights.sort(([one, weight], [other, its]) => its - weight || one - other));
  }

  #rarity(term: number): number {
    return Math.log(1 + this.#index.documentCount / Math.max(1, this.#index.terms.documentCount(term)));
  }

  #claimOf(unit: number): Claim {
    const known = this.#claims.get(unit);
    if (known !== undefined) return known;
    const [document, passage] = [this.#index.documentOf(unit), this.#index.passageOf(unit)];
    const value = document && passage ? document.content.slice(passage.start, passage.end) : "";
    const claim = new Claim({ key: document?.key ?? "", value }, (word) => this.#index.termOf(word));
    if (this.#claims.size >= MOST_CLAIMS) this.#claims.clear();
    this.#claims.set(unit, claim);
    return claim;
  }

  /** Of too many, those that are merely similar go first, and then the oldest; persons' facts last. */
  #link(unit: number, other: number, relation: Relation): void {
    const known = this.of(unit);
    if (relation === "none" && known.length === 0) return;
    const others = known.filter((link) => link.unit !== other);
    const timeOf = (link: Link) => this.#index.documentOf(link.unit)?.updatedAt ?? 0;
    const rankOf = (link: Link) =>
      2 * Number(link.relation === "similar") - Number(this.#persons.has(link.unit));
    const links: readonly Link[] = relation === "none" ? others : [...others, { unit: other, relation }];
    const kept = links.toSorted((a, b) => rankOf(a) - rankOf(b) || timeOf(b) - timeOf(a) || a.unit - b.unit);
    for (const { unit: crowded } of kept.splice(MOST_KEPT)) this.#crowded.add(unit).add(crowded);
    if (kept.length === 0) this.#links.delete(unit);
    else this.#links.set(unit, kept);
  }

  #unlink(unit: number, gone: number): void {
    if (this.of(unit).some((link) => link.unit === gone)) this.#link(unit, gone, "none");
  }

  #setState(unit: number, state: number): void {
    this.#waiting += Number(state === STATES.waiting) - Number(this.#states.get(unit) === STATES.waiting);
    this.#states.set(unit, state);
  }
}

/** Average sizes of objects. */
const LINK_BYTES = { fact: 150, link: 60 };
