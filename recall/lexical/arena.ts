/** Growing lists of 32-bit numbers in blocks of 1, 2, 3, 4, 6, 8, 12, 16 … numbers: thousands of small ones without thousands of objects. */

/** Memory grows by pages of this many numbers, so that growing never copies more than one page. */
const PAGE_BITS = 18;
const PAGE = 2 ** PAGE_BITS;
const FIRST_PAGE = 256;
const FIRST_ROWS = 4;

export class Arena {
  readonly #pages: Uint32Array[] = [];
  /** The next free position of the last page. */
  #top = 0;
  readonly #free = new Map<number, number[]>();

  /** The address of a zeroed block for at least `length` numbers; never 0. */
  allocate(length: number): number {
    const size = capacityOf(length);
    const reused = this.#free.get(size)?.pop();
    if (reused !== undefined) return reused;
    if (this.#pages.length === 0 || this.#top + size > PAGE) this.#beginPage(size);
    else this.#growPage(this.#top + size);
    const address = (this.#pages.length - 1) * PAGE + this.#top;
    this.#top += size;
    return address;
  }

  /** A view of a block. Valid for one synchronous step only, since growing may replace it. */
  view(address: number, length: number): Uint32Array {
    const offset = address % PAGE;
    return this.#page(address).subarray(offset, offset + length);
  }

  get(address: number): number {
    return this.#page(address)[address % PAGE] ?? 0;
  }

  /** Sets a number of the block at `address`, without the cost of a view. */
  set(address: number, place: number, value: number): void {
    this.#page(address)[(address % PAGE) + place] = value;
  }

  /** Frees a block and overwrites it, so that forgotten data leaves memory. */
  release(address: number, length: number): void {
    const size = capacityOf(length);
    this.view(address, size).fill(0);
    if (this.#free.get(size)?.push(address) === undefined) this.#free.set(size, [address]);
  }

  get sizeBytes(): number {
    return this.#pages.reduce((sum, page) => sum + page.byteLength, 0);
  }

  get pages(): readonly Uint32Array[] {
    return this.#pages;
  }

  /** What is free in its pages: where the last one ends, and the free blocks by size. */
  get spare(): {
    readonly top: number;
    readonly free: readonly (readonly [size: number, addresses: number[]])[];
  } {
    return { top: this.#top, free: [...this.#free] };
  }

  /** Becomes what it was copied from; call {@link addPage} for each of its pages, before or after. */
  restore({ top, free }: Arena["spare"]): void {
    this.#top = top;
    for (const [size, addresses] of free) this.#free.set(size, addresses);
  }

  addPage(page: Uint32Array): void {
    this.#pages.push(page);
  }

  #page(address: number): Uint32Array {
    return this.#pages[address >>> PAGE_BITS] ?? NO_NUMBERS;
  }

  /** A block larger than a page gets a page of its own size. */
  #beginPage(size: number): void {
    const isFirst = this.#pages.length === 0;
    this.#top = isFirst ? 1 : 0;
    this.#pages.push(new Uint32Array(Math.max(isFirst ? FIRST_PAGE : PAGE, this.#top + size)));
  }

  #growPage(needed: number): void {
    const page = this.#pages.at(-1) ?? NO_NUMBERS;
    if (needed <= page.length) return;
    const grown = new Uint32Array(Math.min(PAGE, Math.max(needed, 2 * page.length)));
    grown.set(page);
    this.#pages[this.#pages.length - 1] = grown;
  }
}

const NO_NUMBERS = new Uint32Array(0);

/** The real size of the block that is allocated for `length`: at most a third of it is unused. */
export function capacityOf(length: number): number {
  if (length <= 2) return length;
  const power = 2 ** (31 - Math.clz32(length));
  if (length === power) return power;
  return length <= 1.5 * power ? 1.5 * power : 2 * power;
}

/** A growing column: one number per row, in any order of arrival. */
export class Column {
  data: Uint32Array = NO_NUMBERS;

  get(row: number): number {
    return this.data[row] ?? 0;
  }

  set(row: number, value: number): void {
    if (row >= this.data.length) this.#grow(row + 1);
    this.data[row] = value;
  }

  get sizeBytes(): number {
    return this.data.byteLength;
  }

  #grow(needed: number): void {
    const { length } = this.data;
    const grown = new Uint32Array(Math.max(needed, FIRST_ROWS, Math.ceil(length * 1.5)));
    grown.set(this.data);
    this.data = grown;
  }
}
