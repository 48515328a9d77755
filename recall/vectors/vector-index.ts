/**
 * The vectors of one namespace in one space: adds, replaces and erases entries, and finds the passages nearest to a question. Few are
 * compared exactly; of many, sign codes choose those that are compared, at a quarter of their size.
 */
import type { EntryId } from "../../engine/store/memory-store.ts";
import type { SemanticHit } from "./semantic-contract.ts";

export interface VectorIndexOptions {
  /** Up to this many passages, all are compared exactly. Beyond it, they are quantised and preselected by sign codes. Default 2,048. */
  readonly exactUpTo?: number;
  /** The least number of preselected passages. Default 1,000. */
  readonly candidates?: number;
}

/** One passage: a row of the index. */
type Owner = Omit<SemanticHit, "similarity">;

export class VectorIndex {
  readonly dimensions: number;
  readonly #options: Required<VectorIndexOptions>;
  #rows: ExactRows | RoundedRows;
  /** Set once there are many passages. */
  #codes: SignCodes | undefined;
  /** By row; rows are dense, so that a search reads nothing else. */
  readonly #owners: Owner[] = [];
  /** The row of each passage. */
  readonly #rowsOf = new Map<EntryId, number[]>();

  constructor(dimensions: number, options: VectorIndexOptions = {}) {
    this.dimensions = dimensions;
    this.#options = { exactUpTo: 2_048, candidates: 1_000, ...options };
    this.#rows = new ExactRows(dimensions);
  }

