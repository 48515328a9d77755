/** SQLite through Node's own `node:sqlite`, which needs no installation: for the plugin inside OpenClaw's gateway. */
import type { SQLOutputValue } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { isWholeInThread } from "./check-thread.ts";
import type {
  OpenMode,
  SqliteConnection,
  SqliteDriver,
  SqliteRow,
  SqliteStatement,
  SqliteValue,
} from "./sqlite-driver.ts";

export const nodeSqliteDriver: SqliteDriver = {
  name: "node:sqlite",
  open: async (path, mode): Promise<SqliteConnection> => {
    const { DatabaseSync } = await import("node:sqlite");
    const database = new DatabaseSync(locationOf(path, mode), { readOnly: mode !== "write" });
    // Without locks, a log can only be read with its index in this process's memory.
    if (mode === "unlocked") database.exec("PRAGMA locking_mode = EXCLUSIVE");
    return {
      exec: (sql) => {
        database.exec(sql);
      },
      prepare: (sql): SqliteStatement => {
        const statement = database.prepare(sql);
        // Otherwise a single integer beyond 2^53, in a damaged row, would fail the whole query.
        statement.setReadBigInts(true);
        return {
          run: (...values) => {
            statement.run(...values);
          },
          get: (...values) => {
            const row = statement.get(...values);
            return row && asRow(row);
          },
          all: (...values) => statement.all(...values).map(asRow),
        };
      },
      get inTransaction() {
        return database.isTransaction;
      },
      close: () => {
        database.close();
      },
    };
  },
  isWhole: (path) => isWholeInThread({ path, library: "node:sqlite", options: { readOnly: true } }),
  openBeside: (path) => nodeSqliteDriver.open(path, "immutable"),
};

function locationOf(path: string, mode: OpenMode): string | URL {
  if (mode === "read" || mode === "write") return path;
  const url = pathToFileURL(path);
  url.search = mode === "immutable" ? "immutable=1" : "vfs=unix-none";
  return url;
}

function asRow(row: Record<string, SQLOutputValue>): SqliteRow {
  const plain: Record<string, SqliteValue> = {};
  for (const column in row) {
    const value = row[column];
    plain[column] = typeof value === "bigint" ? Number(value) : (value ?? null);
  }
  return plain;
}
