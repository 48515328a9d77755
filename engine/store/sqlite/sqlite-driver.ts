/** What the SQLite store needs from a SQLite library; one driver per library. */

/** What SQLite stores: integers and reals, text, blobs, null. */
export type SqliteValue = number | string | Uint8Array | null;

/** One row by column name. Integers beyond 2^53 lose digits; we write none that large. */
export type SqliteRow = Readonly<Record<string, SqliteValue | undefined>>;

export interface SqliteStatement {
  run(...values: readonly SqliteValue[]): void;
  get(...values: readonly SqliteValue[]): SqliteRow | undefined;
  all(...values: readonly SqliteValue[]): readonly SqliteRow[];
}

export interface SqliteConnection {
  /** Runs statements without result rows. */
  exec(sql: string): void;
  prepare(sql: string): SqliteStatement;
  readonly inTransaction: boolean;
  close(): void;
}

/**
 * `read` may create the log and its index, and takes SQLite's locks. When neither can be created, `immutable` reads the database
 * alone and `unlocked` the database with its log; nobody may write meanwhile.
 */
export type OpenMode = "read" | "write" | "immutable" | "unlocked";

export interface SqliteDriver {
  /** As shown by `doctor`, such as "node:sqlite". */
  readonly name: string;
  /**
   * Opens an existing file by its absolute path. Loads the library on the first call.
   *
   * A process must use one driver per file: two copies of SQLite do not know of each other's locks, and closing the file in one
   * drops the locks of the other. Different processes may use different drivers.
   */
  open(path: string, mode: OpenMode): Promise<SqliteConnection>;
  /** Whether every page of a database and its log is sound; a thread of its own reads both. */
  isWhole(path: string): Promise<boolean>;
  /** Opens the database alone, `immutable`, through the library that may have it open in this process. Not every driver can. */
  openBeside?(path: string): Promise<SqliteConnection>;
}
