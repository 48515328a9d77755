/**
 * A PostgreSQL store during a move. Running engines wait to write until it is finished, and are refused once the store was moved
 * away.
 *
 * Requires the role that owns the tables: engines' roles cannot change whether a store is open.
 */
import { defined } from "../../defined.ts";
import { HelmdeckError } from "../../errors.ts";
import type {
  Cell,
  Cells,
  MovableStore,
  MoveMark,
  Page,
  Replacing,
  StoreHead,
  TableName,
  TableShape,
} from "../moving/movable-store.ts";
import { type Namespace, ownerOf } from "../namespace.ts";
import type { Connection } from "./connection.ts";
import { Database, type DatabaseOptions } from "./database.ts";
import { INSERT_ENTRY, valuesOfRow } from "./entry-rows.ts";
import { requireEngineRoles, requireRowSecurity } from "./open-postgres.ts";
import { explainPostgresError, isForbidden } from "./postgres-errors.ts";
import { grantAccess, migrate, SCHEMA_VERSION, schemaStateOf, writeMark } from "./schema.ts";
import { AS_BYTES, bytesOf, storedCell, textOf } from "./sql.ts";
import { readStoreRow } from "./store-row.ts";

export interface MovablePostgresOptions extends DatabaseOptions {
  /** As for a SQLite store. */
  readonly to: "look" | "leave" | "enter";
  /** The roles of engines, which get their rights on the target. */
  readonly engineRoles?: readonly string[];
}

/** Counting and indexing many rows takes time. */
const STATEMENT_MS = 30 * 60 * 1_000;

/** Undefined when there is no store and none is to be created. Throws the errors of opening a store. */
export async function openMovablePostgres({
  to,
  engineRoles = [],
  ...options
}: MovablePostgresOptions): Promise<MovableStore | undefined> {
  const database = new Database({ ...options, connections: 1, statementTimeoutMs: STATEMENT_MS });
  const store = new MovablePostgres(database, await lend(database));
  let isThere = false;
  try {
    isThere = await store.prepare(to, engineRoles);
  } finally {
    if (!isThere) await store.close();
  }
  return isThere ? store : undefined;
}

interface Lent {
  readonly connection: Connection;
  readonly giveBack: () => void;
}

/** One connection for the whole move, since it holds the locks. On failure the database is closed. */
function lend(database: Database): Promise<Lent> {
  const { promise, resolve, reject } = Promise.withResolvers<Lent>();
  const ended = Promise.withResolvers<void>();
  database
    .perform((connection) => {
      resolve({ connection, giveBack: ended.resolve });
      return ended.promise;
    })
    .catch((error: unknown) => database.close().finally(() => reject(error)));
  return promise;
}

class MovablePostgres implements MovableStore {
  readonly #database: Database;
  readonly #lent: Lent;

  constructor(database: Database, lent: Lent) {
    this.#database = database;
    this.#lent = lent;
  }

  get name(): string {
    return this.#database.name;
  }