  /** Adds an entry's passages, or replaces those of the entry with this id. */
  set(id: EntryId, vectors: Float32Array): void {
    this.remove(id);
    const count = Math.floor(vectors.length / this.dimensions);
    const first = this.#owners.length;
    if (this.#codes === undefined && first + count > this.#options.exactUpTo) this.#round();
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

  /** Of its first passage. */
  vectorOf(id: EntryId): Float32Array | undefined {
    const [row] = this.#rowsOf.get(id) ?? [];
    return row === undefined ? undefined : this.#rows.read(row);
  }

  /** Nearest first; ties by id and passage. Empty when the question has another length. */
  search(query: Float32Array, limit: number): readonly SemanticHit[] {
    if (query.length !== this.dimensions) return [];
    const rows = this.#codes?.nearest(
      query,
      this.#owners.length,
      Math.max(this.#options.candidates, 2 * limit),
    );
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
    const sum = new Float32Array(this.dimensions);
    for (let row = 0; row < count; row += 1)
      for (const [place, number] of exact.read(row).entries()) sum[place] = (sum[place] ?? 0) + number;
    const codes = new SignCodes(sum.map((number) => number / Math.max(1, count)));
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

function compareHits(a: SemanticHit, b: SemanticHit): number {
  if (a.similarity !== b.similarity) return b.similarity - a.similarity;
  if (a.id !== b.id) return a.id < b.id ? -1 : 1;
  return a.passage - b.passage;
}

/** Rows of a full block; only the first block may be smaller, while it is the only one. */
const BLOCK_ROWS = 1_024;
const FIRST_ROWS = 16;

/** Dense rows of numbers, below the count of `reserve`, in blocks: thousands without thousands of arrays, and growth copies at most one block. */
class RowBlocks<Row extends Float32Array | Int8Array | Uint32Array> {
  readonly width: number;
  readonly #make: (length: number) => Row;
  readonly #blocks: Row[] = [];

  /** @param make returns zeroed memory */
  constructor(width: number, make: (length: number) => Row) {
    this.width = width;
    this.#make = make;
  }

  /** Block `row / BLOCK_ROWS`; row `r` begins at `r % BLOCK_ROWS * width`. Valid until the next `reserve` or `release`. */
  block(index: number): Row {
    return this.#blocks[index] ?? this.#make(0);
  }

  /** A view of one row, valid as long as its block. */
  row(row: number): Row {
    const start = (row % BLOCK_ROWS) * this.width;
    // A view of an array has the array's type.
    return this.block(Math.floor(row / BLOCK_ROWS)).subarray(start, start + this.width) as Row;
  }

  copy(from: number, to: number): void {
    this.row(to).set(this.row(from));
  }

  /** Overwrites the row, so that forgotten data leaves memory. */
  clear(row: number): void {
    this.row(row).fill(0);
  }

  /** Makes room for rows 0 to `count` - 1. */
  reserve(count: number): void {
    const first = this.#blocks[0];
    const wanted = Math.min(count, BLOCK_ROWS) * this.width;
    if (first === undefined || first.length < wanted) {
      const rows = Math.min(BLOCK_ROWS, Math.max(FIRST_ROWS, 2 ** Math.ceil(Math.log2(count))));
      const grown = this.#make(rows * this.width);
      if (first !== undefined) grown.set(first);
      this.#blocks[0] = grown;
    }
    while (this.#blocks.length * BLOCK_ROWS < count) this.#blocks.push(this.#make(BLOCK_ROWS * this.width));
  }

  /** Frees blocks beyond row `count` - 1 but keeps one spare, so that alternating adds and removes cost nothing. */
  release(count: number): void {
    this.#blocks.length = Math.min(this.#blocks.length, Math.ceil(count / BLOCK_ROWS) + 1);
  }

  get sizeBytes(): number {
    return this.#blocks.reduce((sum, block) => sum + block.byteLength, 0);
  }
}

class ExactRows extends RowBlocks<Float32Array> {
  constructor(dimensions: number) {
    super(dimensions, (length) => new Float32Array(length));
  }

  write(row: number, vector: Float32Array): void {
    this.row(row).set(vector);
  }

  read(row: number): Float32Array {
    return this.row(row).slice();
  }

  /** The dot product with a row. */
  similarity(query: Float32Array, row: number): number {
    return dot(query, this.block(Math.floor(row / BLOCK_ROWS)), (row % BLOCK_ROWS) * this.width);
  }
}

const MOST = 127;

/** Quantises each number to one of 255 steps between the vector's own extremes. */
class RoundedRows extends RowBlocks<Int8Array> {
  /** Of each row. */
  readonly #steps: number[] = [];

  constructor(dimensions: number) {
    super(dimensions, (length) => new Int8Array(length));
  }

  write(row: number, vector: Float32Array): void {
    const step = vector.reduce((most, number) => Math.max(most, Math.abs(number)), 0) / MOST;
    const perStep = step === 0 ? 0 : 1 / step;
    const rounded = this.row(row);
    for (let i = 0; i < vector.length; i += 1) rounded[i] = Math.round((vector[i] ?? 0) * perStep);
    this.#steps[row] = Math.fround(step);
  }

  /** The vector as stored. */
  read(row: number): Float32Array {
    const step = this.#steps[row] ?? 0;
    return Float32Array.from(this.row(row), (number) => number * step);
  }

  override copy(from: number, to: number): void {
    super.copy(from, to);
    this.#steps[to] = this.#steps[from] ?? 0;
  }

  override clear(row: number): void {
    super.clear(row);
    this.#steps[row] = 0;
  }

  similarity(query: Float32Array, row: number): number {
    const block = this.block(Math.floor(row / BLOCK_ROWS));
    return dot(query, block, (row % BLOCK_ROWS) * this.width) * (this.#steps[row] ?? 0);
  }

  override get sizeBytes(): number {
    return super.sizeBytes + this.#steps.length * Float64Array.BYTES_PER_ELEMENT;
  }
}

function dot(query: Float32Array, block: Float32Array | Int8Array, start: number): number {
  let sum = 0;
  for (let i = 0; i < query.length; i += 1) sum += (query[i] ?? 0) * (block[start + i] ?? 0);
  return sum;
}

const WORD_BITS = 32;

/** One bit per dimension: ranks all rows by Hamming distance, reading a 32nd of the vectors' size, to choose the few to compare exactly. */
class SignCodes extends RowBlocks<Uint32Array> {
  readonly #origin: Float32Array;
  #distances = new Uint16Array(0);

  /** @param origin the mean of some vectors: models put all texts on one side of zero in many dimensions, and such a bit tells nothing */
  constructor(origin: Float32Array) {
    super(Math.ceil(origin.length / WORD_BITS), (length) => new Uint32Array(length));
    this.#origin = origin;
  }

  write(row: number, vector: Float32Array): void {
    this.#encode(vector, this.row(row));
  }

  /** At least `wanted` of the rows 0 to `count` - 1 if there are that many, and at most twice as many, nearest first. */
  nearest(query: Float32Array, count: number, wanted: number): readonly number[] {
    const code = this.#encode(query, new Uint32Array(this.width));
    const histogram = this.#measure(code, count);
    const farthest = cutOff(histogram, wanted);
    const near: number[] = [];
    const tied: number[] = [];
    for (let row = 0; row < count; row += 1) {
      const distance = this.#distances[row] ?? 0;
      if (distance < farthest) near.push(row);
      else if (distance === farthest && tied.length < wanted) tied.push(row);
    }
    return near.concat(tied);
  }

  override get sizeBytes(): number {
    return super.sizeBytes + this.#distances.byteLength + this.#origin.byteLength;
  }

  #encode(vector: Float32Array, code: Uint32Array): Uint32Array {
    code.fill(0);
    for (let i = 0; i < vector.length; i += 1) {
      if ((vector[i] ?? 0) < (this.#origin[i] ?? 0)) continue;
      const word = Math.floor(i / WORD_BITS);
      code[word] = (code[word] ?? 0) | (1 << (i % WORD_BITS));
    }
    return code;
  }

  /** Fills in the distance of each row; returns the number of rows at each distance. */
  #measure(code: Uint32Array, count: number): Uint32Array {
    if (this.#distances.length < count) this.#distances = new Uint16Array(Math.ceil(count * 1.5));
    const histogram = new Uint32Array(this.width * WORD_BITS + 1);
    for (let first = 0; first < count; first += BLOCK_ROWS) {
      const rows = Math.min(BLOCK_ROWS, count - first);
      const distances = this.#distances.subarray(first, first + rows);
      measureBlock(this.block(first / BLOCK_ROWS), code, distances, histogram);
    }
    return histogram;
  }
}

/** The hot loop: 2.4 million words for 100,000 rows of 768 numbers. */
function measureBlock(
  block: Uint32Array,
  code: Uint32Array,
  distances: Uint16Array,
  histogram: Uint32Array,
): void {
  let at = 0;
  for (let row = 0; row < distances.length; row += 1) {
    let distance = 0;
    for (let word = 0; word < code.length; word += 1, at += 1) {
      distance += countBits((block[at] ?? 0) ^ (code[word] ?? 0));
    }
    distances[row] = distance;
    histogram[distance] = (histogram[distance] ?? 0) + 1;
  }
}

/** Population count: sums neighbouring bits, then pairs, then groups of four; the multiplication adds the four bytes. */
function countBits(word: number): number {
  const pairs = word - ((word >>> 1) & 0x5555_5555);
  const fours = (pairs & 0x3333_3333) + ((pairs >>> 2) & 0x3333_3333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24;
}

function cutOff(histogram: Uint32Array, wanted: number): number {
  let sum = 0;
  for (let distance = 0; distance < histogram.length; distance += 1) {
    sum += histogram[distance] ?? 0;
    if (sum >= wanted) return distance;
  }
  return histogram.length;
}
