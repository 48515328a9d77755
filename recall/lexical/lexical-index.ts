/** The keyword index of one namespace, in memory: adds, replaces and erases entries, and reads postings. */

import { compareText } from "../../engine/compare-text.ts";
import type { CorpusEntry } from "../../engine/projections/corpus.ts";
import { isKnownTime } from "../../engine/rfc3339.ts";
import type { EntryId } from "../../engine/store/memory-store.ts";
import { dateTermsOf } from "../analysis/dates.ts";
import { termOf } from "../analysis/english.ts";
import { TextAnalyser, type TextTerms } from "../analysis/terms-of-text.ts";
import { RelatedFacts } from "../related-facts.ts";
import { WEIGHTS } from "../weights.ts";
import { Arena, Column } from "./arena.ts";
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
import { ANYWHERE, FIELD, MAX_UNITS, unitOf as numberOf, ownCopy, packPosting, Terms } from "./terms.ts";

/** The indexes that a search reads. */
export interface IndexView {
  readonly index: LexicalIndex;
  /** Of tool calls: hundreds for each fact, which must not affect the weights of facts. Undefined until there is one. */
  readonly toolCalls: LexicalIndex | undefined;
}

/** Average sizes beside arrays and texts, measured on heaps of 1 to 50,000 facts: the sum is within a fifth of the truth. */
const OBJECT_BYTES = { document: 700, unit: 60, term: 100 };
const EMPTY_BYTES = 2_000;
/** Then all are dropped. */
const MOST_STEMS = 5_000;
/** Numbers before a unit's terms in the arena: the count of ordered body terms, and the total count. */
const HEADER = 2;

export type IndexPart =
  | ({ readonly kind: "numbers" } & LexicalIndex["numbers"])
  | { readonly kind: "page"; readonly page: Uint32Array }
  | ({ readonly kind: "related" } & RelatedFacts["numbers"])
  | { readonly kind: "names"; readonly names: readonly (string | undefined)[] }
  | { readonly kind: "documents"; readonly documents: PackedDocuments };

const DOCUMENTS_IN_PART = 1_000;
const NAMES_IN_PART = 10_000;
const PASSAGE = 4;
/** A document is put into its place if that is so near the end; of documents in any order, all are sorted once. */
const NEAR_THE_END = 64;

interface Neighbour {
  readonly document: IndexedDocument;
  /** In turns. */
  readonly distance: number;
}

/** Sorted on demand, since most are added in batches. */
interface Conversation {
  readonly turns: IndexedDocument[];
  isSorted: boolean;
}

/** Finds the turns around a turn of a conversation: documents with the same conversation id, written within minutes of each other. */
class Neighbours {
  readonly #conversations = new Map<string, Conversation>();

  add(document: IndexedDocument): void {
    const id = document.conversationId;
    if (id === undefined) return;
    const conversation = this.#conversations.get(id) ?? { turns: [], isSorted: true };
    if (conversation.turns.length === 0) this.#conversations.set(id, conversation);
    const { turns } = conversation;
    const place = conversation.isSorted ? placeOn(turns, document) : turns.length;
    conversation.isSorted &&= turns.length - place <= NEAR_THE_END;
    if (conversation.isSorted) turns.splice(place, 0, document);
    else turns.push(document);
  }

