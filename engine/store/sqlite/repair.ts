/**
 * Reads every row of a damaged database and writes those that open into a new one. The old one is only read.
 *
 * The new database is another store with its own id: rows are resealed for it, with their times, vectors and history.
 */
import { lstatSync } from "node:fs";
import { copyFile, mkdtemp, open, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { HelmdeckError } from "../../errors.ts";
import { syncFolder } from "../../private-file.ts";
import { nextTurn } from "../../timing.ts";
import type { MasterKey } from "../master-key.ts";
import type { Sealer } from "../sealing.ts";
import { sparedCondition } from "./conditions.ts";
import { findDatabase } from "./database-file.ts";
import { stat } from "./file-watch.ts";
import { pendingForgets } from "./forgets.ts";
import { openSqliteStore, withSession } from "./open-sqlite.ts";
import { type ReadBytes, readingBytes } from "./read-bytes.ts";
import { requireOwnFile } from "./require-own-file.ts";
import {
  numbersOf,
  openOne,
  orOneByOne,
  type RowName,
  SALVAGED_TABLES,
  type Salvaged,
  type SalvagedTable,
  salvageSealer,
  storeIdsIn,
} from "./salvage.ts";
import type { OpenMode, SqliteDriver } from "./sqlite-driver.ts";
import type { SqliteSession } from "./sqlite-session.ts";
import { openSealer } from "./stored-keys.ts";
import { assumedHeaderOf, framesOf, isWalDamaged, type WalFrame, walHeaderOf } from "./wal-frames.ts";

export interface VerifyOptions {
  readonly path: string;
  readonly key: MasterKey;
  readonly driver: SqliteDriver;
  /** Ids of stores that were opened with this key, in hex: for a database that has lost its own id. */
  readonly storeIds?: readonly string[];
  readonly onProgress?: (done: number, total: number) => void;
  readonly onUnreadable?: (row: UnreadableRow) => void;
}

export interface RepairOptions extends VerifyOptions {
  /** The new database, which must not exist yet. */
  readonly to: string;
}

export interface UnreadableRow {
  readonly table: SalvagedTable;
  readonly number: number;
  /** The key that the row claims; absent when not even that is readable. */
  readonly key?: string;
  readonly namespace?: string;
}

export interface Verified {
  readonly entries: number;
  readonly vectors: number;
  readonly history: number;
  readonly unreadable: number;
  /** `damaged`: some recent data is not in the database, and its log is unreadable too. */
  readonly log: "whole" | "damaged";
}

/** Opens every row: entries, vectors, history. */
export function verifyDatabase(options: VerifyOptions): Promise<Verified> {
  return walk(options, () => {});
}

/**
 * Copies everything that opens into a new database, which appears at its path when it is complete. Throws `invalid_input` when
 * something exists there.
 */
export async function repairDatabase(options: RepairOptions): Promise<Verified> {
  const { to, key, driver } = options;
  if (lstatSync(to, { throwIfNoEntry: false }) !== undefined) throw taken(to);
  const draft = `${to}.unfinished`;
  for (const ending of ["", "-wal", "-shm", "-reserve.tmp"]) await rm(`${draft}${ending}`, { force: true });
  await (await openSqliteStore({ path: draft, key, driver })).close();
  const verified = await withSession(
    { path: draft, options: { path: draft, key, driver }, mode: "write" },
    async (made) => {
      const sealer = openSealer(made, key);
      const done = await walk(options, (rows) => {
        made.write(() => {
          for (const write of rows) write(made, sealer);
        });
      });
      made.write(() => endCopy(made));
      made.pragma("wal_checkpoint(TRUNCATE)");
      const written = Number(made.statement("SELECT count(*) AS n FROM entries").get()?.n);
      made.connection.close();
      return { ...done, entries: written };
    },
  );
  await rename(draft, to);
  await syncFolder(dirname(to));
  return verified;
}

type Take = (rows: readonly Salvaged[]) => void;

async function walk(options: VerifyOptions, take: Take): Promise<Verified> {
  const file = await findDatabase(options.path);
  await requireOwnFile(file, options.driver);
  return readingWhole(file, (readable) => walkRows(readable, options, take));
}

async function walkRows(
  { path, mode, log }: Readable,
  options: VerifyOptions,
  take: Take,
): Promise<Verified> {
  const { key, storeIds = [], onProgress } = options;
  const idsIn = (file: string): Iterable<string> => (stat(file) === undefined ? [] : storeIdsIn(file, key));
  return withSession({ path, options: { ...options, path }, mode }, async (session) => {
    const possibleIds = () => [...storeIds, ...idsIn(path), ...idsIn(`${path}-wal`)];
    const sealer = salvageSealer(session, key, possibleIds);
    const tables = SALVAGED_TABLES.map((table) => ({ table, numbers: numbersOf(session, table) }));
    const total = tables.reduce((sum, { numbers }) => sum + numbers.length, 0);
    const counts = { entries: 0, vectors: 0, history: 0, unreadable: 0 };
    let done = 0;
    for (const rows of inTurns(tables, forgottenIn(session))) {
      take(rows.flatMap((row) => openCounted({ session, sealer, counts, options }, row)));
      done += rows.length;
      onProgress?.(done, total);
      await nextTurn();
    }
    session.connection.close();
    return { ...counts, log };
  });
}

/** Rows per turn of the event loop. */
const ROWS_AT_ONCE = 200;

function* inTurns(
  tables: readonly { readonly table: SalvagedTable; readonly numbers: readonly number[] }[],
  isForgotten: (number: number) => boolean,
): Generator<readonly RowName[]> {
  for (const { table, numbers } of tables) {
    for (let at = 0; at < numbers.length; at += ROWS_AT_ONCE) {
      const part = numbers.slice(at, at + ROWS_AT_ONCE);
      yield part
        .filter((number) => table !== "entries" || !isForgotten(number))
        .map((number) => ({ table, number }));
    }
  }
}

interface Walking {
  readonly session: SqliteSession;
  readonly sealer: Sealer;
  readonly counts: { -readonly [Name in Exclude<keyof Verified, "log">]: number };
  readonly options: VerifyOptions;
}

function openCounted({ session, sealer, counts, options }: Walking, row: RowName): readonly Salvaged[] {
  const salvaged = openOne(session, sealer, row);
  if (typeof salvaged === "function") {
    counts[row.table] += 1;
    return [salvaged];
  }
  counts.unreadable += 1;
  options.onUnreadable?.({ ...row, ...salvaged });
  return [];
}

/** Deleted data must not come back: neither rows being deleted, nor rows deleted since their page was written. */
function forgottenIn(session: SqliteSession): (number: number) => boolean {
  const forgets = orOneByOne(
    () => pendingForgets(session),
    () => [],
  );
  const removals = removalsIn(session);
  const spared = sparedCondition(forgets);
  const select = session.statement(`SELECT id, (${spared.sql}) AS spared FROM entries WHERE seq = ?`);
  return (number) =>
    orOneByOne(
      () => {
        const row = select.get(...spared.values, number);
        return row?.spared === 0 || (removals.get(`${row?.id}`) ?? 0) > number;
      },
      () => false,
    );
}

/** The sequence numbers at which recent entries were removed. */
function removalsIn(session: SqliteSession): ReadonlyMap<string, number> {
  return orOneByOne(
    () => {
      const rows = session.statement("SELECT id, seq FROM removals ORDER BY seq").all();
      return new Map(rows.map(({ id, seq }) => [`${id}`, Number(seq)]));
    },
    () => new Map(),
  );
}

/** Readers of the old database start over. */
function endCopy(made: SqliteSession): void {
  made
    .statement(
      `UPDATE store SET newest_seq = (SELECT coalesce(max(seq), 0) FROM entries),
       pruned_through = (SELECT coalesce(max(seq), 0) FROM entries), prunes = 1`,
    )
    .run();
}

function taken(to: string): HelmdeckError {
  return new HelmdeckError(
    "invalid_input",
    `${to} already exists. Choose another file; nothing was written.`,
    {
      details: { field: "to" },
    },
  );
}

interface Readable {
  readonly path: string;
  readonly mode: OpenMode;
  readonly log: "whole" | "damaged";
}

/**
 * Makes a database with a damaged log readable.
 *
 * SQLite reads a log up to its first invalid frame. Intact frames, each with a page of the database, may follow. So all of them
 * are written into a copy, in order, up to the last intact commit. When a page's newest frame is damaged, an older one remains:
 * rows authenticate individually, so only genuine rows are accepted.
 *
 * Runs the work on the database itself when its log is intact, and otherwise on a temporary copy.
 */
async function readingWhole<T>(file: string, work: (readable: Readable) => Promise<T>): Promise<T> {
  if (!(await isWalDamaged(file))) return work({ path: file, mode: "read", log: "whole" });
  const folder = await mkdtemp(join(tmpdir(), "helmdeck-memory-"));
  try {
    const path = join(folder, "memory.sqlite");
    await copyWithLog(file, path);
    return await work({ path, mode: "immutable", log: "damaged" });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function copyWithLog(file: string, to: string): Promise<void> {
  await copyFile(file, to);
  const pageBytes = readingBytes(file, pageBytesOf);
  const { pages, count } = readingBytes(`${file}-wal`, (read) => committedPagesIn(read, pageBytes));
  const copy = await open(to, "r+");
  try {
    for (const [number, content] of pages) await copy.write(content, 0, pageBytes, (number - 1) * pageBytes);
    if (count > 0) await copy.truncate(count * pageBytes);
  } finally {
    await copy.close();
  }
}

interface CommittedPages {
  readonly pages: ReadonlyMap<number, Buffer>;
  /** The database's number of pages; 0 when no commit is intact. */
  readonly count: number;
}

/** The newest intact frame of each page, up to the last intact commit. */
function committedPagesIn(read: ReadBytes, pageBytes: number): CommittedPages {
  const header = walHeaderOf(read) ?? assumedHeaderOf(read, pageBytes);
  const pages = new Map<number, Buffer>();
  let count = 0;
  let since: WalFrame[] = [];
  for (const frame of framesOf(read, header)) {
    if (!frame.isLinked || !frame.salts.equals(header.salts)) continue;
    since.push(frame);
    if (frame.committedPages === 0) continue;
    for (const { page, content } of since) pages.set(page, content);
    count = frame.committedPages;
    since = [];
  }
  return { pages, count };
}

/** According to the database's first page. */
function pageBytesOf(read: ReadBytes): number {
  const bytes = read(16, 2).readUInt16BE(0);
  return bytes === 1 ? 65_536 : bytes;
}
