/**
 * A file beside the database that does nothing but hold space: on a full disk it is given up, so that something can be forgotten.
 * It is made again when there is room. It holds random bytes, since a file system may store others as nothing.
 */
import { randomBytes } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, statfsSync, unlinkSync, writeSync } from "node:fs";
import { isFileError } from "../private-file.ts";

/** More than the log grows to (fold-log.ts): what lies in the log alone must go into the database before anything else fits. */
const RESERVE_BYTES = 8 * 1_024 * 1_024;
const CHUNK_BYTES = 1_024 * 1_024;
/** What must be left for others. */
const ROOM_BYTES = 4 * RESERVE_BYTES;
const FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW;

export class Reserve {
  readonly #databasePath: string;
  readonly #path: string;
  #isGivenUp = false;

  constructor(databasePath: string) {
    this.#databasePath = databasePath;
    this.#path = `${databasePath}-reserve.tmp`; // OpenClaw leaves what ends so out of its backups
  }

  /** True when there was something to give up. */
  giveUp(): boolean {
    try {
      unlinkSync(this.#path);
      this.#isGivenUp = true;
      return true;
    } catch (error) {
      if (isFileError(error, "ENOENT")) return false;
      throw error;
    }
  }

  /** As {@link make}, if this process gave it up. */
  makeAgain(): void {
    if (this.#isGivenUp) this.make();
    this.#isGivenUp = false;
  }

  /** Makes what is missing, if there is room; `takeBack`: as far as it goes. Never throws: it is a precaution. */
  make({ takeBack = false } = {}): void {
    try {
      if (takeBack || freeBytes(this.#databasePath) >= ROOM_BYTES) this.#fill();
    } catch {
      // The next sweep tries again.
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

/** On the file system of this file, for this account. */
export function freeBytes(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}
