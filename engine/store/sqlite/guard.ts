/**
 * Stands before everything that an open store does: the file that is open is the file at its path, and nobody else wrote it.
 *
 * Who attacks: whoever moves, deletes, restores or overwrites the database of a running process, mostly by mishap. What stops
 * them: before and after each write, and before each read, `file-watch.ts` looks where the files are; each write also reads the
 * store's own row through the open connection. What does not fit ends the store for good: nothing is acknowledged any longer,
 * and whoever wants to go on opens it again. So it is after a failed sync, since nobody knows what of it is on the disk. What a
 * process had in its log is brought to safety where that is certainly right.
 */
import { setTimeout as delay } from "node:timers/promises";
import { HelmdeckError } from "../../errors.ts";
import type { StoreIdentity } from "../memory-store.ts";
import type { FileWatch, Place } from "./file-watch.ts";
import { bearTime } from "./fold-log.ts";
import { readWhole } from "./soundness.ts";
import type { SqliteDriver } from "./sqlite-driver.ts";
import { explainSqliteError } from "./sqlite-errors.ts";
import type { SqliteSession } from "./sqlite-session.ts";
import { identityNamed, readStoreRow, type StoreRow } from "./store-row.ts";

export interface GuardParts {
  readonly session: SqliteSession;
  readonly driver: SqliteDriver;
  readonly watch: FileWatch;
  /** Absent in a file of an older schema, which is only read. */
  readonly row?: StoreRow;
  /** Read without locks: then not a byte may change. */
  readonly isStill?: boolean;
  /** Just found: who wrote it last is not known yet. */
  readonly isNew?: boolean;
}

/** Another process that folds is done by then, as a rule; where it is not, the look at the whole file finds it sound. */
const SETTLING_TRIES = 5;
const FOLDING_TRIES = 500;
const SETTLING_MS = 4;
const RESCUE_PATIENCE_MS = 100;

export class StoreGuard {
  readonly #parts: GuardParts;
  #failure: HelmdeckError | undefined;
  /** The time that the database bears, as far as it was explained. */
  #writtenAt: number;
  #logBytes: number;
  #lastSeq: number;
  #verifying: Promise<void> | undefined;

  constructor(parts: GuardParts) {
    this.#parts = parts;
    const place = parts.watch.place();
    this.#writtenAt = place.kind === "same" && parts.isNew !== true ? place.writtenAt : Number.NaN;
    this.#logBytes = place.kind === "same" ? place.logBytes : 0;
    this.#lastSeq = parts.row?.history.lastSeq ?? 0;
  }

  /**
   * Throws `store_replaced` when the open file is no longer the one at its path, and what a sync failed with. False when the database was written by
   * something that must be explained by {@link verify} first.
   */
  isInPlace(): boolean {
    if (this.#failure !== undefined && !this.#isHealable()) throw this.#failure;
    const { failedSync } = this.#parts.session;
    if (failedSync !== undefined) throw explainSqliteError(failedSync, this.#path);
    const place = this.#parts.watch.place();
    if (place.kind === "other") throw this.#end(place);
    if (this.#parts.isStill === true && this.#hasMoved(place)) throw this.#fail(changed(this.#path));
    this.#logBytes = place.logBytes;
    return place.writtenAt === this.#writtenAt;
  }

  get identity(): StoreIdentity | undefined {
    const { row } = this.#parts;
    return row && identityNamed(row.identity);
  }

  get isHealthy(): boolean {
    return this.#failure === undefined && this.#parts.session.failedSync === undefined;
  }

  /** Of the log, when it was last looked at. */
  get logBytes(): number {
    return this.#logBytes;
  }

  /** Our own fold has written the database. */
  acceptFold(): void {
    this.#writtenAt = this.#parts.watch.writtenAt();
  }

  /** In a write transaction: the row is of the store that was opened, and has not gone back in time. */
  requireSame(row: StoreRow): void {
    const isSame = row.identity === this.#parts.row?.identity && row.history.lastSeq >= this.#lastSeq;
    if (!isSame) throw this.#fail(exchanged(this.#path));
    this.#lastSeq = row.history.lastSeq;
  }

  /** A write of ours has been committed. */
  noteLastSeq(lastSeq: number): void {
    this.#lastSeq = lastSeq;
  }

  /** Finds out who wrote the database. Throws `store_corrupt` when it no longer belongs to its log, or went back in time. */
  verify(): Promise<void> {
    this.#verifying ??= this.#verify().finally(() => {
      this.#verifying = undefined;
    });
    return this.#verifying;
  }

  /** Closes without folding a log into a database that it may no longer belong to. */
  async close(): Promise<void> {
    const { session, driver, watch } = this.#parts;
    if (this.#failure === undefined || !watch.isDatabaseSame()) return session.connection.close();
    // SQLite folds when the last connection closes. A second one that cannot write keeps it from being the last.
    const other = await driver.open(session.path, "read").catch(() => undefined);
    try {
      other?.exec("BEGIN");
      other?.prepare("SELECT count(*) FROM sqlite_schema").get();
    } catch {
      // It does not read what is damaged; its lock is what counts.
    }
    session.connection.close();
    other?.close();
  }

  /** The overwritten file was exchanged for another: who opens that one finds it without the log of this one. */
  #isHealable(): boolean {
    return this.#failure?.code === "store_corrupt" && !this.#parts.watch.isDatabaseSame();
  }

  get #path(): string {
    return this.#parts.session.path;
  }

