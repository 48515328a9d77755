/**
 * Reads a file's bytes by position, without SQLite. Only for a file that this process does not hold: closing it drops its locks.
 */
import { closeSync, openSync, readSync } from "node:fs";

/** Returns fewer bytes at the end of the file. */
export type ReadBytes = (at: number, length: number) => Buffer;

export function readingBytes<T>(path: string, work: (read: ReadBytes) => T): T {
  const descriptor = openSync(path, "r");
  try {
    return work((at, length) => {
      const buffer = Buffer.alloc(length);
      return buffer.subarray(0, readSync(descriptor, buffer, 0, length, at));
    });
  } finally {
    closeSync(descriptor);
  }
}
