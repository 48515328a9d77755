/**
 * Folding: the log written into the database and emptied, by us alone and never by SQLite on its own.
 *
 * It erases: `secure_delete` zeroes a deleted row's place in its page, but in WAL mode the page as it was stands in the database
 * file, and older copies of it in the log, until the log is folded in. So a delete ends with it. A reader in the middle of
 * something keeps the log from being emptied: then erasure is pending, and the next delete or sweep, or the last opener's
 * close, completes it.
 *
 * And it tells who wrote the database. Between two folds nobody does, so each fold announces the time that the file will bear
 * (its mtime) in a row of the log, folds that row in with all others, and sets the time. A database that bears another time was
 * written by something else, such as a backup copied over it.
 */
import { utimesSync } from "node:fs";
import type { Erasure } from "../memory-store.ts";
import type { SqliteSession } from "./sqlite-session.ts";
import { readStoreRow } from "./store-row.ts";

/** A log that holds more makes reading slow. SQLite's own measure is a thousand pages; a small write takes eight to eleven. */
const WRITES_OF_A_LOG = 80;
const LONG_LOG_BYTES = 1_000 * 4_120;
/** Long work folds so much itself: who writes next would have to do it, and wait. */
const SHARE_BYTES = LONG_LOG_BYTES / 8;
/** How long a delete waits for readers to finish; SQLite would otherwise wait the whole busy timeout. */
const PATIENCE_MS = 100;

export interface FoldOptions {
  /** What {@link announceFold} answered, in a transaction that has been committed. */
  readonly time: number;
  /** For readers who are in the middle of something. */
  readonly patienceMs?: number;
  /** Leaves the log's bytes where they are, for the next writes to go over: quicker than to let the file grow anew. */
  readonly keepsFile?: boolean;
}

/** Says at what time the database will have been folded; to be called in a write transaction, and followed by {@link fold}. */
export function announceFold(session: SqliteSession, lastTime: number): number {
  const time = Math.max(Date.now(), lastTime + 1);
  session.statement("UPDATE store SET folded_at = ?").run(time);
  return time;
}

/** Folds the log into the database and empties it, outside of any transaction. */
function fold(session: SqliteSession, options: FoldOptions): Erasure["erased"] {
  const { patienceMs = PATIENCE_MS, keepsFile = false } = options;
  try {
    return session.patiently(patienceMs, () => {
      session.pragma("wal_checkpoint(PASSIVE)"); // while others write; the next one, for which they wait, then has little to do
      const busy = session.pragma(`wal_checkpoint(${keepsFile ? "RESTART" : "TRUNCATE"})`);
      return busy === 0 ? "complete" : "pending";
    });
  } catch {
    // The rows are deleted and committed; a disk that fails now is no reason to say they were not.
    return "pending";
  } finally {
    bearTime(session.path, options.time);
  }
}

/** Sets the time of the file by its path: opening it would drop locks. Whoever may not is told apart by looking closer. */
export function bearTime(file: string, time: number): void {
  try {
    utimesSync(file, time / 1_000, time / 1_000);
  } catch {
    // Not the owner. The file then bears the time at which it was written.
  }
}

interface LogFolderParts {
  readonly session: SqliteSession;
  readonly guard: { readonly logBytes: number; acceptFold(): void };
}

/** Folds the log of an open store: when it has become long, and when something must be erased from it. */
export class LogFolder {
  readonly #parts: LogFolderParts;
  #erasurePending = false;
  /** Since the log was last folded in. */
  #writes = 0;
  /** A log that readers keep from being folded in is tried again when it has grown. */
  #foldFromBytes = LONG_LOG_BYTES;

  constructor(parts: LogFolderParts) {
    this.#parts = parts;
  }

  /** A transaction has been committed. */
  noteWrite(): void {
    this.#writes += 1;
    if (!this.#foldIfLong() && this.#writes >= WRITES_OF_A_LOG) this.#fold({ keepsFile: true });
  }

  /** To be called after each slice of long work. */
  foldShare(): void {
    if (this.#parts.guard.logBytes >= SHARE_BYTES) this.#fold({ keepsFile: false });
  }

  /** Answers whether it was. */
  #foldIfLong(): boolean {
    const { logBytes } = this.#parts.guard;
    if (logBytes < this.#foldFromBytes) return false;
    const folded = this.#fold({ keepsFile: false });
    this.#foldFromBytes = LONG_LOG_BYTES + (folded === "complete" ? 0 : logBytes);
    return true;
  }

  /** Something was taken out that the next erasure is to make sure of. */
  oweErasure(): void {
    this.#erasurePending = true;
  }

  /** What a killed process left in the log is to be erased as well. */
  includeOldLog(): void {
    this.#erasurePending ||= this.#parts.guard.logBytes > 0;
  }

  /** To be called in a write transaction; undefined when there is nothing to erase from the log. */
  announceErasure(isErased: boolean, lastTime: number): number | undefined {
    return isErased || this.#erasurePending ? announceFold(this.#parts.session, lastTime) : undefined;
  }

  /** So that nothing of what was erased is left; with the time that was announced. */
  finishErasure(time: number): Erasure["erased"] {
    const { session, guard } = this.#parts;
    const erased = fold(session, { time });
    guard.acceptFold();
    this.#erasurePending = erased === "pending";
    return erased;
  }

  /** On the way: what was written before is committed, and whoever writes next is told what stands in the way. */
  #fold({ keepsFile }: Required<Pick<FoldOptions, "keepsFile">>): Erasure["erased"] {
    const { session, guard } = this.#parts;
    this.#writes = 0;
    try {
      const time = session.write(() => announceFold(session, readStoreRow(session).foldedAt));
      const folded = fold(session, { time, patienceMs: 0, keepsFile });
      guard.acceptFold();
      return folded;
    } catch {
      return "pending";
    }
  }
}
