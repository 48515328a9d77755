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
 */
import { setTimeout as delay } from "node:timers/promises";
import { HelmdeckError } from "../../errors.ts";
import { isOpenInThisProcess, stat } from "./file-watch.ts";
import { type ReadBytes, readingBytes } from "./read-bytes.ts";
import {
  committedFrames,
  framesOf,
  hasFrames,
  type WalFrame,
  type WalHeader,
  walHeaderOf,
} from "./wal-frames.ts";

/** A frame that another process was writing is complete by then. */
const SETTLING_MS = 5;

/** Throws `store_corrupt` when the log certainly lost acknowledged data. Changes nothing. */
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
