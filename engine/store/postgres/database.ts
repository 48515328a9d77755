/** The connections to one database: lent for one piece of work each, made anew when they are lost. */
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { HelmdeckError } from "../../errors.ts";
import { CommitLost, Connection } from "./connection.ts";
import { explainPostgresError, isLost, isToBeTriedAgain } from "./postgres-errors.ts";

/** How the server is reached: as `pg` takes it. The password may be a function, which is asked for each connection. */
export type PostgresConnection = Pick<
  pg.ClientConfig,
  "connectionString" | "host" | "port" | "database" | "user" | "password" | "ssl"
>;

export interface DatabaseOptions {
  readonly connection: PostgresConnection;
  /** Where the tables are; default `helmdeck_memory`. */
  readonly schema?: string;
  /** At most so many at once; default 10. */
  readonly connections?: number;
  /** How long a statement waits for another writer's lock; default 5,000. */
  readonly busyTimeoutMs?: number;
  /** Default 30,000. */
  readonly statementTimeoutMs?: number;
  /** How long a call goes on trying while the server cannot be reached; default 5,000. */
  readonly patienceMs?: number;
}

export const DEFAULT_SCHEMA = "helmdeck_memory";
const DEFAULTS = { connections: 10, busyTimeoutMs: 5_000, statementTimeoutMs: 30_000, patienceMs: 5_000 };
/** An engine that stands still in a transaction holds a subject's lock. */
const IDLE_IN_TRANSACTION_MS = 10_000;
const CONNECT_WITHIN_MS = 5_000;
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [20, 500];

/** PostgreSQL's numbers for types whose values fit a number here. */
const NUMBER_TYPES: ReadonlySet<number> = new Set([20, 21, 23, 1700]);

/** Settings of a session: where our tables are, and that a commit is on the disk when it is acknowledged. */
const SET_UP = `SELECT set_config('search_path', quote_ident($1) || ', pg_temp', false),
  CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', false) END`;

export class Database {
  readonly schema: string;
  /** For messages: without user and password. */
  readonly name: string;
  readonly #pool: pg.Pool;
  readonly #patienceMs: number;
  #isClosed = false;

  constructor({ connection, schema = DEFAULT_SCHEMA, ...more }: DatabaseOptions) {
    const { connections, busyTimeoutMs, statementTimeoutMs, patienceMs } = { ...DEFAULTS, ...more };
    const { host, port, database } = new pg.Client(connection);
    this.schema = schema;
    this.name = `${database} at ${host}:${port}`;
    this.#patienceMs = patienceMs;
    this.#pool = new pg.Pool({
      ...connection,
      pipeline: true,
      max: connections,
      connectionTimeoutMillis: CONNECT_WITHIN_MS,
      statement_timeout: statementTimeoutMs,
      lock_timeout: busyTimeoutMs,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
      application_name: "helmdeck-memory",
      keepAlive: true,
      types: { getTypeParser },
      onConnect: async (client) => {
        await client.query(SET_UP, [schema]);
      },
    });
    this.#pool.on("error", () => undefined); // an idle connection was lost; the next call makes another
  }

  /** One piece of work, which may be done again from its beginning when the connection is lost before it committed. */
  async perform<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const until = performance.now() + this.#patienceMs;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)) {
      this.requireOpen();
      try {
        return await this.#lend(work);
      } catch (error) {
        if (error instanceof CommitLost) throw await this.#explainLost(error);
        const mayTry = (isLost(error) || isToBeTriedAgain(error)) && performance.now() + pauseMs < until;
        if (!mayTry) throw explainPostgresError(error, this.name);
        await delay(pauseMs);
      }
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#pool.end();
  }

  async #lend<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect();
    let failure: unknown;
    const note = (error: unknown): void => {
      failure = error;
    };
    client.on("error", note); // the statement under way fails too
    try {
      return await work(new Connection({ client, schema: this.schema, name: this.name }));
    } catch (error) {
      if (isLost(error) || error instanceof CommitLost) failure = error;
      throw error;
    } finally {
      client.off("error", note);
      client.release(failure !== undefined);
    }
  }

  async #explainLost(error: CommitLost): Promise<HelmdeckError> {
    return explainPostgresError(error.cause, this.name);
  }

  requireOpen(): void {
    if (this.#isClosed) throw new HelmdeckError("store_unavailable", "This memory store has been closed.");
  }
}

function getTypeParser(type: number, format?: "text" | "binary"): (value: string) => unknown {
  return NUMBER_TYPES.has(type) && format !== "binary" ? Number : pg.types.getTypeParser(type, format);
}
