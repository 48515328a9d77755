/** The keyword index of one namespace, in memory: adds, replaces and erases entries, and reads postings. */

import type { CorpusEntry } from "../../engine/projections/corpus.ts";
import { isKnownTime } from "../../engine/rfc3339.ts";
import type { EntryId } from "../../engine/store/memory-store.ts";
import { dateTermsOf } from "../analysis/dates.ts";
import { termOf } from "../analysis/english.ts";
import { TextAnalyser, type TextTerms } from "../analysis/terms-of-text.ts";
import { RelatedFacts } from "../related-facts.ts";
import { Arena, type ArenaSpare, Column } from "./arena.ts";
import type { Passage } from "./indexed-document.ts";
import {
  charactersOf,
  documentOf,
  type IndexedDocument,
  type PackedDocuments,
  packDocuments,
  passagesOfEntry,
  searchedText,
  unpacked,
} from "./indexed-document.ts";
import { Neighbours } from "./neighbours.ts";
import {
  ANYWHERE,
  BODY_COUNT,
  IN_CATEGORY,
  IN_KEY,
  IN_TAGS,
  IN_TITLE,
  MAX_UNITS,
  unitOf as numberOf,
  ownCopy,
  packPosting,
  Terms,
} from "./terms.ts";

/** The indexes that a search reads. */
export interface IndexView {
  readonly index: LexicalIndex;
  /**
   * Records of tool calls. There are hundreds for each fact, so they have their own index and do not affect the weights of facts.
   * Undefined until there is one.
   */
  readonly toolCalls: LexicalIndex | undefined;
}

/** Average sizes beside arrays and texts, measured on heaps of 1 to 50,000 facts: the sum is within a fifth of the truth. */
const OBJECT_BYTES = { document: 700, unit: 60, term: 100 };
const EMPTY_BYTES = 2_000;

/** Then all are dropped. */
const MOST_STEMS = 5_000;

/** Numbers before a unit's terms in the arena: the count of ordered body terms, and the total count. */
const HEADER = 2;

/** A part of an index's copy. */
export type IndexPart =
  | {
      readonly kind: "numbers";
      readonly spare: ArenaSpare;
      readonly terms: Uint32Array;
      readonly textStarts: Uint32Array;
      readonly bodyLengths: Uint32Array;
      readonly passages: Uint32Array;
      readonly unusedUnits: readonly number[];
      readonly unitEnd: number;
      readonly unitCount: number;
      readonly bodyTermCount: number;
    }
  | { readonly kind: "page"; readonly page: Uint32Array }
  | ({ readonly kind: "related" } & RelatedFacts["numbers"])
  | { readonly kind: "names"; readonly names: readonly (string | undefined)[] }
  | { readonly kind: "documents"; readonly documents: PackedDocuments };

const DOCUMENTS_IN_PART = 1_000;
const NAMES_IN_PART = 10_000;
/** The numbers of a passage. */
const PASSAGE = 4;

