/** The vectors of one namespace in one space: adds, replaces and erases entries, and finds the passages nearest to a question. */
import type { EntryId } from "../../engine/store/memory-store.ts";
import type { SemanticHit } from "./semantic-contract.ts";
import { SignCodes } from "./sign-codes.ts";
import { ExactRows, RoundedRows, type VectorRows } from "./vector-rows.ts";

export interface VectorIndexOptions {
  /** Up to this many passages, all are compared exactly. Beyond it, they are quantised and preselected by sign codes. */
  readonly exactUpTo?: number;
  /** The least number of preselected passages. */
  readonly candidates?: number;
}

const EXACT_UP_TO = 2_048;
const CANDIDATES = 1_000;

/** One passage: a row of the index. */
interface Owner {
  readonly id: EntryId;
  readonly passage: number;
}

export class VectorIndex {
  readonly dimensions: number;
  readonly #exactUpTo: number;
  readonly #candidates: number;
  #rows: VectorRows;
  /** Set once there are many passages. */
  #codes: SignCodes | undefined;
  /** By row; rows are dense, so that a search reads nothing else. */
  readonly #owners: Owner[] = [];
  /** The row of each passage. */
  readonly #rowsOf = new Map<EntryId, number[]>();

  constructor(dimensions: number, options: VectorIndexOptions = {}) {
    this.dimensions = dimensions;
    this.#exactUpTo = options.exactUpTo ?? EXACT_UP_TO;
    this.#candidates = options.candidates ?? CANDIDATES;
    this.#rows = new ExactRows(dimensions);
  }

  /** Adds an entry's passages, or replaces those of the entry with this id. */
  set(id: EntryId, vectors: Float32Array): void {
    this.remove(id);
    const count = Math.floor(vectors.length / this.dimensions);
    const first = this.#owners.length;
    if (this.#codes === undefined && first + count > this.#exactUpTo) this.#round();
    for (const held of [this.#rows, this.#codes]) held?.reserve(first + count);
    const rows = Array.from({ length: count }, (_, passage) => first + passage);
    for (const [passage, row] of rows.entries()) {
      const start = passage * this.dimensions;
      const vector = vectors.subarray(start, start + this.dimensions);
      for (const held of [this.#rows, this.#codes]) held?.write(row, vector);
      this.#owners[row] = { id, passage };
    }
    this.#rowsOf.set(id, rows);
  }

  /** Does nothing when the entry is absent. */
  remove(id: EntryId): void {
    const rows = this.#rowsOf.get(id);
    if (rows === undefined) return;
    this.#rowsOf.delete(id);
    // Highest first: the last row, which is moved into a freed one, is then never a row to remove.
    for (const row of rows.toSorted((a, b) => b - a)) this.#removeRow(row);
    this.#rows.release(this.#owners.length);
    this.#codes?.release(this.#owners.length);
  }

  has(id: EntryId): boolean {
    return this.#rowsOf.has(id);
  }

  /** Of its first passage. */
  vectorOf(id: EntryId): Float32Array | undefined {
    const [row] = this.#rowsOf.get(id) ?? [];
    return row === undefined ? undefined : this.#rows.read(row);
  }

  /** Nearest first; ties by id and passage. Empty when the question has another length. */
  search(query: Float32Array, limit: number): readonly SemanticHit[] {
    if (query.length !== this.dimensions) return [];
    const rows = this.#codes?.nearest(query, this.#owners.length, Math.max(this.#candidates, 2 * limit));
    const hits = (rows ?? this.#owners.keys().toArray()).flatMap((row) => {
      const owner = this.#owners[row];
      return owner === undefined ? [] : [{ ...owner, similarity: this.#rows.similarity(query, row) }];
    });
    return hits.sort(compareHits).slice(0, limit);
  }

  get entryCount(): number {
    return this.#rowsOf.size;
  }

  get passageCount(): number {
    return this.#owners.length;
  }

  /** Size of the number arrays, without ids and object overhead. */
  get sizeBytes(): number {
    return this.#rows.sizeBytes + (this.#codes?.sizeBytes ?? 0);
  }

  /** Moves the last row into the freed one. */
  #removeRow(row: number): void {
    const last = this.#owners.length - 1;
    const moved = this.#owners.pop();
    if (row !== last && moved !== undefined) {
      this.#rows.copy(last, row);
      this.#codes?.copy(last, row);
      this.#owners[row] = moved;
      const rows = this.#rowsOf.get(moved.id);
      if (rows !== undefined) rows[moved.passage] = row;
    }
    this.#rows.clear(last);
    this.#codes?.clear(last);
  }

  /** Switches to quantised rows, for good: they cannot be made exact again. */
  #round(): void {
    const exact = this.#rows;
    const count = this.#owners.length;
    const codes = new SignCodes(meanOf(exact, count, this.dimensions));
    this.#rows = new RoundedRows(this.dimensions);
    this.#rows.reserve(count);
    codes.reserve(count);
    for (let row = 0; row < count; row += 1) {
      const vector = exact.read(row);
      this.#rows.write(row, vector);
      codes.write(row, vector);
    }
    this.#codes = codes;
  }
}

function meanOf(rows: VectorRows, count: number, dimensions: number): Float32Array {
  const mean = new Float32Array(dimensions);
  for (let row = 0; row < count; row += 1) {
    const vector = rows.read(row);
    for (let i = 0; i < dimensions; i += 1) mean[i] = (mean[i] ?? 0) + (vector[i] ?? 0);
  }
  return mean.map((sum) => sum / Math.max(1, count));
}

function compareHits(a: SemanticHit, b: SemanticHit): number {
  if (a.similarity !== b.similarity) return b.similarity - a.similarity;
  if (a.id !== b.id) return a.id < b.id ? -1 : 1;
  return a.passage - b.passage;
}
