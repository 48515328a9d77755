/**
 * Whether a log is damaged, or only ends where a crash ended it: looked at before SQLite opens it, which ends a log at the first frame
 * that is not as it was written, and says nothing.
 *
 * Who attacks: mishap, such as a bad sector, or a copy that lost a piece. What a crash leaves by right: the frames of one transaction
 * that was never acknowledged, some of them missing, perhaps behind shorter ones that another process wrote over their beginning.
 * So two things are evidence, and neither can come about by a crash, since a commit is synced before the next one begins, and before
 * the index tells of it:
 * - a frame behind the break that was written right after a commit there: that transaction was complete;
 * - an index, left by a killed process, that knows of more committed frames of this log than are whole.
 * And a header is synced before the first frame is written, so a log with frames has a whole one.
 *
 * What stays unnoticed where the index is gone as well (a power cut, a copy of the other two files): damage to the last transaction,
 * and a log that was cut short at its end. Both look like a crash in the last transaction.
 */
import { setTimeout as delay } from "node:timers/promises";
import { HelmdeckError } from "../../errors.ts";
import { isHeldHere, stat } from "./file-watch.ts";
import {
  committedFrames,
  framesOf,
  hasFrames,
  type LogFrame,
  type LogHeader,
  logHeaderOf,
} from "./log-frames.ts";
import { type ReadBytes, readingBytes } from "./read-bytes.ts";

/** A frame that another process was writing when it was read is whole by then. */
const SETTLING_MS = 5;

/** Throws `store_corrupt` when the log beside the database certainly lost something that was acknowledged. Changes nothing. */
export async function requireSoundLog(file: string): Promise<void> {
  if (await isLogDamaged(file)) throw damagedLog(file);
}

/** Only what is found twice, in the same place, is not somebody at work. */
export async function isLogDamaged(file: string): Promise<boolean> {
  for (let before: string | undefined; ; await delay(SETTLING_MS)) {
    const found = damageIn(file);
    if (found === undefined || found === before) return found !== undefined;
    before = found;
  }
}

/** Names the place, by round and frame. */
function damageIn(file: string): string | undefined {
  if ((stat(`${file}-wal`)?.size ?? 0) === 0) return undefined;
  try {
    const readIndex = indexReaderOf(`${file}-shm`); // before the log: what it tells of is there
    return readingBytes(`${file}-wal`, (read) => {
      const header = logHeaderOf(read);
      if (header === undefined) return hasFrames(read) ? "header" : undefined;
      const broken = brokenAt(framesOf(read, header), header, committedFrames(readIndex, header));
      return broken === undefined ? undefined : `${header.salts.toString("hex")} ${broken}`;
    });
  } catch {
    return undefined; // what may not be read, or is just gone, is for SQLite to refuse
  }
}

/** The first frame that is not as it was written, if something acknowledged is lost with it. */
function brokenAt(frames: Iterable<LogFrame>, { salts }: LogHeader, committed = 0): number | undefined {
  let whole = 0;
  let before: LogFrame | undefined;
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

/** Of a torn frame, whose beginning may be of an older round of the log, only what is certain counts. */
function isCommit({ committedPages, salts: its, isOfOneWrite }: LogFrame, salts: Buffer): boolean {
  return committedPages > 0 && its.equals(salts) && isOfOneWrite;
}

/** The index as it was at one moment. Its locks are dropped when a process that holds it closes it. */
function indexReaderOf(path: string): ReadBytes {
  const found = stat(path);
  const bytes =
    found === undefined || isHeldHere(found) ? Buffer.alloc(0) : readingBytes(path, (read) => read(0, 96));
  return (at, length) => bytes.subarray(at, at + length);
}

function damagedLog(path: string): HelmdeckError {
  return new HelmdeckError(
    "store_corrupt",
    `The log ${path}-wal of the memory database is damaged: what was stored last is in it, and cannot be read as it is. Nothing was ` +
      "changed. Stop every process that uses the database, and restore a backup, or let `helmdeck-memory repair` write " +
      "all that can still be read into a new one.",
    { details: { path } },
  );
}
