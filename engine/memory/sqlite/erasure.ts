/**
 * Erasure: what a delete leaves in the file's bytes, and how it is got rid of.
 *
 * `secure_delete` zeroes a deleted row's place in its page. But in WAL mode the page as it was stands in the database
 * file, and older copies of it in the log, until the log is folded in and emptied. So a delete ends with a checkpoint that
 * does both. A reader in the middle of something keeps the log from being emptied: then erasure is pending, and the next
 * delete or sweep, or the last opener's close, completes it.
 */
import type { Erasure } from "../contract.ts";
import type { SqliteSession } from "./session.ts";

/** How long a delete waits for readers to finish; SQLite would otherwise wait the whole busy timeout. */
const PATIENCE_MS = 100;

/** Folds the log into the database and empties it, outside of any transaction. */
export function emptyLog(session: SqliteSession, busyTimeoutMs: number): Erasure["erased"] {
  return session.patiently(PATIENCE_MS, busyTimeoutMs, () => {
    try {
      return session.pragma("wal_checkpoint(TRUNCATE)") === 0 ? "complete" : "pending";
    } catch {
      // The rows are deleted and committed; a disk that fails now is no reason to say they were not.
      return "pending";
    }
  });
}
