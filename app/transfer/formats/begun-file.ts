/** A file of which the beginning was looked at. It is opened once: what comes by standard input cannot be read twice. */
import type { ImportFile } from "./format.ts";

export interface BegunFile {
  /** At least as many bytes as were asked for, where the file has them. */
  readonly start: Buffer;
  /** The file from its beginning; to be read once. */
  readonly file: ImportFile;
}

export async function beginFile({ name, open }: ImportFile, bytes: number): Promise<BegunFile> {
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