export class LexicalIndex {
  /** Of postings, and of the terms of units. */
  readonly #arena = new Arena();
  readonly terms = new Terms(this.#arena);
  readonly neighbours = new Neighbours();
  readonly related = new RelatedFacts(this);
  readonly #documents = new Map<EntryId, IndexedDocument>();
  readonly #documentOfUnit: (IndexedDocument | undefined)[] = [];
  /** In rows of {@link PASSAGE} numbers. */
  readonly #passages = new Column();
  readonly #unusedUnits: number[] = [];
  readonly #textStarts = new Column();
  readonly #bodyLengths = new Column();
  #unitCount = 0;
  /** Of documents, in their texts. */
  #characters = 0;
  #bodyTermCount = 0;
  /** See {@link termOf}. */
  readonly #stems = new Map<string, string>();
  /** Reads texts as numbers of terms. A number may belong to another term after a removal. */
  #analyser: TextAnalyser<number> | undefined;

  /** Adds an entry, or replaces the one with the same id. Call {@link endBatch} after the last one. */
  add(entry: CorpusEntry): void {
    this.remove(entry.id);
    this.#analyser ??= new TextAnalyser((term) => this.terms.intern(term));
    const analyser = this.#analyser;
    const fields = this.#fieldPostings(entry, analyser);
    const units: number[] = [];
    const passages = passagesOfEntry(entry);
    const seen = passages.length > 1 ? new Set<number>() : undefined;
    for (const passage of passages) {
      const unit = this.#takeUnit();
      if (unit === undefined) break;
      const postings = this.#addUnit(unit, analyser.termsOf(searchedText(entry, passage)), fields);
      for (const posting of postings) this.#countOnce(numberOf(posting), seen);
      const { start, end, startLine, endLine } = passage;
      for (const [place, number] of [start, end, startLine, endLine].entries())
        this.#passages.set(unit * PASSAGE + place, number);
      units.push(unit);
    }
    const document = documentOf(entry, units);
    for (const unit of units) this.#documentOfUnit[unit] = document;
    this.#documents.set(entry.id, document);
    this.#characters += charactersOf(document);
    if (document.origin === "fact") this.neighbours.add(document);
    this.related.added(document);
  }

  /** Removes an entry's terms, text and postings; does nothing when it is absent. */
  remove(id: EntryId): void {
    const document = this.#documents.get(id);
    if (document === undefined) return;
    this.endBatch();
    this.#stems.clear();
    this.related.removed(document);
    const seen = new Set<number>();
    for (const unit of document.units) {
      for (const posting of this.postingsOfUnit(unit)) seen.add(numberOf(posting));
    }
    for (const term of seen) this.terms.countDocument(term, -1);
    for (const unit of document.units) this.#removeUnit(unit);
    this.#documents.delete(id);
    this.#characters -= charactersOf(document);
    this.neighbours.remove(document);
  }

  /** Drops what a batch of entries shared: it may hold words of a fact that is forgotten later. */
  endBatch(): void {
    this.#analyser = undefined;
  }

  /**
   * The term of a folded word. Finding it takes longer than all else that is done with a word, so those of words that this index
   * has are kept until something is removed: then they may be words of a fact that is forgotten.
   */
  termOf(word: string): string {
    const known = this.#stems.get(word);
    if (known !== undefined) return known;
    const term = termOf(word);
    if (this.terms.numberOf(term) === undefined) return term;
    if (this.#stems.size === MOST_STEMS) this.#stems.clear();
    this.#stems.set(ownCopy(word), term);
    return term;
  }

  documentWith(id: EntryId): IndexedDocument | undefined {
    return this.#documents.get(id);
  }

  documents(): Iterable<IndexedDocument> {
    return this.#documents.values();
  }

  documentOf(unit: number): IndexedDocument | undefined {
    return this.#documentOfUnit[unit];
  }

  passageOf(unit: number): Passage | undefined {
    if (this.#documentOfUnit[unit] === undefined) return undefined;
    const number = (place: number): number => this.#passages.get(unit * PASSAGE + place);
    return { start: number(0), end: number(1), startLine: number(2), endLine: number(3) };
  }

  /** The unit's body terms as numbers, in text order; valid until the next change. */
  bodyTerms(unit: number): Uint32Array {
    const start = this.#textStarts.get(unit);
    return this.#arena.view(start + HEADER, this.#arena.get(start));
  }

  /**
   * A unit's terms with their fields, packed like a posting but with the term instead of the unit; valid until the next change.
   */
  postingsOfUnit(unit: number): Uint32Array {
    const start = this.#textStarts.get(unit);
    return this.#arena.view(start + HEADER + this.#arena.get(start), this.#arena.get(start + 1));
  }

  /** By unit; valid until the next change. */
  get bodyLengths(): Uint32Array {
    return this.#bodyLengths.data;
  }

  bodyLength(unit: number): number {
    return this.#bodyLengths.get(unit);
  }

  get meanBodyLength(): number {
    return this.#unitCount === 0 ? 1 : Math.max(1, this.#bodyTermCount / this.#unitCount);
  }

  get documentCount(): number {
    return this.#documents.size;
  }

  /** One more than the highest unit in use. */
  get unitEnd(): number {
    return this.#documentOfUnit.length;
  }

  /** Memory in use: arrays and texts exactly, objects by their average size. */
  get sizeBytes(): number {
    const arrays = [
      this.#arena,
      this.terms,
      this.related,
      this.#textStarts,
      this.#bodyLengths,
      this.#passages,
    ];
    const objects =
      this.documentCount * OBJECT_BYTES.document +
      this.#unitCount * OBJECT_BYTES.unit +
      this.terms.size * OBJECT_BYTES.term +
      this.#stems.size * OBJECT_BYTES.term;
    return arrays.reduce((sum, { sizeBytes }) => sum + sizeBytes, EMPTY_BYTES + objects + this.#characters);
  }

  /** A copy of everything in it, in short steps. Do not change it until the last one. */
  *parts(): Generator<IndexPart> {
    yield {
      kind: "numbers",
      spare: this.#arena.spare,
      terms: this.terms.rows,
      textStarts: this.#textStarts.data,
      bodyLengths: this.#bodyLengths.data,
      passages: this.#passages.data,
      unusedUnits: this.#unusedUnits,
      unitEnd: this.unitEnd,
      unitCount: this.#unitCount,
      bodyTermCount: this.#bodyTermCount,
    };
    for (const page of this.#arena.pages) yield { kind: "page", page };
    for (const names of inGroups(this.terms.names, NAMES_IN_PART)) yield { kind: "names", names };
    for (const documents of inGroups([...this.#documents.values()], DOCUMENTS_IN_PART))
      yield { kind: "documents", documents: packDocuments(documents) };
    yield { kind: "related", ...this.related.numbers };
  }

  /** Takes all parts of another index, in their order. It must be empty. */
  take(part: IndexPart): void {
    if (part.kind === "numbers") this.#takeNumbers(part);
    else if (part.kind === "page") this.#arena.addPage(part.page);
    else if (part.kind === "related") this.related.restore(part);
    else if (part.kind === "names") this.terms.restoreNames(part.names);
    else this.#takeDocuments(part.documents);
  }

  #takeNumbers(part: Extract<IndexPart, { kind: "numbers" }>): void {
    this.#arena.restore(part.spare);
    this.terms.restore(part.terms);
    this.#textStarts.data = part.textStarts;
    this.#bodyLengths.data = part.bodyLengths;
    this.#passages.data = part.passages;
    for (const unit of part.unusedUnits) this.#unusedUnits.push(unit);
    for (let unit = 0; unit < part.unitEnd; unit += 1) this.#documentOfUnit.push(undefined);
    this.#unitCount = part.unitCount;
    this.#bodyTermCount = part.bodyTermCount;
  }

  #takeDocuments(packed: PackedDocuments): void {
    this.#characters += packed.characters;
    for (const document of unpacked(packed)) {
      this.#documents.set(document.id, document);
      for (const unit of document.units) this.#documentOfUnit[unit] = document;
      if (document.origin === "fact") this.neighbours.add(document);
    }
  }

  #takeUnit(): number | undefined {
    const unit = this.#unusedUnits.pop() ?? this.#documentOfUnit.length;
    if (unit >= MAX_UNITS) return undefined;
    this.#documentOfUnit[unit] = undefined;
    return unit;
  }

  /** `seen`: the terms of the entry's other passages, if any. */
  #countOnce(term: number, seen: Set<number> | undefined): void {
    if (seen?.has(term) === true) return;
    seen?.add(term);
    this.terms.countDocument(term, 1);
  }

  /** The terms of the short fields, shared by every passage of the entry; packed, possibly with duplicates. */
  #fieldPostings(entry: CorpusEntry, analyser: TextAnalyser<number>): readonly number[] {
    const postings: number[] = [];
    const mark = (terms: readonly number[], where: number): void => {
      for (const term of terms) postings.push(packPosting(term, where));
    };
    const read = ({ ordered, beside }: TextTerms<number>, where: number): void => {
      mark(ordered, where);
      mark(beside, where);
    };
    const isTitled = entry.chunk.title !== entry.key;
    read(analyser.termsOf(entry.key), isTitled ? IN_KEY : IN_KEY | IN_TITLE);
    if (isTitled) read(analyser.termsOf(entry.chunk.title), IN_TITLE);
    for (const tag of entry.tags) read(analyser.termsOfLabel(tag), IN_TAGS);
    read(analyser.termsOfLabel(entry.category), IN_CATEGORY);
    if (isKnownTime(entry.createdAt)) {
      for (const term of dateTermsOf(entry.createdAt)) mark([this.terms.intern(term)], IN_CATEGORY);
    }
    return postings;
  }

  /** The unit's postings, packed with the term instead of the unit. */
  #addUnit(
    unit: number,
    { ordered, beside }: TextTerms<number>,
    fields: readonly number[],
  ): readonly number[] {
    PLACES.clear();
    for (const posting of fields) PLACES.add(numberOf(posting), posting & ANYWHERE);
    for (const term of ordered) PLACES.countInBody(term);
    for (const term of beside) PLACES.countInBody(term);
    const postings = PLACES.packed();
    for (const posting of postings) this.terms.addPosting(numberOf(posting), unit, posting & ANYWHERE);
    this.#keepText(unit, ordered, postings);
    this.#bodyLengths.set(unit, ordered.length);
    this.#unitCount += 1;
    this.#bodyTermCount += ordered.length;
    return postings;
  }

  #keepText(unit: number, ordered: readonly number[], postings: readonly number[]): void {
    const length = HEADER + ordered.length + postings.length;
    const start = this.#arena.allocate(length);
    const text = this.#arena.view(start, length);
    text[0] = ordered.length;
    text[1] = postings.length;
    text.set(ordered, HEADER);
    text.set(postings, HEADER + ordered.length);
    this.#textStarts.set(unit, start);
  }

  #removeUnit(unit: number): void {
    for (const posting of this.postingsOfUnit(unit)) this.terms.removePosting(numberOf(posting), unit);
    const start = this.#textStarts.get(unit);
    this.#arena.release(start, HEADER + this.#arena.get(start) + this.#arena.get(start + 1));
    this.#unitCount -= 1;
    this.#bodyTermCount -= this.#bodyLengths.get(unit);
    this.#documentOfUnit[unit] = undefined;
    this.#unusedUnits.push(unit);
  }
}

