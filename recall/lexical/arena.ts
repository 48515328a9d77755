/** One growing array of 32-bit numbers, lent out in blocks: thousands of small lists without thousands of objects. */

/** Block sizes: 1, 2, 3, 4, 6, 8, 12, 16, 24 … so that at most a third of a block is unused. */
const SIZES = blockSizes(2 ** 31);

export class Arena {
  /** Read it freely; hold it no longer than one synchronous step, since growing replaces it. */
  data = new Uint32Array(1024);
  #top = 1; // 0 stays unused, so that a zeroed start means "no block"
  readonly #free = new Map<number, number[]>();

  /** Start of a zeroed block that holds at least `length` numbers. */
  allocate(length: number): number {
    const size = capacityOf(length);
    const reused = this.#free.get(size)?.pop();
    if (reused !== undefined) return reused;
    const start = this.#top;
    this.#top += size;
    if (this.#top > this.data.length) this.#grow();
    return start;
  }

  /** Gives a block back and overwrites it: what was forgotten leaves memory. */
  release(start: number, length: number): void {
    const size = capacityOf(length);
    this.data.fill(0, start, start + size);
    const free = this.#free.get(size);
    if (free === undefined) this.#free.set(size, [start]);
    else free.push(start);
  }

  get sizeBytes(): number {
    return this.data.byteLength;
  }

  #grow(): void {
    const grown = new Uint32Array(Math.max(this.#top, Math.ceil(this.data.length * 1.5)));
    grown.set(this.data);
    this.data = grown;
  }
}

/** How many numbers the block that was allocated for `length` holds. */
export function capacityOf(length: number): number {
  let low = 0;
  let high = SIZES.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((SIZES[middle] ?? 0) >= length) high = middle;
    else low = middle + 1;
  }
  return SIZES[low] ?? length;
}

function blockSizes(limit: number): readonly number[] {
  const sizes = [1];
  for (let power = 2; power < limit; power *= 2) sizes.push(power, power * 1.5);
  return sizes;
}

/** A column that grows: one number per row, whatever the row's order of arrival. */
export class Column {
  data = new Uint32Array(256);

  get(row: number): number {
    return this.data[row] ?? 0;
  }

  set(row: number, value: number): void {
    if (row >= this.data.length) {
      const grown = new Uint32Array(Math.max(row + 1, Math.ceil(this.data.length * 1.5)));
      grown.set(this.data);
      this.data = grown;
    }
    this.data[row] = value;
  }

  get sizeBytes(): number {
    return this.data.byteLength;
  }
}
