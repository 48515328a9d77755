/**
 * Guards every operation of an open store: the open file is the file at its path, and nobody else has written it.
 *
 * The danger is anybody who moves, deletes, restores or overwrites the database of a running process, mostly by accident. Before
 * and after each write, and before each read, `file-watch.ts` checks the files; each write also reads the store's own row through
 * the open connection. A mismatch ends the store for good: nothing is acknowledged any more, and the caller reopens it. The same
 * happens after a failed sync, since nobody knows what reached the disk. Data that only this process's log holds is saved when
 * that is certainly safe.
 */
import { setTimeout as delay } from "node:timers/promises";
import { HelmdeckError } from "../../errors.ts";
import type { StoreIdentity } from "../memory-store.ts";
import { setFileTime } from "./checkpoint.ts";
import type { FileState, FileWatch } from "./file-watch.ts";
import { lastForget } from "./forgets.ts";
import type { SqliteDriver } from "./sqlite-driver.ts";
import { explainSqliteError } from "./sqlite-errors.ts";
import { SqliteSession } from "./sqlite-session.ts";
import { identityNamed, readStoreRow, type StoreRow } from "./store-row.ts";

export interface GuardParts {
  readonly session: SqliteSession;
  readonly driver: SqliteDriver;
  readonly watch: FileWatch;
  /** Absent in a file of an older schema, which is only read. */
  readonly row?: StoreRow;
  /** Read without locks: then not a byte may change. */
  readonly isImmutable?: boolean;
  /** Just found: its last writer is still unknown. */
  readonly isNew?: boolean;
}

/** By then another process's checkpoint is usually done; if not, the check of the whole file passes. */
const SETTLING_TRIES = 5;
const CHECKPOINT_TRIES = 500;
const SETTLING_MS = 4;
const RESCUE_BUSY_TIMEOUT_MS = 100;

export class StoreGuard {
  readonly #parts: GuardParts;
  #failure: HelmdeckError | undefined;
  /** The database's mtime, as far as it was explained. */
  #writtenAt: number;
  #logBytes: number;
  #lastSeq: number;
  #verifying: Promise<void> | undefined;

  constructor(parts: GuardParts) {
    this.#parts = parts;
    const state = parts.watch.state();
    this.#writtenAt = state.kind === "same" && parts.isNew !== true ? state.writtenAt : Number.NaN;
    this.#logBytes = state.kind === "same" ? state.logBytes : 0;
    this.#lastSeq = parts.row?.history.lastSeq ?? 0;
  }

  /**
   * Throws `store_replaced` when the open file is no longer the one at its path, and the error of a failed sync. False when an
   * unexplained write must first be examined by {@link verify}.
   */
  isInPlace(): boolean {
    if (this.#failure !== undefined && !this.#canReopen()) throw this.#failure;
    const { failedSync } = this.#parts.session;
    if (failedSync !== undefined) throw explainSqliteError(failedSync, this.#path);
    const state = this.#parts.watch.state();
    if (state.kind === "other") throw this.#end(state);
    if (this.#parts.isImmutable === true && this.#hasMoved(state)) throw this.#fail(changed(this.#path));
    this.#logBytes = state.logBytes;
    return state.writtenAt === this.#writtenAt;
  }

  get identity(): StoreIdentity | undefined {
    const { row } = this.#parts;
    return row && identityNamed(row.identity);
  }

  get isHealthy(): boolean {
    return this.#failure === undefined && this.#parts.session.failedSync === undefined;
  }

  /** The log's size at the last check. */
  get logBytes(): number {
    return this.#logBytes;
  }

  /** Our own checkpoint has written the database. */
  acceptCheckpoint(): void {
    this.#writtenAt = this.#parts.watch.writtenAt();
  }

  /** Call it in a write transaction: requires that the row is of the opened store and has not gone back in time. */
  requireSame(row: StoreRow): void {
    const isSame = row.identity === this.#parts.row?.identity && row.history.lastSeq >= this.#lastSeq;
    if (!isSame) throw this.#fail(otherHistory(this.#path));
    this.#lastSeq = row.history.lastSeq;
  }

  /** Records our own committed write. */
  noteLastSeq(lastSeq: number): void {
    this.#lastSeq = lastSeq;
  }

  /** Finds out who wrote the database. Throws `store_corrupt` when it no longer matches its log, or went back in time. */
  verify(): Promise<void> {
    this.#verifying ??= this.#verify().finally(() => {
      this.#verifying = undefined;
    });
    return this.#verifying;
  }

  /** Closes without checkpointing a log into a database that it may no longer belong to. */
  async close(): Promise<void> {
    const { session, driver, watch } = this.#parts;
    await this.#verifying?.catch(() => undefined);
    if (this.#failure === undefined || !watch.isDatabaseSame()) return session.connection.close();
    // SQLite checkpoints when the last connection closes. A second, read-only connection keeps this one from being the last.
    const other = await driver.open(session.path, "read").catch(() => undefined);
    try {
      other?.exec("BEGIN");
      other?.prepare("SELECT count(*) FROM sqlite_schema").get();
    } catch {
      // It does not read damaged data; only its lock matters.
    }
    session.connection.close();
    other?.close();
  }

  /** The overwritten file was replaced by another, which will be opened without this log. */
  #canReopen(): boolean {
    return this.#failure?.code === "store_corrupt" && !this.#parts.watch.isDatabaseSame();
  }

  get #path(): string {
    return this.#parts.session.path;
  }

