/** Rows of numbers in blocks: thousands of rows without thousands of arrays, and growth copies at most one block. */

type Numbers = Float32Array | Int8Array | Uint32Array;

/** Rows of a full block; only the first block may be smaller, while it is the only one. */
export const BLOCK_ROWS = 1_024;
const FIRST_ROWS = 16;

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
