/**
 * Returns freed pages to the file system, in slices. A database of an older version keeps them for reuse until it is compacted.
 * That takes twice its size and blocks everybody, so it is only done automatically while the database is small.
 */
import { statSync } from "node:fs";
import { HelmdeckError } from "../../errors.ts";
import { freeBytes } from "./reserve-file.ts";
import type { SqliteSession } from "./sqlite-session.ts";

/** Fewer are not worth the work. */
const MIN_FREE_PAGES = 64;
const PAGES_AT_ONCE = 50;
const INCREMENTAL = 2;
/** Compacts in well under a tenth of a second. */
const SMALL_BYTES = 4 * 1_024 * 1_024;

/** For an empty file: call it before anything is written. */
export function enableIncrementalVacuum(session: SqliteSession): void {
  session.connection.exec("PRAGMA auto_vacuum = INCREMENTAL");
}

export function hasIncrementalVacuum(session: SqliteSession): boolean {
  return session.pragma("auto_vacuum") === INCREMENTAL;
}

export function hasFreePages(session: SqliteSession): boolean {
  return hasIncrementalVacuum(session) && Number(session.pragma("freelist_count")) > MIN_FREE_PAGES;
}

/** As many as time allows; call it in a write transaction. The file shrinks at the next checkpoint. */
export function releaseFreePages(session: SqliteSession, isOver: () => boolean): void {
  do session.connection.exec(`PRAGMA incremental_vacuum(${PAGES_AT_ONCE})`);
  while (!isOver() && hasFreePages(session));
}

/** Whether compacting takes no noticeable time. */
export function canCompactQuickly(session: SqliteSession): boolean {
  return (
    !hasIncrementalVacuum(session) &&
    bytesOf(session) <= SMALL_BYTES &&
    freeBytes(session.path) >= 2 * bytesOf(session)
  );
}

/**
 * Rewrites the database in one transaction; if killed, nothing has changed. Throws `store_full` when twice its size is not free.
 */
export function compact(session: SqliteSession): void {
  const needed = 2 * bytesOf(session);
  if (freeBytes(session.path) < needed) throw notEnoughSpace(session.path, needed);
  enableIncrementalVacuum(session);
  session.connection.exec("VACUUM");
}

/** Whether there is room to checkpoint the whole log; half a checkpoint would leave no room for anything. */
export function canCheckpoint(session: SqliteSession): boolean {
  return bytesOf(session) - statSync(session.path).size <= freeBytes(session.path);
}

function bytesOf(session: SqliteSession): number {
  return Number(session.pragma("page_count")) * Number(session.pragma("page_size"));
}

function notEnoughSpace(path: string, neededBytes: number): HelmdeckError {
  const mebibytes = Math.ceil(neededBytes / 1_048_576);
  return new HelmdeckError(
    "store_full",
    `To compact the memory database ${path}, ${mebibytes} MiB must be free beside it. Nothing was changed; free some space.`,
    { details: { path, neededBytes } },
  );
}
