/**
 * Checkpoints: writes the log into the database and empties it. Only this module does it, never SQLite on its own.
 *
 * A checkpoint completes erasure. `secure_delete` zeroes a deleted row in its page, but in WAL mode the old page remains in the
 * database file, and older copies in the log, until a checkpoint. So a delete ends with one. An active reader keeps the log from
 * being emptied: then erasure is pending, and the next delete or sweep, or the last close, completes it.
 *
 * A checkpoint also shows who wrote the database file. Between two checkpoints nobody does, so each one announces the file's
 * future mtime in a row of the log, writes that row with all others, and sets the mtime. A database with another mtime was
 * written by something else, such as a backup copied over it.
 */
import { utimesSync } from "node:fs";
import type { Erasure } from "../memory-store.ts";
import type { SqliteSession } from "./sqlite-session.ts";
import { readStoreRow } from "./store-row.ts";

/** A longer log makes reading slow. SQLite's default is a thousand pages; a small write takes eight to eleven. */
const WRITES_OF_A_LOG = 80;
const LONG_LOG_BYTES = 1_000 * 4_120;
/** Long work checkpoints this much itself: otherwise the next writer would have to, and wait. */
const SHARE_BYTES = LONG_LOG_BYTES / 8;
/** How long a delete waits for readers to finish; SQLite would otherwise wait the whole busy timeout. */
const PATIENCE_MS = 100;

export interface FoldOptions {
  /** The result of {@link announceFold}, in a committed transaction. */
  readonly time: number;
  /** For active readers. */
  readonly patienceMs?: number;
  /** Keeps the log file's size, for reuse by the next writes: faster than growing it again. */
  readonly keepsFile?: boolean;
}

/** Announces the database's mtime after the checkpoint; call it in a write transaction, followed by {@link fold}. */
export function announceFold(session: SqliteSession, lastTime: number): number {
  const time = Math.max(Date.now(), lastTime + 1);
  session.statement("UPDATE store SET folded_at = ?").run(time);
  return time;
}

/** Checkpoints the log and empties it, outside of any transaction. */
function fold(session: SqliteSession, options: FoldOptions): Erasure["erased"] {
  const { patienceMs = PATIENCE_MS, keepsFile = false } = options;
  try {
    return session.patiently(patienceMs, () => {
      session.pragma("wal_checkpoint(PASSIVE)"); // while others can write; the blocking one then has little to do
      const busy = session.pragma(`wal_checkpoint(${keepsFile ? "RESTART" : "TRUNCATE"})`);
      return busy === 0 ? "complete" : "pending";
    });
  } catch {
    // The rows are deleted and committed, even if the disk fails now.
    return "pending";
  } finally {
    setFileTime(session.path, options.time);
  }
}

/** Sets the file's mtime by its path: opening it would drop locks. If that is not allowed, a closer check decides later. */
export function setFileTime(file: string, time: number): void {
  try {
    utimesSync(file, time / 1_000, time / 1_000);
  } catch {
    // Not the owner. The file keeps the mtime of its last write.
  }
}

interface LogFolderParts {
  readonly session: SqliteSession;
  readonly guard: { readonly logBytes: number; acceptFold(): void };
}

/** Checkpoints an open store: when its log is long, and when something must be erased from it. */
export class LogFolder {
  readonly #parts: LogFolderParts;
  #erasurePending = false;
  /** Since the last checkpoint. */
  #writes = 0;
  /** A log that readers keep from being checkpointed is retried when it has grown. */
  #foldFromBytes = LONG_LOG_BYTES;

  constructor(parts: LogFolderParts) {
    this.#parts = parts;
  }

  /** Call it after a commit. */
  noteWrite(): void {
    this.#writes += 1;
    if (!this.#foldIfLong() && this.#writes >= WRITES_OF_A_LOG) this.#fold({ keepsFile: true });
  }

  /** Call it after each slice of long work. */
  foldShare(): void {
    if (this.#parts.guard.logBytes >= SHARE_BYTES) this.#fold({ keepsFile: false });
  }

  /** Returns whether it did. */
  #foldIfLong(): boolean {
    const { logBytes } = this.#parts.guard;
    if (logBytes < this.#foldFromBytes) return false;
    const folded = this.#fold({ keepsFile: false });
    this.#foldFromBytes = LONG_LOG_BYTES + (folded === "complete" ? 0 : logBytes);
    return true;
  }

  /** Records that the next erasure must cover something that was removed earlier. */
  oweErasure(): void {
    this.#erasurePending = true;
  }

  /** Also erases what a killed process left in the log. */
  includeOldLog(): void {
    this.#erasurePending ||= this.#parts.guard.logBytes > 0;
  }

  /** Call it in a write transaction; undefined when there is nothing to erase from the log. */
  announceErasure(isErased: boolean, lastTime: number): number | undefined {
    return isErased || this.#erasurePending ? announceFold(this.#parts.session, lastTime) : undefined;
  }

  /** Completes the erasure, with the announced time. */
  finishErasure(time: number): Erasure["erased"] {
    const { session, guard } = this.#parts;
    const erased = fold(session, { time });
    guard.acceptFold();
    this.#erasurePending = erased === "pending";
    return erased;
  }

  /** Earlier writes are checkpointed on the way, and the next writer learns of any obstacle. */
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
