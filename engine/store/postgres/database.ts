/** The connections to one database: lent for one piece of work each, made anew when they are lost. */
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { HelmdeckError } from "../../errors.ts";
import { CommitLost, Connection, TIMELINE } from "./connection.ts";
import { explainPostgresError, isLost, isReadOnly, isToBeTriedAgain } from "./postgres-errors.ts";

/** How the server is reached: as `pg` takes it. The password may be a function, which is asked for each connection. */
export type PostgresConnection = Pick<
  pg.ClientConfig,
  "connectionString" | "host" | "port" | "database" | "user" | "password" | "ssl"
>;

/** A name or an address, or the folder of a socket. */
export interface DatabaseHost {
  readonly host: string;
  readonly port: number;
}

export interface DatabaseOptions {
  readonly connection: PostgresConnection;
  /** In place of the connection's: the next is tried where one does not answer, or is not what is needed. */
  readonly hosts?: readonly DatabaseHost[];
  /** `read-write`: a standby is passed over. Default `any`. */
  readonly needs?: "any" | "read-write";
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

const DEFAULT_SCHEMA = "helmdeck_memory";
const DEFAULTS = { connections: 10, busyTimeoutMs: 5_000, statementTimeoutMs: 30_000, patienceMs: 5_000 };
/** An engine that stands still in a transaction holds a subject's lock. */
const IDLE_IN_TRANSACTION_MS = 10_000;
const CONNECT_WITHIN_MS = 5_000;
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [20, 500];

/** PostgreSQL's numbers for types whose values fit a number here. */
const NUMBER_TYPES: ReadonlySet<number> = new Set([20, 21, 23, 1700]);

/** Settings of a session: where our tables are, and that a commit is on the disk when it is acknowledged. */
const SET_UP = `SELECT (pg_is_in_recovery() OR current_setting('default_transaction_read_only')::bool)::int AS read_only,
  set_config('search_path', quote_ident($1) || ', pg_temp', false),
  CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', false) END,
  CASE WHEN NOT pg_is_in_recovery() THEN ${TIMELINE} END AS timeline`;

export class Database {
  readonly schema: string;
  /** For messages: without user and password. */
  readonly name: string;
  readonly #config: pg.ClientConfig;
  readonly #connect: (host: DatabaseHost | undefined) => pg.Pool;
  readonly #hosts: readonly DatabaseHost[];
  readonly #needs: NonNullable<DatabaseOptions["needs"]>;
  readonly #patienceMs: number;
  #timeline: string | undefined;
  #onTakeover: () => void = () => undefined;
  #host = 0;
  #pool: pg.Pool;
  #isClosed = false;