  #hasMoved(state: Extract<FileState, { kind: "same" }>): boolean {
    return state.writtenAt !== this.#writtenAt || state.logBytes !== this.#logBytes;
  }

  async #verify(): Promise<void> {
    for (let tried = 0; tried < SETTLING_TRIES || this.#isBeingCheckpointed(tried); tried += 1) {
      if (this.#isExplained()) return;
      await delay(SETTLING_MS);
      this.isInPlace();
    }
    const { driver, session, watch } = this.#parts;
    const writtenAt = watch.writtenAt();
    const before = readRow(session).history.lastSeq;
    const fresh = await readIntactStoreRow(driver, session.path);
    if (fresh === undefined || !this.#isContinued(fresh)) throw this.#fail(overwritten(session.path));
    // Both ways of reading give the same history, so this connection's cache is still right. Others continue to write.
    const { lastSeq } = fresh.history;
    if (before > lastSeq || readRow(session).history.lastSeq < lastSeq)
      throw this.#fail(otherHistory(session.path));
    if (watch.writtenAt() !== writtenAt) return; // by another write meanwhile, which the next call examines
    setFileTime(session.path, fresh.checkpointedAt);
    this.acceptCheckpoint();
  }

  /** Another process has announced a checkpoint that has not reached the database: on a slow disk it is still running. */
  #isBeingCheckpointed(tried: number): boolean {
    return tried < CHECKPOINT_TRIES && readRow(this.#parts.session).checkpointedAt > this.#writtenAt;
  }

  /** The database has the announced mtime: another process has checkpointed. Or there is no log that it must match. */
  #isExplained(): boolean {
    const { session, watch, row } = this.#parts;
    const writtenAt = watch.writtenAt();
    const isExplained =
      row === undefined ||
      (this.#parts.isNew && !watch.hasLog()) ||
      writtenAt === readRow(session).checkpointedAt;
    if (isExplained) this.#writtenAt = writtenAt;
    return writtenAt === this.#writtenAt;
  }

  #isContinued(fresh: StoreRow): boolean {
    return fresh.identity === this.#parts.row?.identity && fresh.history.lastSeq >= this.#lastSeq;
  }

  /** Reports that the file is gone from its path, after saving data that only the log holds. */
  #end(state: Extract<FileState, { kind: "other" }>): HelmdeckError {
    const { watch } = this.#parts;
    const isSame = watch.isDatabaseSame();
    const lostFile = isSame ? undefined : watch.lostFile();
    if (isSame ? this.#mayRescue(state) : watch.isLogUntouched()) this.#emptyWal();
    const failure = isSame ? walLost(this.#path) : gone(this.#path, state.isThere, lostFile ?? "deleted");
    return this.#fail(failure);
  }

  /**
   * The log was removed from a database that is still in place, so only we have its content. True only if nobody has written
   * since, to the database or to another log.
   */
  #mayRescue({ part }: Extract<FileState, { kind: "other" }>): boolean {
    const { watch } = this.#parts;
    if (watch.writtenAt() !== this.#writtenAt) return false;
    return part === "index" ? watch.isLogUntouched() : !watch.hasLog();
  }

  /** Into the connection's file, wherever it is now. */
  #emptyWal(): void {
    const { session, watch, row } = this.#parts;
    try {
      session.connection.exec(`PRAGMA busy_timeout = ${RESCUE_BUSY_TIMEOUT_MS}`);
      session.pragma("wal_checkpoint(TRUNCATE)");
      if (row !== undefined && watch.isDatabaseSame())
        setFileTime(session.path, readRow(session).checkpointedAt);
    } catch {
      // A failed attempt is no worse than none.
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

const GO_ON = "This connection no longer reads or writes; the next one uses the current file.";

function gone(path: string, isThere: boolean, lostFile: "moved" | "deleted"): HelmdeckError {
  const remedy =
    lostFile === "moved" ? "Put it back, or stop every process that uses it and start over." : GO_ON;
  const what = isThere ? "another file is in its place" : `it was ${lostFile}`;
  return replaced(path, `is no longer the opened file: ${what}. ${remedy}`, isThere ? "other" : lostFile);
}

function walLost(path: string): HelmdeckError {
  return replaced(path, `has lost its log (-wal, -shm), which was deleted or replaced. ${GO_ON}`, "log");
}

function otherHistory(path: string): HelmdeckError {
  return replaced(
    path,
    `has a different history than when it was opened; it was probably replaced by a backup. ${GO_ON}`,
    "other",
  );
}

function changed(path: string): HelmdeckError {
  return replaced(path, `has changed while it was open read-only. ${GO_ON}`, "other");
}

function replaced(path: string, says: string, now: "moved" | "deleted" | "log" | "other"): HelmdeckError {
  return new HelmdeckError("store_replaced", `The memory database ${path} ${says}`, {
    details: { path, now },
  });
}

/** Replaced while it was being opened; a retry finds the new file. */
export function replacedAtOpen(path: string): HelmdeckError {
  return replaced(path, "was replaced while it was being opened. Try again.", "other");
}

/** Migrated by another process while this one had it open. */
export function migratedByOther(path: string): HelmdeckError {
  return replaced(path, `was migrated by another process. ${GO_ON}`, "other");
}

function overwritten(path: string): HelmdeckError {
  return new HelmdeckError(
    "store_corrupt",
    `The memory database ${path} was overwritten while it was open: it no longer matches its log. Stop every process that uses ` +
      "it, move the file with its -wal and -shm files aside, and restore a backup.",
    { details: { path } },
  );
}

/**
 * Checks whether a database and its log belong together. Runs when something wrote the file without announcing it
 * (`checkpoint.ts`), such as a backup copied over it while it was open.
 *
 * Reads the store's own row from database and log; undefined if they are damaged because the log belongs to another database.
 * Reads the whole file.
 */
async function readIntactStoreRow(driver: SqliteDriver, path: string): Promise<StoreRow | undefined> {
  if (!(await driver.isWhole(path))) return undefined;
  const connection = await driver.open(path, "read");
  try {
    const session = new SqliteSession(connection, path);
    return session.read(() => {
      const row = readStoreRow(session);
      return hasLastChange(session, row) ? row : undefined;
    });
  } catch {
    return undefined;
  } finally {
    connection.close();
  }
}

/** Every write leaves an entry, a removal or a delete with the last number. */
function hasLastChange(session: SqliteSession, { history }: StoreRow): boolean {
  const newest = (table: "entries" | "removals"): number =>
    Number(session.statement(`SELECT max(seq) AS seq FROM ${table}`).get()?.seq);
  return (
    Math.max(newest("entries"), newest("removals"), lastForget(session), history.prunedThrough) ===
    history.lastSeq
  );
}
