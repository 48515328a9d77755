/** Truncates texts to a model's context and groups them into requests of bounded size. Pure functions. */

/** A text to send: its position in the answer, and how much of it is sent. */
export interface Item {
  readonly index: number;
  readonly prefix: string;
  /** The whole text; `usedLength` says how much of it goes out. */
  readonly text: string;
  readonly usedLength: number;
}

export interface BatchLimits {
  readonly maxTexts: number;
  readonly maxBytes: number;
}

export function payloadOf({ prefix, text, usedLength }: Item): string {
  return prefix + text.slice(0, usedLength);
}

/** The text as sent, limited to `maxBytes` of UTF-8 including the prefix. */
export function itemFor(index: number, prefix: string, raw: string, maxBytes: number): Item {
  const text = raw.toWellFormed();
  return { index, prefix, text, usedLength: lengthWithin(text, maxBytes - Buffer.byteLength(prefix)) };
}

/** In order, each batch within both limits; a text above the size limit gets its own batch. */
export function planBatches(items: readonly Item[], limits: BatchLimits): readonly (readonly Item[])[] {
  const batches: Item[][] = [];
  let current: Item[] = [];
  let bytes = 0;
  for (const item of items) {
    const size = Buffer.byteLength(payloadOf(item));
    const isFull = current.length >= limits.maxTexts || bytes + size > limits.maxBytes;
    if (current.length > 0 && isFull) {
      batches.push(current);
      current = [];
      bytes = 0;
    }
    current.push(item);
    bytes += size;
  }
  return current.length > 0 ? [...batches, current] : batches;
}

/** As much as fits, if the service says it, else half of the text; at least one character. Undefined when it cannot be shorter. */
export function shortened(item: Item, fits: number | undefined): Item | undefined {
  const length = fits === undefined ? Math.floor(item.usedLength / 2) : fits - item.prefix.length;
  const usedLength = wholeCharacters(item.text, Math.min(length, item.usedLength - 1));
  return usedLength > 0 ? { ...item, usedLength } : undefined;
}

export function isTruncated({ text, usedLength }: Item): boolean {
  return usedLength < text.length;
}

function lengthWithin(text: string, maxBytes: number): number {
  if (Buffer.byteLength(text) <= maxBytes) return text.length;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(Math.max(maxBytes, 4)));
  return read;
}

/** Never splits a surrogate pair. */
function wholeCharacters(text: string, length: number): number {
  const isLow = (at: number) => text.charCodeAt(at) >= 0xdc00 && text.charCodeAt(at) <= 0xdfff;
  return isLow(length) ? length - 1 : length;
}
