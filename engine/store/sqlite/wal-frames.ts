/**
 * Reads the write-ahead log and its index from disk without SQLite, as sqlite.org/fileformat2.html and sqlite.org/walformat.html
 * specify. SQLite never locks a log, so reading it is safe.
 */
import { endianness } from "node:os";
import type { ReadBytes } from "./read-bytes.ts";

const WAL_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
/** From a frame's header: page, committed pages and salts. */
const CLAIM_BYTES = 16;
/** A disk writes a sector completely or not at all. */
const SECTOR_BYTES = 512;
/** The last bit is the byte order of the checksums. */
const MAGIC = 0x377f0682;
const FORMAT = 3_007_000;
const SMALLEST_PAGE = 512;
const LARGEST_PAGE = 65_536;
const IS_LITTLE_HERE = endianness() === "LE";

type Checksum = readonly [number, number];

export interface WalHeader {
  readonly pageBytes: number;
  /** Frames of an earlier round of the log have others. */
  readonly salts: Buffer;
  readonly isLittleEndian: boolean;
  readonly checksum: Checksum;
}

export interface WalFrame {
  readonly page: number;
  /** The database's size in pages after the transaction that ends here; 0 within a transaction. */
  readonly committedPages: number;
  readonly salts: Buffer;
  /**
   * Its checksum continues the one stored before it: it is intact and was written right after that frame. Each checksum is
   * stored, so this also works behind a damaged frame.
   */
  readonly isLinked: boolean;
  /** Page, committed pages and salts are of the same write, even in a torn frame. */
  readonly isOfOneWrite: boolean;
  readonly content: Buffer;
}

/** Whether there is a complete frame; the header was synced before it. */
export function hasFrames(read: ReadBytes): boolean {
  return read(WAL_HEADER_BYTES, FRAME_HEADER_BYTES + SMALLEST_PAGE).length > FRAME_HEADER_BYTES;
}

/** Undefined unless it is intact. */
export function walHeaderOf(read: ReadBytes): WalHeader | undefined {
  const bytes = read(0, WAL_HEADER_BYTES);
  if (bytes.length < WAL_HEADER_BYTES) return undefined;
  const header = claimedHeader(bytes);
  const isKnown = bytes.readUInt32BE(0) >>> 1 === MAGIC >>> 1 && bytes.readUInt32BE(4) === FORMAT;
  const sum = checksumOf([0, 0], bytes.subarray(0, 24), header.isLittleEndian);
  return isKnown && isPageSize(header.pageBytes) && isSame(sum, header.checksum) ? header : undefined;
}

/** For a log with a damaged header: assembled from other sources and this machine's byte order. */
export function assumedHeaderOf(read: ReadBytes, pageBytes: number): WalHeader {
  const bytes = read(0, WAL_HEADER_BYTES + FRAME_HEADER_BYTES);
  const salts = bytes.subarray(WAL_HEADER_BYTES + 8, WAL_HEADER_BYTES + 16);
  return { pageBytes, salts, isLittleEndian: IS_LITTLE_HERE, checksum: storedChecksum(bytes, 24) };
}

/** All complete frames, of any round. */
export function* framesOf(read: ReadBytes, header: WalHeader): Generator<WalFrame, undefined> {
  const frameBytes = FRAME_HEADER_BYTES + header.pageBytes;
  let before = header.checksum;
  for (let at = WAL_HEADER_BYTES; ; at += frameBytes) {
    const bytes = read(at, frameBytes);
    if (bytes.length < frameBytes) return;
    const content = bytes.subarray(FRAME_HEADER_BYTES);
    const begun = checksumOf(before, bytes.subarray(0, 8), header.isLittleEndian);
    const stored = storedChecksum(bytes, 16);
    const isLinked = isSame(checksumOf(begun, content, header.isLittleEndian), stored);
    yield {
      page: bytes.readUInt32BE(0),
      committedPages: bytes.readUInt32BE(4),
      salts: bytes.subarray(8, 16),
      isLinked,
      isOfOneWrite: isLinked || (at % SECTOR_BYTES) + CLAIM_BYTES <= SECTOR_BYTES,
      content,
    };
    before = stored;
  }
}

const INDEX_HEADER_BYTES = 48;

/** The number of committed frames according to the index that a process left; undefined when it is of another log. */
export function committedFrames(read: ReadBytes, { salts }: WalHeader): number | undefined {
  const both = read(0, 2 * INDEX_HEADER_BYTES);
  const header = both.subarray(0, INDEX_HEADER_BYTES);
  if (both.length < 2 * INDEX_HEADER_BYTES || !both.subarray(INDEX_HEADER_BYTES).equals(header))
    return undefined;
  const word = (at: number): number => (IS_LITTLE_HERE ? header.readUInt32LE(at) : header.readUInt32BE(at));
  const sum = checksumOf([0, 0], header.subarray(0, 40), IS_LITTLE_HERE);
  const isWhole = word(0) === FORMAT && isSame(sum, [word(40), word(44)]);
  return isWhole && header.subarray(32, 40).equals(salts) ? word(16) : undefined;
}

function claimedHeader(bytes: Buffer): WalHeader {
  return {
    pageBytes: bytes.readUInt32BE(8),
    salts: bytes.subarray(16, 24),
    isLittleEndian: (bytes.readUInt32BE(0) & 1) === 0,
    checksum: storedChecksum(bytes, 24),
  };
}

function isPageSize(bytes: number): boolean {
  return bytes >= SMALLEST_PAGE && bytes <= LARGEST_PAGE && Number.isInteger(Math.log2(bytes));
}

function storedChecksum(bytes: Buffer, at: number): Checksum {
  return [bytes.readUInt32BE(at), bytes.readUInt32BE(at + 4)];
}

function checksumOf([first, second]: Checksum, bytes: Buffer, isLittleEndian: boolean): Checksum {
  const words = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let a = first;
  let b = second;
  for (let at = 0; at < bytes.length; at += 8) {
    a = (a + words.getUint32(at, isLittleEndian) + b) >>> 0;
    b = (b + words.getUint32(at + 4, isLittleEndian) + a) >>> 0;
  }
  return [a, b];
}

function isSame(one: Checksum, other: Checksum): boolean {
  return one[0] === other[0] && one[1] === other[1];
}