  /** False when there is no store. */
  prepare(to: MovablePostgresOptions["to"], engineRoles: readonly string[]): Promise<boolean> {
    return this.#perform(async (connection) => {
      await requireRowSecurity(connection);
      await requireEngineRoles(connection, engineRoles);
      if (to !== "look") await connection.lockAlone();
      const { version, mark } = await schemaStateOf(connection);
      if (version === 0 && to !== "enter") return false;
      if (to === "look") return true;
      if (version < SCHEMA_VERSION && mark === undefined) await migrate(connection);
      if (engineRoles.length > 0) await grantAccess(connection, engineRoles); // also after an interrupted move
      return true;
    });
  }

  head(): Promise<StoreHead | undefined> {
    return this.#read(async (connection) => {
      const { version, mark } = await schemaStateOf(connection);
      const row = version === 0 ? undefined : await readStoreRow(connection);
      if (row === undefined) return undefined;
      const [newest] = await connection.query(
        "SELECT greatest((SELECT max(newest_seq) FROM subjects), (SELECT last_value FROM change_numbers)) AS seq",
      );
      const { identity, keys, timeSeen } = row;
      return { ...identity, keys, newestSeq: Number(newest?.seq), ...defined({ timeSeen, mark }) };
    });
  }

  count(table: TableName): Promise<number> {
    return this.#read(async (connection) =>
      Number((await connection.query(`SELECT count(*) AS n FROM ${table}`))[0]?.n),
    );
  }

  read({ name, columns, places }: TableShape, { after, limit }: Page): Promise<readonly Cells[]> {
    const place = columns.slice(0, places);
    const rest =
      after === undefined ? "" : `WHERE (${place.join(", ")}) > (${place.map(() => "?").join(", ")})`;
    const sql = `SELECT ${columns.join(", ")} FROM ${name} ${rest} ORDER BY ${place.join(", ")} LIMIT ?`;
    const values = (after ?? []).map((cell, i) => storedCell(columns[i], cell));
    return this.#read(async (connection) =>
      (await connection.query(sql, [...values, limit])).map((row) =>
        columns.map((column) => cellOf(column, row[column])),
      ),
    );
  }

  replace(table: TableShape, { remove, insert }: Replacing): Promise<void> {
    return this.#write(async (connection) => {
      for (const row of remove) removeRow(belongingTo(connection, table, row), table, row);
      for (const row of insert) insertRow(belongingTo(connection, table, row), table, row);
    });
  }

  begin({ storeId, generation, keys }: StoreHead, mark: MoveMark): Promise<void> {
    return this.#write(async (connection) => {
      await writeMark(connection, mark);
      const columns = "one, id, generation, key_check, former_check, former_key, new_key";
      await connection.query(
        `INSERT INTO store (${columns}) VALUES (1, ?, ?, ?, NULL, NULL, NULL) ON CONFLICT (one) DO UPDATE
         SET (${columns}) = (EXCLUDED.one, EXCLUDED.id, EXCLUDED.generation, EXCLUDED.key_check, NULL, NULL, NULL)`,
        [Buffer.from(storeId, "hex"), generation, keys.check],
      );
    });
  }

  async finish({ newestSeq, timeSeen }: StoreHead): Promise<void> {
    const owners = await this.#read((connection) =>
      connection.query("SELECT owner FROM entries UNION SELECT owner FROM subjects"),
    );
    for (const { owner } of owners)
      await this.#write((connection) => settle(connection, textOf(owner), newestSeq));
    await this.#write(async (connection) => {
      connection.acrossSubjects();
      await connection.run(goOnAfter("change_numbers", `SELECT ${newestSeq}`));
      await connection.run(goOnAfter("history_numbers", "SELECT max(number) FROM history"));
      await connection.run(
        goOnAfter(
          `pg_get_serial_sequence('reference_vectors', 'number')`,
          "SELECT max(number) FROM reference_vectors",
        ),
      );
      await connection.query("UPDATE store SET time_seen = ?", [timeSeen ?? null]);
      await writeMark(connection, undefined);
    });
  }

  markAway(mark: MoveMark): Promise<void> {
    return this.#write((connection) => writeMark(connection, mark));
  }

  reopen(generation: number): Promise<void> {
    return this.#write(async (connection) => {
      await connection.query("UPDATE store SET generation = ?", [generation]);
      await writeMark(connection, undefined);
    });
  }

  async close(): Promise<void> {
    this.#lent.giveBack();
    await this.#database.close();
  }

  #read<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    return this.#perform((connection) =>
      connection.transaction("read", () => work(connection.acrossSubjects())),
    );
  }

  #write(work: (connection: Connection) => Promise<void>): Promise<void> {
    return this.#perform((connection) => connection.transaction("write", () => work(connection)));
  }

  async #perform<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    try {
      return await work(this.#lent.connection);
    } catch (error) {
      throw isForbidden(error) ? notTheOwner(this.name) : explainPostgresError(error, this.name);
    }
  }
}

function cellOf(column: string, value: unknown): Cell {
  if (AS_BYTES.has(column)) return textOf(value);
  if (typeof value === "number" || typeof value === "string" || value instanceof Uint8Array) return value;
  return null;
}

/** Limits the following statements to the row's subject. */
function belongingTo(connection: Connection, { name }: TableShape, row: Cells): Connection {
  if (name === "reference_vectors") return connection;
  const owner = name === "entries" ? ownerOf(`${row[2]}` as Namespace) : (`${row.at(-1)}` as Namespace); // as stored
  return connection.as(owner);
}

/** Sent with the commit. */
function removeRow(connection: Connection, { name, columns, places }: TableShape, row: Cells): void {
  const place = columns.slice(0, places);
  const values = place.map((column, i) => storedCell(column, row[i] ?? null));
  void connection.query(
    `DELETE FROM ${name} WHERE ${place.map((column) => `${column} = ?`).join(" AND ")}`,
    values,
  );
}

function insertRow(connection: Connection, { name, columns }: TableShape, row: Cells): void {
  if (name === "entries") return void connection.query(INSERT_ENTRY, valuesOfRow(row));
  const values = columns.map((column, i) => storedCell(column, row[i] ?? null));
  void connection.query(
    `INSERT INTO ${name} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`,
    values,
  );
}

/** Recounts a subject's usage, and makes readers of its change feed start over. */
async function settle(connection: Connection, owner: string, newestSeq: number): Promise<void> {
  const name = bytesOf(owner);
  connection.as(owner as Namespace);
  void connection.query("DELETE FROM removals WHERE owner = ?", [name]);
  await connection.query(
    `INSERT INTO subjects AS known (owner, born, newest_seq, pruned_through, prunes, entries, bytes)
     SELECT ?, 0, ?, ?, 1, count(*), coalesce(sum(length(sealed)), 0)
       + (SELECT coalesce(sum(length(sealed)), 0) FROM history WHERE owner = ?) FROM entries WHERE owner = ?
     ON CONFLICT (owner) DO UPDATE SET born = 0, newest_seq = EXCLUDED.newest_seq, pruned_through = EXCLUDED.pruned_through,
       prunes = known.prunes + 1, removals = 0, entries = EXCLUDED.entries, bytes = EXCLUDED.bytes`,
    [name, newestSeq, newestSeq, name, name],
  );
}

function goOnAfter(sequence: string, highest: string): string {
  const named = sequence.startsWith("pg_") ? sequence : `'${sequence}'`;
  return `SELECT setval(${named}, greatest(1, (${highest})), coalesce((${highest}), 0) > 0)`;
}

function notTheOwner(name: string): HelmdeckError {
  return new HelmdeckError(
    "store_unavailable",
    `This role may not move the memory database ${name}. Use the role that owns its tables, or one that may create them.`,
  );
}
