/**
 * Checkpoints: copies the write-ahead log into the database and empties it. SQLite's automatic checkpoints are off; only this
 * module checkpoints.
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
const MAX_WRITES_IN_WAL = 80;
const LONG_WAL_BYTES = 1_000 * 4_120;
/** Long work checkpoints this much itself: otherwise the next writer would have to, and wait. */
const SLICE_WAL_BYTES = LONG_WAL_BYTES / 8;
/** How long a delete waits for readers to finish; SQLite would otherwise wait the whole busy timeout. */
const READER_WAIT_MS = 100;

export interface CheckpointOptions {
  /** The result of {@link announceCheckpoint}, in a committed transaction. */
  readonly time: number;
  /** For active readers. */
  readonly busyTimeoutMs?: number;
  /** Keeps the log file's size, for reuse by the next writes: faster than growing it again. */
  readonly keepsFile?: boolean;
}

/** Announces the database's mtime after the checkpoint; call it in a write transaction, followed by {@link checkpoint}. */
export function announceCheckpoint(session: SqliteSession, lastTime: number): number {
  const time = Math.max(Date.now(), lastTime + 1);
  session.statement("UPDATE store SET folded_at = ?").run(time);
  return time;
}

/** Checkpoints the log and empties it, outside of any transaction. */
function checkpoint(session: SqliteSession, options: CheckpointOptions): Erasure["erased"] {
  const { busyTimeoutMs = READER_WAIT_MS, keepsFile = false } = options;
  try {
    return session.withBusyTimeout(busyTimeoutMs, () => {
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

interface CheckpointerParts {
  /** There is no log: a commit erases. */
  readonly isInMemory?: boolean;
  readonly session: SqliteSession;
  readonly guard: { readonly logBytes: number; acceptCheckpoint(): void };
}

/** Checkpoints an open store: when its log is long, and when something must be erased from it. */
export class Checkpointer {
  readonly #parts: CheckpointerParts;
  #erasurePending = false;
  /** Since the last checkpoint. */
  #writes = 0;
  /** A log that readers keep from being checkpointed is retried when it has grown. */
  #checkpointFromBytes = LONG_WAL_BYTES;

  constructor(parts: CheckpointerParts) {
    this.#parts = parts;
  }

  /** Call it after a commit. */
  noteWrite(): void {
    if (this.#parts.isInMemory) return;
    this.#writes += 1;
    if (!this.#checkpointIfLong() && this.#writes >= MAX_WRITES_IN_WAL) this.#checkpoint({ keepsFile: true });
  }

  /** Call it after each slice of long work. */
  checkpointBetweenSlices(): void {
    if (this.#parts.guard.logBytes >= SLICE_WAL_BYTES) this.#checkpoint({ keepsFile: false });
  }

  /** Returns whether it did. */
  #checkpointIfLong(): boolean {
    const { logBytes } = this.#parts.guard;
    if (logBytes < this.#checkpointFromBytes) return false;
    const result = this.#checkpoint({ keepsFile: false });
    this.#checkpointFromBytes = LONG_WAL_BYTES + (result === "complete" ? 0 : logBytes);
    return true;
  }

  /** Records that the next erasure must cover something that was removed earlier. */
  requireErasure(): void {
    this.#erasurePending = true;
  }

  /** Also erases what a killed process left in the log. */
  includeOldLog(): void {
    this.#erasurePending ||= this.#parts.guard.logBytes > 0;
  }

  /** Call it in a write transaction; undefined when there is nothing to erase from the log. */
  announceErasure(isErased: boolean, lastTime: number): number | undefined {
    if (this.#parts.isInMemory) return undefined;
    return isErased || this.#erasurePending ? announceCheckpoint(this.#parts.session, lastTime) : undefined;
  }

  /** Completes the erasure, with the announced time. */
  finishErasure(time: number): Erasure["erased"] {
    const { session, guard } = this.#parts;
    const erased = checkpoint(session, { time });
    guard.acceptCheckpoint();
    this.#erasurePending = erased === "pending";
    return erased;
  }

  /** Never throws: if something prevents the checkpoint, the next writer gets the error. */
  #checkpoint({ keepsFile }: Required<Pick<CheckpointOptions, "keepsFile">>): Erasure["erased"] {
    const { session, guard } = this.#parts;
    this.#writes = 0;
    try {
      const time = session.write(() => announceCheckpoint(session, readStoreRow(session).checkpointedAt));
      const result = checkpoint(session, { time, busyTimeoutMs: 0, keepsFile });
      guard.acceptCheckpoint();
      return result;
    } catch {
      return "pending";
    }
  }
}
