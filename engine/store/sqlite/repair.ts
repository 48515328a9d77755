/**
 * Looking at every row of a damaged database, and writing a new one of all that opens. The old one is only read.
 *
 * The new database is another store, with an id of its own: rows are sealed anew for it, with their times, vectors and history.
 */

import { lstatSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { HelmdeckError } from "../../errors.ts";
import { nextTurn } from "../../timing.ts";
import type { MasterKey } from "../master-key.ts";
import { syncFolder } from "../private-file.ts";
import type { Sealer } from "../sealing.ts";
import { sparedCondition } from "./conditions.ts";
import { findDatabase } from "./database-file.ts";
import { INSERT_ROW, parseColumns, valuesOf } from "./entry-rows.ts";
import { pendingForgets } from "./forgets.ts";
import { requireOurs } from "./look.ts";
import { openSqliteStore, withSession } from "./open-sqlite.ts";
import {
  numbersOf,
  orOneByOne,
  readRow,
  SALVAGED_TABLES,
  type SalvagedTable,
  salvageSealer,
} from "./salvage.ts";
import type { SqliteDriver, SqliteRow } from "./sqlite-driver.ts";
import type { SqliteSession } from "./sqlite-session.ts";
import { openSealer } from "./stored-keys.ts";

export interface VerifyOptions {
  readonly path: string;
  readonly key: MasterKey;
  readonly driver: SqliteDriver;
  /** Of stores that were opened with this key, in hex: for a database that no longer says which it is. */
  readonly storeIds?: readonly string[];
  readonly onProgress?: (done: number, total: number) => void;
  readonly onUnreadable?: (row: UnreadableRow) => void;
}

export interface RepairOptions extends VerifyOptions {
  /** The new database; it must not exist yet. */
  readonly to: string;
}

export interface UnreadableRow {
  readonly table: SalvagedTable;
  readonly number: number;
  /** What the row claims; absent when not even that can be read. */
  readonly key?: string;
  readonly namespace?: string;
}

export interface Verified {
  readonly entries: number;
  readonly vectors: number;
  readonly history: number;
  readonly unreadable: number;
}

/** One row that opens, and how to write it into another store. */
type Salvaged = (session: SqliteSession, sealer: Sealer) => void;

const NOBODY: Salvaged = () => undefined;

/** Opens every row: entries, vectors, history. */
export function verifyDatabase(options: VerifyOptions): Promise<Verified> {
  return walk(options, () => {});
}

/** Writes all that opens into a new database, which is at its path when it is whole. Throws `invalid_input` when something is there. */
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
      made.connection.close();
      return done;
    },
  );
  await rename(draft, to);
  await syncFolder(dirname(to));
  return verified;
}

type Take = (rows: readonly Salvaged[]) => void;

async function walk(options: VerifyOptions, take: Take): Promise<Verified> {
  const { path, key, driver, storeIds = [], onProgress } = options;
  const file = await findDatabase(path);
  await requireOurs(file, driver);
  return withSession({ path: file, options: { path, key, driver }, mode: "read" }, async (session) => {
    const sealer = salvageSealer(session, key, storeIds);
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
    return counts;
  });
}

interface RowName {
  readonly table: SalvagedTable;
  readonly number: number;
}

/** So many as one turn of the event loop takes. */
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
  readonly counts: { -readonly [Name in keyof Verified]: number };
  readonly options: VerifyOptions;
}

function openCounted({ session, sealer, counts, options }: Walking, row: RowName): readonly Salvaged[] {
  const salvaged = openOne(session, sealer, row.table, row.number);
  if (typeof salvaged === "function") {
    counts[row.table] += 1;
    return [salvaged];
  }
  counts.unreadable += 1;
  options.onUnreadable?.({ ...row, ...salvaged });
  return [];
}

