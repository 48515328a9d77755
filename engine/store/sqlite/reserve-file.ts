/**
 * A reserve file beside the database: on a full disk it is deleted to make room for a delete, and re-created when there is space.
 * It contains random bytes, because a file system may not allocate space for zeros.
 */
import { randomBytes } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, statfsSync, unlinkSync, writeSync } from "node:fs";
import { isFileError } from "../../private-file.ts";

/** Larger than the log's limit (checkpoint.ts): data that is only in the log must be checkpointed before anything else fits. */
const RESERVE_BYTES = 8 * 1_024 * 1_024;
const CHUNK_BYTES = 1_024 * 1_024;
/** Free space that must remain for others. */
const MIN_FREE_BYTES = 4 * RESERVE_BYTES;
const FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW;

export class ReserveFile {
  readonly #databasePath: string;
  readonly #path: string;
  #isDeleted = false;

  constructor(databasePath: string) {
    this.#databasePath = databasePath;
    this.#path = `${databasePath}-reserve.tmp`; // OpenClaw excludes this ending from its backups
  }

  /** Returns whether there was a reserve. */
  delete(): boolean {
    try {
      unlinkSync(this.#path);
      this.#isDeleted = true;
      return true;
    } catch (error) {
      if (isFileError(error, "ENOENT")) return false;
      throw error;
    }
  }

  /** Like {@link create}, if this process deleted it. */
  recreate(): void {
    if (this.#isDeleted) this.create();
    this.#isDeleted = false;
  }

  /** Creates the missing part, if there is room; `force`: even if little space is free. Never throws, because it is only a precaution. */
  create({ force = false } = {}): void {
    try {
      if (force || freeBytes(this.#databasePath) >= MIN_FREE_BYTES) this.#fill();
    } catch {
      // The next sweep retries.
    }
  }

  #fill(): void {
    const file = openSync(this.#path, FLAGS, 0o600);
    try {
      const missing = RESERVE_BYTES - fstatSync(file).size;
      const chunk = missing > 0 ? randomBytes(CHUNK_BYTES) : Buffer.alloc(0);
      for (let left = missing; left > 0; ) left -= writeSync(file, chunk, 0, Math.min(left, CHUNK_BYTES));
    } finally {
      closeSync(file);
    }
  }
}

/** Free space of this file's file system, for this account. */
export function freeBytes(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}
