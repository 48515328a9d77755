/** The dictionary of one namespace: each term's number and its postings. A term without postings is removed. */
import { Arena, Column, capacityOf } from "./arena.ts";

/** Words that can have other forms: letters only, and enough of them. */
const WORD = /^\p{L}{4,}$/u;

/** A posting holds the unit's number and, in its low eight bits, the fields in which the term occurs. */
const FIELD_BITS = 8;
export const MAX_UNITS = 2 ** (32 - FIELD_BITS);

/** A term's occurrences in a unit: up to 15 in the body, and a bit for each short field. */
export const BODY_COUNT = 0b0000_1111;
export const IN_KEY = 0b0001_0000;
export const IN_TAGS = 0b0010_0000;
export const IN_TITLE = 0b0100_0000;
export const IN_CATEGORY = 0b1000_0000;
export const ANYWHERE = 0b1111_1111;

export class Terms {
  readonly #numbers = new Map<string, number>();
  readonly #names: (string | undefined)[] = [];
  readonly #unused: number[] = [];
  readonly #byBeginning = new Map<string, number[]>();
  readonly #arena = new Arena();
  readonly #starts = new Column();
  readonly #counts = new Column();
  readonly #capacities = new Column();
  readonly #documents = new Column();

  /** Undefined when no unit has the term. */
  numberOf(term: string): number | undefined {
    return this.#numbers.get(term);
  }

  /** The term's number; assigns one on first use. */
  intern(term: string): number {
    const known = this.#numbers.get(term);
    if (known !== undefined) return known;
    const number = this.#unused.pop() ?? this.#names.length;
    this.#numbers.set(term, number);
    this.#names[number] = term;
    this.#shelve(term, number);
    return number;
  }

  addPosting(term: number, unit: number, fields: number): void {
    const count = this.#counts.get(term);
    this.#arena.set(this.#roomFor(term, count), count, packPosting(unit, fields));
    this.#counts.set(term, count + 1);
  }

  removePosting(term: number, unit: number): void {
    const postings = this.postings(term);
    const count = postings.length;
    const at = postings.findIndex((posting) => unitOf(posting) === unit);
    if (at === -1) return;
    postings[at] = postings[count - 1] ?? 0;
    postings[count - 1] = 0;
    this.#counts.set(term, count - 1);
    if (count === 1) this.#forget(term);
  }

  /** How many documents have the term (a document of many units counts once). */
  documentCount(term: number): number {
    return this.#documents.get(term);
  }

  countDocument(term: number, change: 1 | -1): void {
    this.#documents.set(term, this.#documents.get(term) + change);
  }

  /** The postings of a term, unordered; valid until the next change. */
  postings(term: number): Uint32Array {
    return this.#arena.view(this.#starts.get(term), this.#counts.get(term));
  }

  /** Words with the same first three letters as `word`, with their numbers; nothing when it is not a word. */
  *beginningLike(word: string): Generator<readonly [name: string, term: number]> {
    for (const term of this.#byBeginning.get(beginningOf(word) ?? "") ?? []) {
      const name = this.#names[term];
      if (name !== undefined) yield [name, term];
    }
  }

  /** One more than the highest number so far. */
  get end(): number {
    return this.#names.length;
  }

  get size(): number {
    return this.#numbers.size;
  }

  get sizeBytes(): number {
    const columns = [this.#starts, this.#counts, this.#capacities, this.#documents];
    return columns.reduce((sum, column) => sum + column.sizeBytes, this.#arena.sizeBytes);
  }

  #roomFor(term: number, count: number): number {
    const start = this.#starts.get(term);
    const capacity = this.#capacities.get(term);
    if (count < capacity) return start;
    const roomier = this.#arena.allocate(count + 1);
    if (capacity > 0) {
      this.#arena.view(roomier, count).set(this.#arena.view(start, count));
      this.#arena.release(start, capacity);
    }
    this.#starts.set(term, roomier);
    this.#capacities.set(term, capacityOf(count + 1));
    return roomier;
  }

  #shelve(name: string, term: number): void {
    const beginning = beginningOf(name);
    if (beginning === undefined) return;
    const others = this.#byBeginning.get(beginning);
    if (others === undefined) this.#byBeginning.set(beginning, [term]);
    else others.push(term);
  }

  #unshelve(name: string, term: number): void {
    const beginning = beginningOf(name);
    const others = beginning === undefined ? undefined : this.#byBeginning.get(beginning);
    if (beginning === undefined || others === undefined) return;
    if (others.length > 1) others.splice(others.indexOf(term), 1);
    else this.#byBeginning.delete(beginning);
  }

  #forget(term: number): void {
    this.#arena.release(this.#starts.get(term), this.#capacities.get(term));
    this.#starts.set(term, 0);
    this.#capacities.set(term, 0);
    const name = this.#names[term] ?? "";
    this.#unshelve(name, term);
    this.#numbers.delete(name);
    this.#names[term] = undefined;
    this.#unused.push(term);
  }
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
