/** SQLite through better-sqlite3, which brings its own SQLite: for the command line, servers and tests. */
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { HelmdeckError } from "../../errors.ts";
import { isWholeInThread } from "./check-thread.ts";
import { nodeSqliteDriver } from "./node-sqlite-driver.ts";
import type {
  SqliteConnection,
  SqliteDriver,
  SqliteRow,
  SqliteStatement,
  SqliteValue,
} from "./sqlite-driver.ts";

export const betterSqliteDriver: SqliteDriver = {
  name: "better-sqlite3",
  open: async (path, mode): Promise<SqliteConnection> => {
    refuseBlanksAtEnd(path);
    // This library opens plain paths only, so these modes use node:sqlite. It holds no lock on a file that it could not open.
    if (mode === "immutable" || mode === "unlocked") return nodeSqliteDriver.open(path, mode);
    const { default: Database } = await import("better-sqlite3");
    const database = new Database(path, { readonly: mode === "read", fileMustExist: true });
    return {
      exec: (sql) => {
        database.exec(sql);
      },
      prepare: (sql): SqliteStatement => {
        const statement = database.prepare<SqliteValue[], SqliteRow>(sql);
        return {
          run: (...values) => {
            statement.run(...values);
          },
          get: (...values) => statement.get(...values),
          all: (...values) => statement.all(...values),
        };
      },
      get inTransaction() {
        return database.inTransaction;
      },
      close: () => {
        database.close();
      },
    };
  },
  isWhole: async (path) => {
    const library = pathToFileURL(createRequire(import.meta.url).resolve("better-sqlite3")).href;
    return isWholeInThread({ path, library, options: { readonly: true, fileMustExist: true } });
  },
};

/** The library trims its argument, so it would open a different file. */
function refuseBlanksAtEnd(path: string): void {
  if (path === path.trim()) return;
  throw new HelmdeckError(
    "store_unavailable",
    `The database path "${path}" ends in white space; choose another one.`,
    {
      details: { path },
    },
  );
}
