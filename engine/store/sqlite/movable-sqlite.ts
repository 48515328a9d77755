/** A SQLite store during a move: locked exclusively from start to end, its log checkpointed. */
import { realpath } from "node:fs/promises";
import { defined } from "../../defined.ts";
import type { MasterKey } from "../master-key.ts";
import type {
  Cells,
  MovableStore,
  MoveMark,
  Page,
  Replacing,
  StoreHead,
  TableName,
  TableShape,
} from "../moving/movable-store.ts";
import { holdAlone, inUse } from "./copy-database.ts";
import { findDatabase } from "./database-file.ts";
import { stat } from "./file-watch.ts";
import { lastForget } from "./forgets.ts";
import { openSqliteStore, withSession } from "./open-sqlite.ts";
import { requireOwnFile } from "./require-own-file.ts";
import { markIn, ownerOf, SCHEMA_VERSION, schemaVersionOf, writeMark } from "./schema.ts";
import type { SqliteDriver } from "./sqlite-driver.ts";
import { explainSqliteError, isBusy } from "./sqlite-errors.ts";
import type { SqliteSession } from "./sqlite-session.ts";
import { identityNamed, readStoreRow, saveStoredKeys } from "./store-row.ts";
import { requireIntactWal } from "./wal-frames.ts";

export interface MovableSqliteOptions {
  readonly path: string;
  readonly key: MasterKey;
  readonly driver: SqliteDriver;
  /**
   * `look`: reads beside others, and changes nothing. `leave`: locks it and migrates an older version first. `enter`: like
   * `leave`, and creates a missing one.
   */
  readonly to: "look" | "leave" | "enter";
}

/**
 * Undefined when there is no store and none is to be created.
 *
 * @throws `store_locked` while somebody has the database open, and the errors of opening it.
 */
export async function openMovableSqlite(options: MovableSqliteOptions): Promise<MovableStore | undefined> {
  const { path, driver, to } = options;
  const isThere = (stat(path)?.size ?? 0) > 0;
  if (!isThere && to !== "enter") return undefined;
  if (isThere) await requireOwnFile(path, driver);
  if (to === "look") return new MovableSqlite(await openToLook(path, driver));
  if (!isThere || !(await isMarked(path, driver))) await setInOrder(options);
  return new MovableSqlite(await openAlone(await realpath(path), driver));
}

/** Opening a store does all that it needs: migrates its schema, reseals legacy rows, finishes deletes. */
async function setInOrder({ path, key, driver }: MovableSqliteOptions): Promise<void> {
  const store = await openSqliteStore({ path, key, driver });
  try {
    await store.deleteExpired();
  } finally {
    await store.close();
  }
}

async function isMarked(path: string, driver: SqliteDriver): Promise<boolean> {
  const session = await openToLook(path, driver);
  try {
    return session.read(() => markOf(session)) !== undefined;
  } finally {
    session.connection.close();
  }
}

async function openToLook(path: string, driver: SqliteDriver): Promise<SqliteSession> {
  const file = await findDatabase(path);
  await requireIntactWal(file);
  return withSession({ path: file, options: { driver }, mode: "read" }, async (session) => {
    if (markOf(session) === undefined) schemaVersionOf(session); // whether this program knows the schema
    return session;
  });
}

async function openAlone(file: string, driver: SqliteDriver): Promise<SqliteSession> {
  await requireIntactWal(file); // the log is about to be checkpointed
  const connection = await driver.open(file, "write");
  try {
    const session = holdAlone(connection, file);
    connection.exec("COMMIT; PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY;");
    return session;
  } catch (error) {
    connection.close();
    throw isBusy(error) ? inUse(file, error) : explainSqliteError(error, file);
  }
}

const FROM: Readonly<Record<TableName, string>> = {
  entries: "entries",
  history: `(SELECT history.*, ${ownerOf("namespace")} AS owner FROM history JOIN entries ON id = entry_id)`,
  vectors: `(SELECT entry_id, name AS space, dimensions, vectors.sealed, ${ownerOf("namespace")} AS owner FROM vectors
    JOIN vector_spaces ON number = space JOIN entries ON id = entry_id)`,
  reference_vectors: "reference_vectors",
};

class MovableSqlite implements MovableStore {
  readonly #session: SqliteSession;

  constructor(session: SqliteSession) {
    this.#session = session;
  }

  get name(): string {
    return this.#session.path;
  }

  head(): Promise<StoreHead | undefined> {
    return this.#perform((session) => session.read(() => headOf(session)));
  }