function* inGroups<T>(items: readonly T[], size: number): Generator<readonly T[]> {
  for (let at = 0; at < items.length; at += size) yield items.slice(at, at + size);
}

/** Collects the fields of each term in one unit, in memory that is reused for the next unit. */
class Places {
  #where = new Uint8Array(64);
  readonly #terms: number[] = [];

  /** Also after a unit that failed halfway. */
  clear(): void {
    for (const term of this.#terms) this.#where[term] = 0;
    this.#terms.length = 0;
  }

  add(term: number, where: number): void {
    if (term >= this.#where.length) this.#grow(term);
    const before = this.#where[term] ?? 0;
    if (before === 0) this.#terms.push(term);
    this.#where[term] = before | where;
  }

  countInBody(term: number): void {
    if (term >= this.#where.length) this.#grow(term);
    const before = this.#where[term] ?? 0;
    if (before === 0) this.#terms.push(term);
    if ((before & BODY_COUNT) < BODY_COUNT) this.#where[term] = before + 1;
  }

  /** Packed with the term instead of the unit. */
  packed(): readonly number[] {
    return this.#terms.map((term) => packPosting(term, this.#where[term] ?? 0));
  }

  #grow(term: number): void {
    const grown = new Uint8Array(2 * Math.max(term, this.#where.length));
    grown.set(this.#where);
    this.#where = grown;
  }
}

/** One for all indexes: a unit is added in one synchronous step. */
const PLACES = new Places();