  remove(document: IndexedDocument): void {
    const id = document.conversationId;
    const { turns } = (id !== undefined && this.#conversations.get(id)) || {};
    const place = turns?.indexOf(document) ?? -1;
    if (id === undefined || turns === undefined || place === -1) return;
    turns.splice(place, 1);
    if (turns.length === 0) this.#conversations.delete(id);
  }

  /** The turns before and after, nearest first. */
  around(document: IndexedDocument): readonly Neighbour[] {
    const id = document.conversationId;
    const conversation = id === undefined ? undefined : this.#conversations.get(id);
    if (conversation === undefined) return [];
    const { turns } = conversation;
    if (!conversation.isSorted) turns.sort(compareTurns);
    conversation.isSorted = true;
    const place = placeOn(turns, document);
    const found: Neighbour[] = [];
    const isNear = ({ createdAt }: IndexedDocument) =>
      Math.abs(createdAt - document.createdAt) <= WEIGHTS.thread.longestGapMs;
    for (let distance = 1; distance <= WEIGHTS.thread.reach; distance += 1) {
      for (const other of [turns[place - distance], turns[place + distance]])
        if (other !== undefined && isNear(other)) found.push({ document: other, distance });
    }
    return found;
  }
}

function placeOn(turns: readonly IndexedDocument[], document: IndexedDocument): number {
  let low = 0;
  let high = turns.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = turns[middle];
    if (other !== undefined && compareTurns(other, document) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

const byKey = new Intl.Collator("en", { numeric: true });

/** By time. Turns without times of their own have that of their import: then `turn/2` is before `turn/10`. */
function compareTurns(left: IndexedDocument, right: IndexedDocument): number {
  return (
    left.createdAt - right.createdAt || byKey.compare(left.key, right.key) || compareText(left.id, right.id)
  );
}

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
    const seen = passages.length > 1 ? new Set<number>() : undefined; // the terms of its other passages
    for (const passage of passages) {
      const unit = this.#takeUnit();
      if (unit === undefined) break;
      const postings = this.#addUnit(unit, analyser.termsOf(searchedText(entry, passage)), fields);
      for (const term of postings.map(numberOf)) {
        if (seen?.has(term) !== true) this.terms.countDocument(term, 1);
        seen?.add(term);
      }
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

  /** Of a folded word. Finding it takes long, so those of words in this index are kept, until something is removed: they may be words of that. */
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

  documents(): MapIterator<IndexedDocument> {
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

  /** Packed like a unit's postings but with the term instead of the unit; valid until the next change. */
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
    const all = [this.#arena, this.terms, this.related, this.#textStarts, this.#bodyLengths, this.#passages];
    const objects =
      this.documentCount * OBJECT_BYTES.document +
      this.#unitCount * OBJECT_BYTES.unit +
      this.terms.size * OBJECT_BYTES.term +
      this.#stems.size * OBJECT_BYTES.term;
    return all.reduce((sum, { sizeBytes }) => sum + sizeBytes, EMPTY_BYTES + objects + this.#characters);
  }

  get numbers() {
    return {
      spare: this.#arena.spare,
      terms: this.terms.rows,
      textStarts: this.#textStarts.data,
      bodyLengths: this.#bodyLengths.data,
      passages: this.#passages.data,
      unusedUnits: this.#unusedUnits as readonly number[], // nobody else may change them
      ...{ unitEnd: this.unitEnd, unitCount: this.#unitCount, bodyTermCount: this.#bodyTermCount },
    };
  }

  /** A copy of everything in it, in short steps. Do not change it until the last one. */
  *parts(): Generator<IndexPart> {
    yield { kind: "numbers", ...this.numbers };
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

  #takeNumbers(part: LexicalIndex["numbers"]): void {
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

  /** The terms of the short fields, shared by every passage of the entry; packed, possibly with duplicates. */
  #fieldPostings(entry: CorpusEntry, analyser: TextAnalyser<number>): readonly number[] {
    const postings: number[] = [];
    const read = ({ ordered, beside }: TextTerms<number>, where: number): void => {
      for (const term of ordered) postings.push(packPosting(term, where));
      for (const term of beside) postings.push(packPosting(term, where));
    };
    const isTitled = entry.chunk.title !== entry.key;
    read(analyser.termsOf(entry.key), isTitled ? FIELD.key : FIELD.key | FIELD.title);
    if (isTitled) read(analyser.termsOf(entry.chunk.title), FIELD.title);
    for (const tag of entry.tags) read(analyser.termsOfLabel(tag), FIELD.tags);
    read(analyser.termsOfLabel(entry.category), FIELD.category);
    for (const date of isKnownTime(entry.createdAt) ? dateTermsOf(entry.createdAt) : [])
      postings.push(packPosting(this.terms.intern(date), FIELD.category));
    return postings;
  }

  /** The unit's postings, packed with the term instead of the unit. */
  #addUnit(
    unit: number,
    { ordered, beside }: TextTerms<number>,
    fields: readonly number[],
  ): readonly number[] {
    const places = new Map<number, number>();
    for (const posting of fields) {
      const term = numberOf(posting);
      places.set(term, (places.get(term) ?? 0) | (posting & ANYWHERE));
    }
    for (const terms of [ordered, beside])
      for (const term of terms) {
        const where = places.get(term) ?? 0;
        if ((where & FIELD.bodyCount) < FIELD.bodyCount) places.set(term, where + 1);
      }
    const postings = Array.from(places, ([term, where]) => packPosting(term, where));
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
