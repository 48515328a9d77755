/** The dictionary of one namespace: each term's number and its postings. A term without postings is removed. */
import { type Arena, Column, capacityOf } from "./arena.ts";

/** Words that can have other forms: letters only, and enough of them. */
const WORD = /^\p{L}{4,}$/u;
/** A posting holds the unit's number and, in its low eight bits, the fields in which the term occurs. */
const FIELD_BITS = 8;
export const MAX_UNITS = 2 ** (32 - FIELD_BITS);

/** A term's occurrences in a unit: up to 15 in the body, and a bit for each short field. */
export const FIELD = {
  bodyCount: 0b0000_1111,
  key: 0b0001_0000,
  tags: 0b0010_0000,
  title: 0b0100_0000,
  category: 0b1000_0000,
};
export const ANYWHERE = 0b1111_1111;

/** What is known of a term lies side by side, so that one access to memory reads it. */
const ROW = 4;
const [START, COUNT, CAPACITY, DOCUMENTS] = [0, 1, 2, 3] as const;
/** A smaller dictionary is walked for words with the same beginning: that is quick, and thousands of small memories need no lists. */
const WALKED = 500;

export class Terms {
  readonly #numbers = new Map<string, number>();
  readonly #names: (string | undefined)[] = [];
  readonly #unused: number[] = [];
  #byBeginning: Map<string, Set<number>> | undefined;
  readonly #arena: Arena;
  readonly #rows = new Column();

  /** @param arena for the postings; others may use it, too */
  constructor(arena: Arena) {
    this.#arena = arena;
  }

  /** Undefined when no unit has the term. */
  numberOf(term: string): number | undefined {
    return this.#numbers.get(term);
  }

  /** The term's number; assigns one on first use. */
  intern(term: string): number {
    const known = this.#numbers.get(term);
    if (known !== undefined) return known;
    const number = this.#unused.pop() ?? this.#names.length;
    const name = ownCopy(term);
    this.#numbers.set(name, number);
    this.#names[number] = name;
    if (this.#byBeginning !== undefined) enlist(this.#byBeginning, name, number);
    return number;
  }

  addPosting(term: number, unit: number, fields: number): void {
    const count = this.#get(term, COUNT);
    this.#arena.set(this.#roomFor(term, count), count, packPosting(unit, fields));
    this.#set(term, COUNT, count + 1);
  }

  removePosting(term: number, unit: number): void {
    const postings = this.postings(term);
    const count = postings.length;
    const at = postings.findIndex((posting) => unitOf(posting) === unit);
    if (at === -1) return;
    postings[at] = postings[count - 1] ?? 0;
    postings[count - 1] = 0;
    this.#set(term, COUNT, count - 1);
    if (count === 1) this.#forget(term);
  }

  /** How many documents have the term (a document of many units counts once). */
  documentCount(term: number): number {
    return this.#get(term, DOCUMENTS);
  }

  countDocument(term: number, change: 1 | -1): void {
    this.#set(term, DOCUMENTS, this.#get(term, DOCUMENTS) + change);
  }

  /** The postings of a term, unordered; valid until the next change. */
  postings(term: number): Uint32Array {
    return this.#arena.view(this.#get(term, START), this.#get(term, COUNT));
  }

  /** Words with the same first three letters as `word`, with their numbers; nothing when it is not a word. */
  *beginningLike(word: string): Generator<readonly [name: string, term: number]> {
    const beginning = beginningOf(word);
    if (beginning === undefined) return;
    if (this.#numbers.size > WALKED) this.#byBeginning ??= listed(this.#numbers);
    if (this.#byBeginning === undefined) {
      for (const known of this.#numbers) if (beginningOf(known[0]) === beginning) yield known;
      return;
    }
    for (const term of this.#byBeginning.get(beginning) ?? []) {
      const name = this.#names[term];
      if (name !== undefined) yield [name, term];
    }
  }

  /** By number; undefined for those without postings. */
  get names(): readonly (string | undefined)[] {
    return this.#names;
  }

  get rows(): Uint32Array {
    return this.#rows.data;
  }

  /** Becomes what it was copied from; call {@link restoreNames} for all of its names, in order, before or after. */
  restore(rows: Uint32Array): void {
    this.#rows.data = rows;
  }

  restoreNames(names: readonly (string | undefined)[]): void {
    for (const name of names) {
      if (name === undefined) this.#unused.push(this.#names.length);
      else this.#numbers.set(name, this.#names.length);
      this.#names.push(name);
    }
  }

  /** One more than the highest number so far. */
  get end(): number {
    return this.#names.length;
  }

  get size(): number {
    return this.#numbers.size;
  }

  /** Without the arena. */
  get sizeBytes(): number {
    return this.#rows.sizeBytes;
  }

  #get(term: number, field: number): number {
    return this.#rows.get(term * ROW + field);
  }

  #set(term: number, field: number, value: number): void {
    this.#rows.set(term * ROW + field, value);
  }

  #roomFor(term: number, count: number): number {
    const start = this.#get(term, START);
    const capacity = this.#get(term, CAPACITY);
    if (count < capacity) return start;
    const roomier = this.#arena.allocate(count + 1);
    if (capacity > 0) {
      this.#arena.view(roomier, count).set(this.#arena.view(start, count));
      this.#arena.release(start, capacity);
    }
    this.#set(term, START, roomier);
    this.#set(term, CAPACITY, capacityOf(count + 1));
    return roomier;
  }

  #forget(term: number): void {
    this.#arena.release(this.#get(term, START), this.#get(term, CAPACITY));
    this.#set(term, START, 0);
    this.#set(term, CAPACITY, 0);
    const name = this.#names[term] ?? "";
    this.#byBeginning?.get(beginningOf(name) ?? "")?.delete(term);
    this.#numbers.delete(name);
    this.#names[term] = undefined;
    this.#unused.push(term);
  }
}

/** V8 keeps the whole text alive for a piece of it. A term or prefix may outlive the fact that it was first seen in, so it is copied. */
export function ownCopy(piece: string): string {
  return `${piece}/`.slice(0, -1);
}

function listed(numbers: ReadonlyMap<string, number>): Map<string, Set<number>> {
  const lists = new Map<string, Set<number>>();
  for (const [name, term] of numbers) enlist(lists, name, term);
  return lists;
}

function enlist(lists: Map<string, Set<number>>, name: string, term: number): void {
  const beginning = beginningOf(name);
  if (beginning !== undefined) lists.set(beginning, (lists.get(beginning) ?? new Set()).add(term));
}

/** Undefined for numbers, identifiers and short words, which have no other forms. */
function beginningOf(term: string): string | undefined {
  return WORD.test(term) ? term.slice(0, 3) : undefined;
}

export function unitOf(posting: number): number {
  return posting >>> FIELD_BITS;
}

export function packPosting(unit: number, fields: number): number {
  return ((unit << FIELD_BITS) | fields) >>> 0;
}
