/** The little that the SQLite store asks of a SQLite library; one driver for each library that can give it. */

/** What SQLite stores: integers and reals, text, blobs, null. */
export type SqliteValue = number | string | Uint8Array | null;

/** One row by column name. Integers beyond 2^53 lose digits; none that we wrote is so large. */
export type SqliteRow = Readonly<Record<string, SqliteValue | undefined>>;

export interface SqliteStatement {
  run(...values: readonly SqliteValue[]): void;
  get(...values: readonly SqliteValue[]): SqliteRow | undefined;
  all(...values: readonly SqliteValue[]): readonly SqliteRow[];
}

export interface SqliteConnection {
  /** Runs statements that give no rows. */
  exec(sql: string): void;
  prepare(sql: string): SqliteStatement;
  readonly inTransaction: boolean;
  close(): void;
}

/**
 * `read` may make the log and its index where there are none, and takes SQLite's locks. Where neither can be made, `immutable`
 * reads the database alone and `unlocked` the database with its log: nobody may write meanwhile.
 */
export type OpenMode = "read" | "write" | "immutable" | "unlocked";

export interface SqliteDriver {
  /** As in `doctor`, such as "node:sqlite". */
  readonly name: string;
  /**
   * Opens an existing file by its absolute path. Loads the library at the first call, not before.
   *
   * One process must keep to one driver for one file: two copies of SQLite do not know of each other's locks, and closing
   * the file in one drops the locks of the other. Different processes may use different drivers.
   */
  open(path: string, mode: OpenMode): Promise<SqliteConnection>;
  /** Opens the database alone, `immutable`, by the very library that may have it open in this process. Not all can. */
  openBeside?(path: string): Promise<SqliteConnection>;
}
