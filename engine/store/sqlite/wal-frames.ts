/**
 * Reads the write-ahead log and its index from disk without SQLite, as sqlite.org/fileformat2.html and sqlite.org/walformat.html
 * specify. SQLite never locks a log, so reading it is safe.
 */
import { endianness } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { HelmdeckError } from "../../errors.ts";
import { isOpenInThisProcess, stat } from "./file-watch.ts";
import { type ReadBytes, readingBytes } from "./read-bytes.ts";

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
function hasFrames(read: ReadBytes): boolean {
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
function committedFrames(read: ReadBytes, { salts }: WalHeader): number | undefined {
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

/** A frame that another process was writing is complete by then. */
const SETTLING_MS = 5;

/**
 * Detects a damaged log, as opposed to one that a crash cut short. Runs before SQLite opens it, because SQLite silently ends a
 * log at its first invalid frame.
 *
 * The danger is an accident, such as a bad sector or an incomplete copy. A crash legitimately leaves frames of one unacknowledged
 * transaction, some of them missing, possibly followed by older frames of a longer log. So two findings are evidence of damage. A
 * crash cannot cause either, since a commit is synced before the next one begins and before the index records it:
 * - a frame behind the break that was written right after a commit there: that transaction was complete;
 * - an index, left by a killed process, with more committed frames of this log than are intact.
 * A header is synced before the first frame is written, so a log with frames has an intact one.
 *
 * Without the index (a power cut, or a copy of the other two files), damage to the last transaction and a log cut off at its end
 * stay undetected. Both look like a crash in the last transaction.
 *
 * Throws `store_corrupt` when the log certainly lost acknowledged data. Changes nothing.
 */
export async function requireIntactWal(file: string): Promise<void> {
  if (await isWalDamaged(file)) throw damagedWal(file);
}

/** Only damage that is found twice in the same place is not a write in progress. */
export async function isWalDamaged(file: string): Promise<boolean> {
  for (let before: string | undefined; ; await delay(SETTLING_MS)) {
    const found = damageIn(file);
    if (found === undefined || found === before) return found !== undefined;
    before = found;
  }
}

/** Identifies the place by round and frame. */
function damageIn(file: string): string | undefined {
  if ((stat(`${file}-wal`)?.size ?? 0) === 0) return undefined;
  try {
    const readIndex = indexReaderOf(`${file}-shm`); // before the log, so that the log holds everything that the index records
    return readingBytes(`${file}-wal`, (read) => {
      const header = walHeaderOf(read);
      if (header === undefined) return hasFrames(read) ? "header" : undefined;
      const broken = brokenAt(framesOf(read, header), header, committedFrames(readIndex, header));
      return broken === undefined ? undefined : `${header.salts.toString("hex")} ${broken}`;
    });
  } catch {
    return undefined; // unreadable or just removed: SQLite reports it
  }
}

/** The first invalid frame, if acknowledged data is lost with it. */
function brokenAt(frames: Iterable<WalFrame>, { salts }: WalHeader, committed = 0): number | undefined {
  let whole = 0;
  let before: WalFrame | undefined;
  for (const frame of frames) {
    const isCurrent = frame.salts.equals(salts);
    if (isCurrent && frame.isLinked) {
      if (before === undefined) whole += 1;
      else if (isCommit(before, salts)) return whole;
    }
    if (before !== undefined || !isCurrent || !frame.isLinked) before = frame;
  }
  return committed > whole ? whole : undefined;
}

/** The beginning of a torn frame may belong to an older round of the log, so only certain evidence counts. */
function isCommit({ committedPages, salts: its, isOfOneWrite }: WalFrame, salts: Buffer): boolean {
  return committedPages > 0 && its.equals(salts) && isOfOneWrite;
}

/** A snapshot of the index. Its locks would be dropped if a process that holds it closed it. */
function indexReaderOf(path: string): ReadBytes {
  const found = stat(path);
  const bytes =
    found === undefined || isOpenInThisProcess(found)
      ? Buffer.alloc(0)
      : readingBytes(path, (read) => read(0, 96));
  return (at, length) => bytes.subarray(at, at + length);
}

function damagedWal(path: string): HelmdeckError {
  return new HelmdeckError(
    "store_corrupt",
    `The log ${path}-wal of the memory database is damaged, so the most recent data in it cannot be read. Nothing was ` +
      "changed. Stop every process that uses the database, and restore a backup, or run `helmdeck-memory repair` to copy " +
      "everything that is still readable into a new database.",
    { details: { path } },
  );
}
