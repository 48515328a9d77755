/** Vectors by row, in one of two forms: exact, or quantised to a quarter of the size. */

/** Rows are dense: 0 up to the highest one written. Callers must not use a row beyond `reserve`'s count. */
export interface VectorRows {
  reserve(count: number): void;
  release(count: number): void;
  write(row: number, vector: Float32Array): void;
  /** The vector as stored. */
  read(row: number): Float32Array;
  copy(from: number, to: number): void;
  /** Overwrites the row, so that forgotten data leaves memory. */
  clear(row: number): void;
  /** The dot product with a row. */
  similarity(query: Float32Array, row: number): number;
  readonly sizeBytes: number;
}

export class ExactRows implements VectorRows {
  readonly #rows: RowBlocks<Float32Array>;

  constructor(dimensions: number) {
    this.#rows = new RowBlocks(dimensions, (length) => new Float32Array(length));
  }

  reserve(count: number): void {
    this.#rows.reserve(count);
  }

  release(count: number): void {
    this.#rows.release(count);
  }

  write(row: number, vector: Float32Array): void {
    this.#rows.row(row).set(vector);
  }

  read(row: number): Float32Array {
    return this.#rows.row(row).slice();
  }

  copy(from: number, to: number): void {
    this.#rows.row(to).set(this.#rows.row(from));
  }

  clear(row: number): void {
    this.#rows.row(row).fill(0);
  }

  similarity(query: Float32Array, row: number): number {
    return dot(query, this.#rows.block(Math.floor(row / BLOCK_ROWS)), (row % BLOCK_ROWS) * this.#rows.width);
  }

  get sizeBytes(): number {
    return this.#rows.sizeBytes;
  }
}

const MOST = 127;

/** Quantises each number to one of 255 steps between the vector's own extremes. */
export class RoundedRows implements VectorRows {
  readonly #rows: RowBlocks<Int8Array>;
  readonly #steps = new RowBlocks(1, (length) => new Float32Array(length));

  constructor(dimensions: number) {
    this.#rows = new RowBlocks(dimensions, (length) => new Int8Array(length));
  }

  reserve(count: number): void {
    this.#rows.reserve(count);
    this.#steps.reserve(count);
  }

  release(count: number): void {
    this.#rows.release(count);
    this.#steps.release(count);
  }

  write(row: number, vector: Float32Array): void {
    const step = largestOf(vector) / MOST;
    const perStep = step === 0 ? 0 : 1 / step;
    const rounded = this.#rows.row(row);
    for (let i = 0; i < vector.length; i += 1) rounded[i] = Math.round((vector[i] ?? 0) * perStep);
    this.#steps.row(row)[0] = step;
  }

  read(row: number): Float32Array {
    const step = this.#step(row);
    return Float32Array.from(this.#rows.row(row), (number) => number * step);
  }

  copy(from: number, to: number): void {
    this.#rows.row(to).set(this.#rows.row(from));
    this.#steps.row(to).set(this.#steps.row(from));
  }

  clear(row: number): void {
    this.#rows.row(row).fill(0);
    this.#steps.row(row).fill(0);
  }

  similarity(query: Float32Array, row: number): number {
    const block = this.#rows.block(Math.floor(row / BLOCK_ROWS));
    return dot(query, block, (row % BLOCK_ROWS) * this.#rows.width) * this.#step(row);
  }

  get sizeBytes(): number {
    return this.#rows.sizeBytes + this.#steps.sizeBytes;
  }

  #step(row: number): number {
    return this.#steps.block(Math.floor(row / BLOCK_ROWS))[row % BLOCK_ROWS] ?? 0;
  }
}

function largestOf(vector: Float32Array): number {
  let largest = 0;
  for (let i = 0; i < vector.length; i += 1) largest = Math.max(largest, Math.abs(vector[i] ?? 0));
  return largest;
}

function dot(query: Float32Array, block: Float32Array | Int8Array, start: number): number {
  let sum = 0;
  for (let i = 0; i < query.length; i += 1) sum += (query[i] ?? 0) * (block[start + i] ?? 0);
  return sum;
}

type Numbers = Float32Array | Int8Array | Uint32Array;

/** Rows of a full block; only the first block may be smaller, while it is the only one. */
export const BLOCK_ROWS = 1_024;
const FIRST_ROWS = 16;

/** Rows of numbers in blocks: thousands of rows without thousands of arrays, and growth copies at most one block. */
export class RowBlocks<Row extends Numbers> {
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
