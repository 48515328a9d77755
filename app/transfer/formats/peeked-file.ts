/** A file whose beginning was examined. It is opened once, because standard input cannot be read twice. */
import type { ImportFile } from "./format.ts";

export interface PeekedFile {
  /** At least the requested number of bytes, if the file has them. */
  readonly start: Buffer;
  /** The whole file; can be read once. */
  readonly file: ImportFile;
}

export async function peekFile({ name, open }: ImportFile, bytes: number): Promise<PeekedFile> {
  const parts = open()[Symbol.asyncIterator]();
  let start = Buffer.alloc(0);
  while (start.byteLength < bytes) {
    const { done, value } = await parts.next();
    if (done === true) break;
    start = Buffer.concat([start, value]);
  }
  async function* whole(): AsyncGenerator<Uint8Array, void, undefined> {
    yield start;
    yield* { [Symbol.asyncIterator]: () => parts };
  }
  return { start, file: { name, open: whole } };
}