  constructor({ connection, schema = DEFAULT_SCHEMA, hosts = [], needs = "any", ...more }: DatabaseOptions) {
    const { connections, busyTimeoutMs, statementTimeoutMs, patienceMs } = { ...DEFAULTS, ...more };
    this.schema = schema;
    this.name = nameOf(connection, hosts);
    this.#patienceMs = patienceMs;
    this.#config = {
      ...connection,
      connectionTimeoutMillis: CONNECT_WITHIN_MS,
      application_name: "helmdeck-memory",
      keepAlive: true,
    };
    this.#hosts = hosts;
    this.#needs = needs;
    this.#connect = (host) => {
      const pool = new pg.Pool({
        ...this.#config,
        ...host,
        pipeline: true,
        max: connections,
        statement_timeout: statementTimeoutMs,
        lock_timeout: busyTimeoutMs,
        idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
        types: { getTypeParser },
        onConnect: async (client) => {
          const { rows } = await client.query(SET_UP, [schema]);
          this.#noteTimeline(rows[0]?.timeline);
          if (needs === "read-write" && rows[0]?.read_only === 1) throw new ReadOnlyServer();
        },
      });
      return pool.on("error", () => undefined); // an idle connection was lost; the next call makes another
    };
    this.#pool = this.#connect(hosts[0]);
  }

  /** Another server has taken over: it may lack what was read from the one before. */
  set onTakeover(listener: () => void) {
    this.#onTakeover = listener;
  }

  /** One piece of work, which may be done again from its beginning when the connection is lost before it committed. */
  async perform<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const until = performance.now() + this.#patienceMs;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)) {
      this.requireOpen();
      const pool = this.#pool;
      try {
        return await this.#lend(pool, work);
      } catch (error) {
        const hasTime = performance.now() + pauseMs < until;
        if (error instanceof CommitLost && (await this.#hasCommitted(error, until))) return error.answer as T; // of this work
        const mayTry = (this.#mayTryAgain(error, pool) || error instanceof CommitLost) && hasTime;
        if (!mayTry) throw explainPostgresError(error, this.name);
        await delay(pauseMs * (0.5 + Math.random() / 2)); // engines that lost one server do not return as one
      }
    }
  }

  /** One that stays open, beside those that are lent; not connected yet. */
  clientBeside(): pg.Client {
    return new pg.Client({ ...this.#config, ...this.#hosts[this.#host] });
  }

  #mayTryAgain(error: unknown, pool: pg.Pool): boolean {
    const isElsewhere = isLost(error) || (this.#needs === "read-write" && isReadOnly(error));
    if (isElsewhere) this.#moveOn(pool);
    return isElsewhere || isToBeTriedAgain(error);
  }

  /** To the next server; what is under way on this one goes on. */
  #moveOn(pool: pg.Pool): void {
    if (this.#hosts.length < 2 || pool !== this.#pool || this.#isClosed) return;
    this.#host = (this.#host + 1) % this.#hosts.length;
    this.#pool = this.#connect(this.#hosts[this.#host]);
    pool.end().catch(() => undefined);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#pool.end();
  }

  async #lend<T>(pool: pg.Pool, work: (connection: Connection) => Promise<T>): Promise<T> {
    const client = await pool.connect();
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

  #noteTimeline(timeline: unknown): void {
    if (typeof timeline !== "string" || timeline === this.#timeline) return;
    if (this.#timeline !== undefined) this.#onTakeover();
    this.#timeline = timeline;
  }

  /** Throws when it cannot be known: then the caller has to look, and not to write again unseen. */
  async #hasCommitted({ transaction }: CommitLost, until: number): Promise<boolean> {
    for (;;) {
      const pool = this.#pool;
      const outcome = await this.#lend(pool, (connection) => connection.outcomeOf(transaction)).catch(
        (error) => {
          if (this.#mayTryAgain(error, pool)) return "in progress"; // not there yet
          throw error;
        },
      );
      if (outcome === "committed") return true;
      if (outcome === "aborted") return false;
      if (outcome === undefined || performance.now() + LONGEST_PAUSE_MS > until)
        throw unknownOutcome(this.name);
      await delay(FIRST_PAUSE_MS);
    }
  }

  requireOpen(): void {
    if (this.#isClosed) throw new HelmdeckError("store_unavailable", "This memory store has been closed.");
  }
}

function unknownOutcome(name: string): HelmdeckError {
  return new HelmdeckError(
    "store_unavailable",
    `The memory database ${name} was lost while it committed, and whether this write was kept is not known. Look whether it is ` +
      "there before you write it again.",
    { details: { outcome: "unknown" } },
  );
}

/** Asked for a server to write to, and it is a standby. */
class ReadOnlyServer extends Error {
  readonly code = "25006";

  constructor() {
    super("The server can only be read.");
  }
}

function nameOf(connection: PostgresConnection, hosts: readonly DatabaseHost[]): string {
  const { host, port, database } = new pg.Client({ ...connection, ...hosts[0] });
  const places = hosts.length === 0 ? [{ host, port }] : hosts;
  return `${database} at ${places.map((place) => `${place.host}:${place.port}`).join(", ")}`;
}

function getTypeParser(type: number, format?: "text" | "binary"): (value: string) => unknown {
  return NUMBER_TYPES.has(type) && format !== "binary" ? Number : pg.types.getTypeParser(type, format);
}