  #hasMoved(place: Extract<Place, { kind: "same" }>): boolean {
    return place.writtenAt !== this.#writtenAt || place.logBytes !== this.#logBytes;
  }

  async #verify(): Promise<void> {
    for (let tried = 0; tried < SETTLING_TRIES || this.#isBeingFolded(tried); tried += 1) {
      if (this.#isExplained()) return;
      await delay(SETTLING_MS);
      this.isInPlace();
    }
    const { driver, session } = this.#parts;
    const connection = await driver.open(session.path, "read");
    try {
      const before = readRow(session).history.lastSeq;
      const fresh = readWhole(connection, session.path);
      if (fresh === undefined || !this.#isContinued(fresh)) throw this.#fail(overwritten(session.path));
      // The same history by both ways of reading, so what this connection remembers of the file is still true. Others go on writing.
      const { lastSeq } = fresh.history;
      if (before > lastSeq || readRow(session).history.lastSeq < lastSeq)
        throw this.#fail(exchanged(session.path));
      bearTime(session.path, fresh.foldedAt);
      this.acceptFold();
    } finally {
      connection.close();
    }
  }

  /** Another process has announced a fold that the database does not bear yet: on a slow disk it is at work. */
  #isBeingFolded(tried: number): boolean {
    return tried < FOLDING_TRIES && readRow(this.#parts.session).foldedAt > this.#writtenAt;
  }

  /** The database bears the time that was announced: another process has folded. Or there is no log that it must fit. */
  #isExplained(): boolean {
    const { session, watch, row } = this.#parts;
    const writtenAt = watch.writtenAt();
    const isExplained =
      row === undefined || (this.#parts.isNew && !watch.hasLog()) || writtenAt === readRow(session).foldedAt;
    if (isExplained) this.#writtenAt = writtenAt;
    return writtenAt === this.#writtenAt;
  }

  #isContinued(fresh: StoreRow): boolean {
    return fresh.identity === this.#parts.row?.identity && fresh.history.lastSeq >= this.#lastSeq;
  }

  /** The file is gone from its path: says so, once what lies in the log alone is where it belongs. */
  #end(place: Extract<Place, { kind: "other" }>): HelmdeckError {
    const { watch } = this.#parts;
    const isSame = watch.isDatabaseSame();
    const lostFile = isSame ? undefined : watch.lostFile();
    if (isSame ? this.#mayRescue(place) : watch.isLogUntouched()) this.#emptyLog();
    const failure = isSame ? logGone(this.#path) : gone(this.#path, place.isThere, lostFile ?? "deleted");
    return this.#fail(failure);
  }

  /**
   * The log was taken away from a database that is still in place: nobody but us has what it held. But only if nobody has
   * written since, into the database or a log of his own.
   */
  #mayRescue({ part }: Extract<Place, { kind: "other" }>): boolean {
    const { watch } = this.#parts;
    if (watch.writtenAt() !== this.#writtenAt) return false;
    return part === "index" ? watch.isLogUntouched() : !watch.hasLog();
  }

  /** Into the file that this connection has open, wherever that is now. */
  #emptyLog(): void {
    const { session, watch, row } = this.#parts;
    try {
      session.connection.exec(`PRAGMA busy_timeout = ${RESCUE_PATIENCE_MS}`);
      session.pragma("wal_checkpoint(TRUNCATE)");
      if (row !== undefined && watch.isDatabaseSame()) bearTime(session.path, readRow(session).foldedAt);
    } catch {
      // What could not be done is no worse than not having tried.
    }
  }

  #fail(failure: HelmdeckError): HelmdeckError {
    this.#failure = failure;
    return failure;
  }
}

function readRow(session: SqliteSession): StoreRow {
  return session.read(() => readStoreRow(session));
}

const GO_ON = "Nothing more is read or written through this opening; the next one finds what is there now.";

function gone(path: string, isThere: boolean, lostFile: "moved" | "deleted"): HelmdeckError {
  const remedy =
    lostFile === "moved" ? "Put it back, or stop every process that uses it and start anew." : GO_ON;
  const what = isThere ? "another file is in its place" : `it was ${lostFile}`;
  return replaced(
    path,
    `is no longer the file that was opened: ${what}. ${remedy}`,
    isThere ? "other" : lostFile,
  );
}

function logGone(path: string): HelmdeckError {
  return replaced(path, `has lost its log (-wal, -shm): somebody deleted or exchanged it. ${GO_ON}`, "log");
}

function exchanged(path: string): HelmdeckError {
  return replaced(
    path,
    `holds another history than when it was opened: a backup was put in its place. ${GO_ON}`,
    "other",
  );
}

function changed(path: string): HelmdeckError {
  return replaced(path, `has changed while it could only be read. ${GO_ON}`, "other");
}

function replaced(path: string, says: string, now: "moved" | "deleted" | "log" | "other"): HelmdeckError {
  return new HelmdeckError("store_replaced", `The memory database ${path} ${says}`, {
    details: { path, now },
  });
}

/** While it was being opened; whoever tries again finds what is there then. */
export function exchangedAtOpen(path: string): HelmdeckError {
  return replaced(path, "was exchanged while it was being opened. Try again.", "other");
}

/** By another process, while this one had it open as it was. */
export function broughtUpToDate(path: string): HelmdeckError {
  return replaced(path, `was brought up to date by another process. ${GO_ON}`, "other");
}

function overwritten(path: string): HelmdeckError {
  return new HelmdeckError(
    "store_corrupt",
    `The memory database ${path} was overwritten while it was open: it no longer fits its log. Stop every process that uses ` +
      "it, move the file with its -wal and -shm aside, and put a backup in its place.",
    { details: { path } },
  );
}