/** What is being forgotten does not come back. */
function forgottenIn(session: SqliteSession): (number: number) => boolean {
  const forgets = orOneByOne(
    () => pendingForgets(session),
    () => [],
  );
  if (forgets.length === 0) return () => false;
  const spared = sparedCondition(forgets);
  const select = session.statement(`SELECT (${spared.sql}) AS spared FROM entries WHERE seq = ?`);
  return (number) =>
    orOneByOne(
      () => select.get(...spared.values, number)?.spared === 0,
      () => false,
    );
}

/** How to write the row elsewhere; or what it claims, if it does not open. */
function openOne(
  session: SqliteSession,
  sealer: Sealer,
  table: SalvagedTable,
  number: number,
): Salvaged | { readonly key?: string; readonly namespace?: string } {
  const row = readRow(session, table, number);
  if (row === undefined) return {};
  switch (table) {
    case "entries":
      return openEntry(sealer, row) ?? { key: `${row.key}`, namespace: `${row.namespace}` };
    case "vectors":
      return openVectors(session, sealer, row) ?? {};
    case "history":
      return openHistory(sealer, row) ?? {};
  }
}

function openEntry(sealer: Sealer, row: SqliteRow): Salvaged | undefined {
  const columns = parseColumns(row);
  if (columns === undefined || !(row.sealed instanceof Uint8Array)) return undefined;
  const content = sealer.open(columns, row.sealed);
  if (content === undefined) return undefined;
  return (made, anew) => {
    const right = { ...columns, digest: anew.digest(columns.id, content.value) };
    made.statement(INSERT_ROW).run(...valuesOf(right, anew.seal(right, content)));
  };
}

function openVectors(session: SqliteSession, sealer: Sealer, row: SqliteRow): Salvaged | undefined {
  const { entry_id: id, dimensions, name, sealed } = row;
  const owner = ownerOf(session, id);
  if (owner === undefined) return NOBODY; // with an entry that is gone, they are of no use
  if (typeof id !== "string" || typeof dimensions !== "number" || !(sealed instanceof Uint8Array))
    return undefined;
  const beside = { space: `${name}`, dimensions, id, namespace: owner.namespace };
  const content = sealer.openVectors({ ...beside, digest: owner.digest }, sealed);
  if (content === undefined) return undefined;
  return (made, anew) => {
    const digest = ownerOf(made, id)?.digest;
    if (digest === undefined) return;
    made.statement("INSERT OR IGNORE INTO vector_spaces (name) VALUES (?)").run(beside.space);
    made
      .statement(
        "INSERT INTO vectors (entry_id, space, dimensions, sealed) SELECT ?, number, ?, ? FROM vector_spaces WHERE name = ?",
      )
      .run(id, dimensions, anew.sealVectors({ ...beside, digest }, content), beside.space);
  };
}

function ownerOf(
  session: SqliteSession,
  id: unknown,
): { readonly namespace: string; readonly digest: Uint8Array } | undefined {
  if (typeof id !== "string") return undefined;
  try {
    const row = session.statement("SELECT namespace, digest FROM entries WHERE id = ?").get(id);
    return row?.digest instanceof Uint8Array
      ? { namespace: `${row.namespace}`, digest: row.digest }
      : undefined;
  } catch {
    return undefined;
  }
}

function openHistory(sealer: Sealer, row: SqliteRow): Salvaged | undefined {
  const { number, entry_id: entryId, written_at: writtenAt, sealed } = row;
  if (typeof number !== "number" || typeof entryId !== "string" || typeof writtenAt !== "number")
    return undefined;
  const columns = { number, entryId, writtenAt };
  const content = sealed instanceof Uint8Array ? sealer.openHistory(columns, sealed) : undefined;
  if (content === undefined) return undefined;
  return (made, anew) => {
    made
      .statement(
        "INSERT INTO history (number, entry_id, written_at, sealed) SELECT ?, id, ?, ? FROM entries WHERE id = ?",
      )
      .run(number, writtenAt, anew.sealHistory(columns, content), entryId);
  };
}

/** Whoever read the old one begins anew. */
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
    `${to} is there already. Name a file that is not; nothing was written.`,
    {
      details: { field: "to" },
    },
  );
}
