/** The engines that are measured: one on a SQLite file, and 1, 2 and 4 on one PostgreSQL server, all with the same rows. */
import { Engine, makeDatabase } from "../../test/engines/engine.ts";
import { type PostgresServer, startPostgres } from "../../test/postgres/server.ts";
import { fillHome, moveCopy, type Size } from "./filled.ts";

export interface Sizes {
  /** Size of the whole database, per row. */
  readonly bytesPerRow: number;
  /** Size of the table of entries alone, per row. */
  readonly tableBytesPerRow: number;
  readonly indexBytesPerRow: number;
}

/** As in an installation: every commit is synced to disk, and autovacuum is on. */
const SETTINGS = { autovacuum: "on", shared_buffers: "512MB", max_wal_size: "4GB", max_connections: "100" };

const ENTRIES = "helmdeck_memory.entries";

export class Subjects implements AsyncDisposable {
  readonly #server: PostgresServer;
  readonly #address: string;
  readonly #home: string;
  readonly filledPerSecond: number;
  readonly movedPerSecond: number;

  private constructor(
    server: PostgresServer,
    parts: { address: string; home: string; filled: number; moved: number },
  ) {
    this.#server = server;
    this.#address = parts.address;
    this.#home = parts.home;
    this.filledPerSecond = parts.filled;
    this.movedPerSecond = parts.moved;
  }

  static async make(size: Size, onProgress: (message: string) => void): Promise<Subjects> {
    onProgress("filling SQLite");
    const { home, perSecond: filled } = await fillHome(size);
    const server = await startPostgres({ isDurable: true, settings: SETTINGS });
    try {
      const address = await makeDatabase(server);
      onProgress("moving to PostgreSQL");
      const moved = await moveCopy(home, size, address);
      await server.query("VACUUM ANALYZE", [], { database: "memory" });
      return new Subjects(server, { address, home, filled, moved });
    } catch (error) {
      await server.dispose();
      throw error;
    }
  }

  /** Can be called once, because the home is removed with the engine. */
  onSqlite(): Promise<Engine> {
    return Engine.start(undefined, { home: this.#home });
  }

  onPostgres(count: number): Promise<readonly Engine[]> {
    return Promise.all(Array.from({ length: count }, () => Engine.start(this.#address)));
  }

  /** Empties the database's own cache. The operating system's cache stays. */
  async restartPostgres(): Promise<void> {
    await this.#server.stop();
    await this.#server.start();
  }

  async sizes(): Promise<Sizes> {
    const [row] = await this.#server.query<{ all: number; table: number; indexes: number }>(
      `SELECT pg_database_size(current_database())::float8 / count(*) AS all, pg_table_size('${ENTRIES}')::float8 / count(*) AS table,
        pg_indexes_size('${ENTRIES}')::float8 / count(*) AS indexes FROM ${ENTRIES}`,
      [],
      { database: "memory" },
    );
    const { all = Number.NaN, table = Number.NaN, indexes = Number.NaN } = row ?? {};
    return { bytesPerRow: all, tableBytesPerRow: table, indexBytesPerRow: indexes };
  }

  /** Bytes written to the write-ahead log since the beginning. */
  async logPosition(): Promise<number> {
    const [row] = await this.#server.query<{ at: number }>(
      "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS at",
    );
    return row?.at ?? Number.NaN;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.dispose();
  }
}