  count(table: TableName): Promise<number> {
    return this.#perform((session) =>
      Number(session.statement(`SELECT count(*) AS n FROM ${FROM[table]}`).get()?.n),
    );
  }

  read(table: TableShape, { after, limit }: Page): Promise<readonly Cells[]> {
    const places = table.columns.slice(0, table.places).join(", ");
    const [first] = table.columns;
    const rest =
      after === undefined ? "" : `WHERE ${first} >= ? AND (${places}) > (${after.map(() => "?").join(", ")})`;
    const sql = `SELECT ${table.columns.join(", ")} FROM ${FROM[table.name]} ${rest} ORDER BY ${places} LIMIT ?`;
    return this.#perform((session) =>
      session
        .statement(sql)
        .all(...(after ? [after[0] ?? null, ...after] : []), limit)
        .map((row) => table.columns.map((column) => row[column] ?? null)),
    );
  }

  replace(table: TableShape, { remove, insert }: Replacing): Promise<void> {
    return this.#perform((session) =>
      session.write(() => {
        for (const row of remove) removeRow(session, table, row);
        for (const row of insert) insertRow(session, table, row);
      }),
    );
  }

  begin(head: StoreHead, mark: MoveMark): Promise<void> {
    return this.#perform((session) =>
      session.write(() => {
        writeMark(session, SCHEMA_VERSION, mark);
        session.connection.exec("DELETE FROM removals; DELETE FROM forgets;");
        session
          .statement("UPDATE store SET id = ?, generation = ?")
          .run(Buffer.from(head.storeId, "hex"), head.generation);
        saveStoredKeys(session, head.keys);
      }),
    );
  }

  finish({ newestSeq, timeSeen }: StoreHead): Promise<void> {
    return this.#perform((session) =>
      session.write(() => {
        session
          .statement("UPDATE store SET newest_seq = ?, pruned_through = ?, prunes = prunes + 1")
          .run(newestSeq, newestSeq);
        session.statement("DELETE FROM time_seen").run();
        if (timeSeen !== undefined)
          session.statement("INSERT INTO time_seen (one, seen) VALUES (1, ?)").run(timeSeen);
        writeMark(session, SCHEMA_VERSION, undefined);
      }),
    );
  }

  markAway(mark: MoveMark): Promise<void> {
    return this.#perform((session) => session.write(() => writeMark(session, SCHEMA_VERSION, mark)));
  }

  reopen(generation: number): Promise<void> {
    return this.#perform((session) =>
      session.write(() => {
        writeMark(session, SCHEMA_VERSION, undefined);
        session.statement("UPDATE store SET generation = ?").run(generation);
      }),
    );
  }

  async close(): Promise<void> {
    this.#session.connection.close();
  }

  async #perform<T>(work: (session: SqliteSession) => T): Promise<T> {
    try {
      return work(this.#session);
    } catch (error) {
      throw explainSqliteError(error, this.name);
    }
  }
}

function markOf(session: SqliteSession): MoveMark | undefined {
  return markIn(session, Number(session.pragma("user_version")));
}

/** Undefined in a file that was never opened with a key. */
function headOf(session: SqliteSession): StoreHead | undefined {
  if (Number(session.pragma("user_version")) === 0) return undefined;
  const { history, identity, keys, timeSeen } = readStoreRow(session);
  return {
    ...identityNamed(identity),
    keys,
    newestSeq: Math.max(history.lastSeq, lastForget(session)),
    ...defined({ timeSeen, mark: markOf(session) }),
  };
}

/** By its position; vectors by the number of their space. */
function removeRow(session: SqliteSession, { name, columns, places }: TableShape, row: Cells): void {
  const isPlace = columns.slice(0, places).map((column) => `${column} = ${placeholderOf(name, column)}`);
  session.statement(`DELETE FROM ${name} WHERE ${isPlace.join(" AND ")}`).run(...row.slice(0, places));
}

function insertRow(session: SqliteSession, { name, columns }: TableShape, row: Cells): void {
  if (name === "vectors")
    session.statement("INSERT OR IGNORE INTO vector_spaces (name) VALUES (?)").run(row[1] ?? null);
  const kept = columns.filter((column) => column !== "owner");
  const values = kept.map((column) => placeholderOf(name, column)).join(", ");
  session
    .statement(`INSERT INTO ${name} (${kept.join(", ")}) VALUES (${values})`)
    .run(...row.slice(0, kept.length));
}

function placeholderOf(table: TableName, column: string): string {
  return table === "vectors" && column === "space"
    ? "(SELECT number FROM vector_spaces WHERE name = ?)"
    : "?";
}
