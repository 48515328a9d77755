/** Splits a stream of bytes into lines, in bounded memory even without line breaks or valid text. */

export type ReadLine =
  | { readonly number: number; readonly text: string }
  | { readonly number: number; readonly problem: string };

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf] as const;

/**
 * Each line with its number from 1, without its ending (LF or CRLF); skips blank lines. A line longer than `mostBytes`, or one
 * that is not UTF-8, is reported as a problem, and reading continues after it.
 */
export async function* readLines(
  input: AsyncIterable<Uint8Array>,
  mostBytes: number,
): AsyncGenerator<ReadLine> {
  const line = new LineBuffer(mostBytes);
  for await (const chunk of input) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      line.append(chunk.subarray(start, end));
      start = end + 1;
      const finished = line.finish();
      if (finished !== undefined) yield finished;
    }
    line.append(chunk.subarray(start));
    line.keep();
  }
  const last = line.finish();
  if (last !== undefined) yield last;
}

class LineBuffer {
  readonly #mostBytes: number;
  readonly #decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  #parts: Uint8Array[] = [];
  #sizeBytes = 0;
  #number = 1;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** Bytes beyond the limit are counted but not kept. */
  append(part: Uint8Array): void {
    this.#sizeBytes += part.byteLength;
    if (this.#sizeBytes > this.#mostBytes) this.#parts = [];
    else if (part.byteLength > 0) this.#parts.push(part);
  }

  /** Copies the last appended part before the stream reuses its memory. */
  keep(): void {
    const last = this.#parts.pop();
    if (last !== undefined) this.#parts.push(Buffer.from(last));
  }

  /** The current line, undefined when it is blank; starts the next one. */
  finish(): ReadLine | undefined {
    const number = this.#number;
    const bytes = withoutEnds(Buffer.concat(this.#parts), number === 1);
    const isTooLong = this.#sizeBytes > this.#mostBytes;
    this.#parts = [];
    this.#sizeBytes = 0;
    this.#number += 1;
    if (isTooLong) return { number, problem: `is longer than ${this.#mostBytes} bytes` };
    return this.#decode(number, bytes);
  }

  #decode(number: number, bytes: Uint8Array): ReadLine | undefined {
    try {
      const text = this.#decoder.decode(bytes);
      return text.trim() === "" ? undefined : { number, text };
    } catch {
      return { number, problem: "is not UTF-8 text" };
    }
  }
}

function withoutEnds(bytes: Buffer, isFirst: boolean): Buffer {
  const start =
    isFirst && BYTE_ORDER_MARK.every((byte, index) => bytes[index] === byte) ? BYTE_ORDER_MARK.length : 0;
  const end = bytes.at(-1) === CARRIAGE_RETURN ? bytes.length - 1 : bytes.length;
  return bytes.subarray(start, end);
}
