/** Finds phrases in the bytes of a file: text in UTF-8 or UTF-16, as it is or compressed, also among bytes that are none. */
import type { FileHandle } from "node:fs/promises";
import { createGunzip, createZstdDecompress, zstdDecompressSync } from "node:zlib";
import type { Phrases } from "./phrases.ts";

/** A file that is larger is named, not read. */
export const LARGEST_FILE_BYTES = 1024 * 1024 * 1024;
const CHUNK_BYTES = 256 * 1024;
const MAGIC_BYTES = 16;
/** In one file; a database of conversations has some for each. */
const MOST_PACKED = 20_000;
/** Compressed, of a row that was deleted. */
const LARGEST_PACKED_BYTES = 256 * 1024;
const LARGEST_UNPACKED_BYTES = 16 * 1024 * 1024;
const MARK_BYTES = 24;

/** Begins what zstd compressed. */
export const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

export class Stopped extends Error {}

/** Tells compressed values apart by how they begin. */
export function markOf(packed: Uint8Array): string {
  return Buffer.from(packed.subarray(0, MARK_BYTES)).toString("base64");
}

export async function magicOf(file: FileHandle): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(MAGIC_BYTES), 0, MAGIC_BYTES, 0);
  return buffer.subarray(0, bytesRead);
}

export interface FileText {
  readonly lines: readonly number[];
  /** Where something begins that zstd compressed. */
  readonly packedAt: readonly number[];
}

/** Closes the file. Rejects with {@link Stopped} when the time is up; with the errors of zlib when it does not unpack. */
export async function textIn(
  file: FileHandle,
  phrases: Phrases,
  { magic = Buffer.alloc(0), isOver = () => false }: { magic?: Buffer; isOver?: () => boolean } = {},
): Promise<FileText> {
  const stream = file.createReadStream({ start: 0, highWaterMark: CHUNK_BYTES });
  const unpacker = unpackerFor(magic);
  const decoder = new TextDecoder(encodingOf(magic));
  const reader = phrases.reader();
  const packed = new PackedPlaces();
  let bytes = 0;
  const source: AsyncIterable<Uint8Array> =
    unpacker === undefined ? stream : stream.on("error", (error) => unpacker.destroy(error)).pipe(unpacker);
  try {
    for await (const chunk of source) {
      bytes += chunk.length;
      if (isOver()) throw new Stopped("the time was up");
      if (bytes > LARGEST_FILE_BYTES) throw new Stopped("too big when unpacked");
      packed.read(chunk);
      reader.read(decoder.decode(chunk, { stream: true }));
    }
    reader.read(decoder.decode());
    reader.end();
    return { lines: [...reader.lines], packedAt: packed.at };
  } finally {
    stream.destroy();
    unpacker?.destroy();
  }
}

class PackedPlaces {
  readonly at: number[] = [];
  #offset = 0;
  #end = Buffer.alloc(0);

  read(chunk: Uint8Array): void {
    const bytes = Buffer.concat([this.#end, chunk]);
    const from = this.#offset - this.#end.length;
    for (
      let at = bytes.indexOf(ZSTD);
      at >= 0 && this.at.length < MOST_PACKED;
      at = bytes.indexOf(ZSTD, at + 1)
    )
      this.at.push(from + at);
    this.#offset += chunk.length;
    this.#end = bytes.subarray(Math.max(0, bytes.length - ZSTD.length + 1));
  }
}

/**
 * Looks into compressed values that no row of a database holds any more. Pages in between cut long ones, so not all of them unpack.
 * Closes the file.
 */
export async function unusedPacked(
  file: FileHandle,
  phrases: Phrases,
  { at, used, isOver }: { at: readonly number[]; used: ReadonlySet<string>; isOver: () => boolean },
): Promise<{ readonly isFound: boolean; readonly unreadable: number }> {
  const seen = new Set(used);
  let isFound = false;
  let unreadable = at.length < MOST_PACKED ? 0 : 1;
  try {
    for (const position of at) {
      if (isOver()) throw new Stopped("the time was up");
      const { buffer, bytesRead } = await file.read(Buffer.alloc(MARK_BYTES), 0, MARK_BYTES, position);
      const mark = markOf(buffer.subarray(0, bytesRead));
      if (seen.has(mark)) continue;
      seen.add(mark);
      const text = await unpackedAt(file, position);
      if (text === undefined) unreadable += 1;
      else isFound ||= phrases.isIn(text);
    }
    return { isFound, unreadable };
  } finally {
    await file.close();
  }
}

async function unpackedAt(file: FileHandle, position: number): Promise<string | undefined> {
  const { buffer, bytesRead } = await file.read(
    Buffer.alloc(LARGEST_PACKED_BYTES),
    0,
    LARGEST_PACKED_BYTES,
    position,
  );
  try {
    const packed = buffer.subarray(0, bytesRead);
    return zstdDecompressSync(packed, { maxOutputLength: LARGEST_UNPACKED_BYTES }).toString("utf8");
  } catch {
    return undefined;
  }
}

type Unpacker = ReturnType<typeof createGunzip>;

function unpackerFor(magic: Buffer): Unpacker | undefined {
  if (magic.toString("hex").startsWith("1f8b")) return createGunzip();
  return ZSTD.equals(magic.subarray(0, ZSTD.length)) ? createZstdDecompress() : undefined;
}

/** Text in UTF-16 begins with a mark, or has every second byte 0, as Western letters have. */
export function encodingOf(magic: Buffer): "utf-8" | "utf-16le" | "utf-16be" {
  const begins = magic.subarray(0, 2).toString("hex");
  const isZero = (odd: 0 | 1) =>
    magic.length >= 8 && magic.every((byte, at) => (byte === 0) === (at % 2 === odd));
  if (begins === "fffe" || isZero(1)) return "utf-16le";
  return begins === "feff" || isZero(0) ? "utf-16be" : "utf-8";
}
