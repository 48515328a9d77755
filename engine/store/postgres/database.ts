/**
 * The connections to one database: each is borrowed for one piece of work, and replaced when it is lost.
 *
 * pg's client does not pester a server here, and its socket never outlives it: that would keep the process alive. The server's
 * clock is shared by engines on several machines, however their own are set: each read and each write transaction synchronises
 * it; in between it advances by this machine's monotonic clock, which stands still while the machine sleeps.
 */
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { HelmdeckError } from "../../errors.ts";
import { within } from "../../timing.ts";
import type { ConnectionCounts, UnixMs } from "../memory-store.ts";
import { CommitLost, Connection, TIMELINE, type TransactionName } from "./connection.ts";
import { explainPostgresError, isAnswer, isLost, isReadOnly, isToBeTriedAgain } from "./postgres-errors.ts";
import { Attempts, Refusals, SilenceWatch } from "./reaching.ts";

/** Connection options of `pg`. The password may be a function, which is called for each connection. */
export type PostgresConnection = Pick<
  pg.ClientConfig,
  "connectionString" | "host" | "port" | "database" | "user" | "password" | "ssl"
>;

/** A host name, an IP address, or the folder of a socket. */
interface DatabaseHost {
  readonly host: string;
  readonly port: number;
}

export interface DatabaseOptions {
  readonly connection: PostgresConnection;
  /** Replaces the connection's host: the next one is tried when one does not answer, or is not suitable. */
  readonly hosts?: readonly DatabaseHost[];
  /** `read-write`: skips standbys. Default `any`. */
  readonly needs?: "any" | "read-write";
  /** The schema of the tables; default `helmdeck_memory`. */
  readonly schema?: string;
  /** The most concurrent connections; default 10. */
  readonly connections?: number;
  /** How long a statement waits for another writer's lock; default 5,000. */
  readonly busyTimeoutMs?: number;
  /** Default 30,000. */
  readonly statementTimeoutMs?: number;
  /** How long a call retries while another server takes over, and asks whether a lost commit was kept; default 5,000. */
  readonly patienceMs?: number;
}

type Task<T> = (connection: Connection, client: pg.ClientBase) => Promise<T>;

const DEFAULT_SCHEMA = "helmdeck_memory";
const DEFAULTS = { connections: 10, busyTimeoutMs: 5_000, statementTimeoutMs: 30_000, patienceMs: 5_000 };
/** A stalled engine in a transaction holds a subject's lock. */
const IDLE_IN_TRANSACTION_MS = 10_000;
const CONNECT_WITHIN_MS = 4_500;
/** Whether a server still answers is known within this time. */
const ANSWER_WITHIN_MS = 3_500;
/** Calls that follow one that reached no server fail like it, instead of waiting as long. */
const KNOWN_UNREACHABLE_MS = 500;
/** Then the operating system checks whether the server's machine still answers, ten times, a second apart. */
const KEEP_ALIVE_AFTER_MS = 10_000;
/** Between questions whether a commit was kept. */
const OUTCOME_PAUSE_MS = 20;

/** By the connection's options and host: a store that is opened again goes on with them. */
const REFUSALS = new WeakMap<PostgresConnection, Map<string, Refusals>>();

/** OIDs of PostgreSQL types whose values fit a JavaScript number here. */
const NUMBER_TYPES: ReadonlySet<number> = new Set([20, 21, 23, 1700]);

/**
 * Settings of a session: the schema, that a commit is on disk when it is acknowledged, and time limits. PgBouncer refuses them as
 * startup parameters.
 */
const SET_UP = `SELECT (pg_is_in_recovery() OR current_setting('default_transaction_read_only')::bool)::int AS read_only,
  set_config('search_path', quote_ident($1) || ', pg_temp', false),
  CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', false) END,
  set_config('statement_timeout', $2, false), set_config('lock_timeout', $3, false),
  set_config('idle_in_transaction_session_timeout', $4, false),
  ${TIMELINE} AS timeline,
  (SELECT stats_reset::text FROM pg_stat_wal) AS life`; // a recovery begins the statistics anew

export class Database {
  readonly schema: string;
  /** For messages, without user and password. */
  readonly name: string;
  readonly clock = new DatabaseClock();
  readonly #connection: PostgresConnection;
  readonly #config: ClientConfig;
  readonly #connect: (host: DatabaseHost | undefined) => pg.Pool;
  readonly #hosts: readonly DatabaseHost[];
  readonly #needs: NonNullable<DatabaseOptions["needs"]>;
  readonly #patienceMs: number;
  /** For each connection to a server that accepted writes at open or later. */
  readonly #timelines = new WeakMap<pg.ClientBase, string>();
  readonly #lives = new WeakMap<pg.ClientBase, string>();
  #timeline: string | undefined;
  /** How often another server has taken over. */
  #takeovers = 0;
  readonly #onTakeover: (() => void)[] = [];
  #host = 0;
  #pool: pg.Pool;
  /** Calls that wait for a connection of `#pool`: each function makes one of them leave. */
  readonly #waiting = new Set<() => void>();
  readonly #silence = new SilenceWatch(() => this.#answers());
  /** When a call last reached no server. */
  #unreachableAt = Number.NEGATIVE_INFINITY;
  readonly #most: number;
  #everOpened = 0;
  #isClosed = false;

  constructor({ connection, schema = DEFAULT_SCHEMA, hosts = [], needs = "any", ...more }: DatabaseOptions) {
    const { connections, busyTimeoutMs, statementTimeoutMs, patienceMs } = { ...DEFAULTS, ...more };
    this.schema = schema;
    this.name = nameOf(connection, hosts);
    this.#patienceMs = patienceMs;
    this.#most = connections;
    this.#connection = connection;
    this.#config = {
      ...connection,
      connectionTimeoutMillis: CONNECT_WITHIN_MS,
      application_name: "helmdeck-memory",
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
    };
    this.#hosts = hosts;
    this.#needs = needs;
    this.#connect = (host) => {
      const pool = new pg.Pool({
        ...this.#configOf(host),
        Client,
        pipeline: true,
        max: connections,
        // A server that stopped without closing its connections ends no statement. A working one has answered before.
        query_timeout: statementTimeoutMs + 2 * busyTimeoutMs,
        types: { getTypeParser },
        onConnect: async (client) => {
          const timeouts = [statementTimeoutMs, busyTimeoutMs, IDLE_IN_TRANSACTION_MS].map(String);
          const setUp = { text: SET_UP, values: [schema, ...timeouts], query_timeout: CONNECT_WITHIN_MS };
          const { rows } = await client.query(setUp);
          const { life, timeline, read_only: readOnly } = rows[0] ?? {};
          if (this.#isFormer(timeline)) throw new UnsuitableServer();
          this.#everOpened += 1;
          this.#lives.set(client, life);
          this.#noteTimeline(client, timeline);
          if (needs === "read-write" && readOnly === 1) throw new UnsuitableServer();
        },
      });
      return pool.on("error", () => undefined); // an idle connection was lost; the next call opens another
    };
    this.#pool = this.#connect(hosts[0]);
  }

  get counts(): ConnectionCounts {
    const { totalCount: open, idleCount, waitingCount: waiting } = this.#pool;
    const most = this.#most;
    return { open, inUse: open - idleCount, waiting, most, everOpened: this.#everOpened };
  }

  /** Another server has taken over: it may lack data that was read from the former one. */
  onTakeover(listener: () => void): void {
    this.#onTakeover.push(listener);
  }

  /**
   * Reads in one transaction from the current server; retries if another one took over meanwhile. Otherwise the former server's
   * answer could be mistaken for the new one's, and a reader of the change feed would resume from it.
   */
  async read<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    for (;;) {
      const before = this.#takeovers;
      const answer = await this.perform((connection, client) =>
        connection.transaction("read", async () => {
          const found = await work(connection);
          // A standby may have been promoted since the connection was opened.
          if (!this.#timelines.has(client)) this.#noteTimeline(client, await connection.timeline());
          return found;
        }),
      );
      if (before === this.#takeovers) return answer;
    }
  }

  /**
   * Runs one piece of work, and retries it from the beginning when the connection is lost before the commit: briefly while no
   * server can be reached, longer while one starts or another one takes over.
   */
  async perform<T>(work: Task<T>): Promise<T> {
    const attempts = new Attempts(this.#patienceMs, this.#hosts.length);
    for (;;) {
      this.requireOpen();
      this.#requireReachable(attempts);
      const pool = this.#pool;
      let isReached = false;
      try {
        return await this.#lend(pool, (connection, client) => {
          isReached = true;
          return work(connection, client);
        });
      } catch (error) {
        if (error instanceof CommitLost && (await this.#hasCommitted(error, attempts.until)))
          return error.answer as T; // the answer of this work
        const isAnswered = isReached || isAnswer(error);
        attempts.noteFailure(isAnswered);
        const mayTry = error instanceof CommitLost || this.#mayTryAgain(error, pool);
        if (!mayTry || !attempts.hasTime) throw this.#givingUp(error, isAnswered);
        await attempts.pause();
      }
    }
  }

  #givingUp(error: unknown, isAnswered: boolean): HelmdeckError {
    if (!isAnswered) this.#noteReach(false);
    return explainPostgresError(error instanceof CommitLost ? new PoolLeft() : error, this.name); // it was not committed
  }

  #noteReach(isReached: boolean): void {
    this.#unreachableAt = isReached ? Number.NEGATIVE_INFINITY : performance.now();
  }

  #requireReachable({ begunAt }: Attempts): void {
    if (begunAt - this.#unreachableAt < KNOWN_UNREACHABLE_MS)
      throw explainPostgresError(new PoolLeft(), this.name);
  }

  /** A long-lived connection outside of the pool; not connected yet. */
  clientBeside(): pg.Client {
    return new Client(this.#configOf(this.#hosts[this.#host]));
  }

  #configOf(host: DatabaseHost | undefined): ClientConfig {
    return { ...this.#config, ...host, refusals: refusalsOf(this.#connection, host) };
  }

  #mayTryAgain(error: unknown, pool: pg.Pool): boolean {
    const isElsewhere = isLost(error) || (this.#needs === "read-write" && isReadOnly(error));
    if (isElsewhere) this.#moveOn(pool);
    return isElsewhere || isToBeTriedAgain(error);
  }

  /** Switches to the next server; work in progress on this one continues. */
  #moveOn(pool: pg.Pool): void {
    if (this.#hosts.length < 2 || pool !== this.#pool || this.#isClosed) return;
    this.#host = (this.#host + 1) % this.#hosts.length;
    this.#pool = this.#connect(this.#hosts[this.#host]);
    this.#leave(pool).catch(() => undefined);
  }

  /** Ends a pool. Calls that wait for it fail as if their connection were lost: it serves them no longer. */
  async #leave(pool: pg.Pool): Promise<void> {
    this.#letGo();
    await pool.end();
  }

  /** Calls that wait for a connection fail as if theirs were lost. */
  #letGo(): void {
    for (const leave of this.#waiting) leave();
    this.#waiting.clear();
  }

  /** Also true for a refusal, such as one of too many connections. */
  async #answers(): Promise<boolean> {
    const host = this.#hosts[this.#host];
    const client = new Client({ ...this.#config, ...host, connectionTimeoutMillis: ANSWER_WITHIN_MS });
    client.on("error", () => undefined); // connecting reports it
    try {
      await client.connect();
      return true;
    } catch (error) {
      return isAnswer(error);
    } finally {
      client.end().catch(() => undefined);
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#leave(this.#pool);
  }

  async #lend<T>(pool: pg.Pool, work: Task<T>): Promise<T> {
    const client = await this.#connectTo(pool);
    this.#noteReach(true);
    const unwatch = this.#silence.begin(() => {
      if (this.#hosts.length < 2) this.#noteReach(false);
      client.connection.stream.destroy(); // its statements fail, so that a lost commit is noticed
      this.#letGo();
    });
    let failure: unknown;
    const note = (error: unknown): void => {
      failure = error;
    };
    client.on("error", note); // the current statement fails too
    try {
      const life = this.#lives.get(client);
      return await work(new Connection({ client, schema: this.schema, name: this.name, life }), client);
    } catch (error) {
      if (isLost(error) || error instanceof CommitLost) failure = error;
      throw error;
    } finally {
      unwatch();
      client.off("error", note);
      client.release(failure !== undefined);
    }
  }

  /** Never to a server that was replaced by another: it may still run without knowing that. */
  async #connectTo(pool: pg.Pool): Promise<pg.PoolClient> {
    for (;;) {
      const client = await this.#freeOne(pool);
      const timeline = this.#timelines.get(client);
      if (timeline === undefined || timeline === this.#timeline) return client;
      client.release(true);
    }
  }

  #freeOne(pool: pg.Pool): Promise<pg.PoolClient> {
    if (pool !== this.#pool || this.#isClosed) throw new PoolLeft();
    return new Promise((resolve, reject) => {
      const leave = () => reject(new PoolLeft());
      this.#waiting.add(leave);
      pool.connect().then(
        (client) => (this.#waiting.delete(leave) ? resolve(client) : client.release()),
        (error: unknown) => {
          this.#waiting.delete(leave);
          if (isLost(error)) this.#letGo(); // otherwise each of them would wait as long
          reject(error);
        },
      );
    });
  }

  /** A promoted server has a higher timeline than its former primary. */
  #isFormer(timeline: unknown): boolean {
    return typeof timeline === "string" && this.#timeline !== undefined && timeline < this.#timeline;
  }

  #noteTimeline(client: pg.ClientBase, timeline: unknown): void {
    if (typeof timeline !== "string") return;
    this.#timelines.set(client, timeline);
    const before = this.#timeline;
    this.#timeline = timeline;
    if (before === undefined || before === timeline) return;
    this.#takeovers += 1;
    for (const listener of this.#onTakeover) listener();
  }

  /** Throws when the outcome is unknown: then the caller must check before it writes again. */
  async #hasCommitted({ transaction }: CommitLost, until: number): Promise<boolean> {
    for (;;) {
      const pool = this.#pool;
      const asked = this.#lend(pool, (connection) => fateOf(transaction, connection)).catch((error) => {
        if (this.#mayTryAgain(error, pool)) return "in progress"; // not there yet
        throw unknownOutcome(this.name);
      });
      const outcome = await within(Math.max(0, until - performance.now()), asked, () => undefined);
      if (outcome === "committed") return true;
      if (outcome === "aborted") return false;
      if (outcome === undefined || performance.now() + OUTCOME_PAUSE_MS > until)
        throw unknownOutcome(this.name);
      await delay(OUTCOME_PAUSE_MS);
    }
  }

  requireOpen(): void {
    if (this.#isClosed) throw new HelmdeckError("store_unavailable", "This memory store is closed.");
  }
}

/** A server that is stopped commits what still waits for standbys. */
async function fateOf(transaction: TransactionName, connection: Connection): Promise<string | undefined> {
  const outcome = await connection.outcomeOf(transaction);
  if (outcome === "committed") await connection.awaitStandbys();
  return outcome;
}

function unknownOutcome(name: string): HelmdeckError {
  return new HelmdeckError(
    "store_unavailable",
    `The memory database ${name} did not confirm a commit, so it is unknown whether this write was kept. Check that before ` +
      "you write it again.",
    { details: { outcome: "unknown" } },
  );
}

/** The pool that a call waited for is not used any more. */
class PoolLeft extends Error {
  readonly code = "08003";

  constructor() {
    super("The connection does not exist.");
  }
}

/** A writable server was required, but this is a standby; or another server has taken over from this one. */
class UnsuitableServer extends Error {
  readonly code = "25006";

  constructor() {
    super("The server is not the primary.");
  }
}

function refusalsOf(connection: PostgresConnection, { host, port }: Partial<DatabaseHost> = {}): Refusals {
  const known = REFUSALS.get(connection) ?? new Map<string, Refusals>();
  const name = `${host}:${port}`;
  const refusals = known.get(name) ?? new Refusals();
  REFUSALS.set(connection, known.set(name, refusals));
  return refusals;
}

function nameOf(connection: PostgresConnection, hosts: readonly DatabaseHost[]): string {
  const { host, port, database } = new pg.Client({ ...connection, ...hosts[0] });
  const places = hosts.length === 0 ? [{ host, port }] : hosts;
  return `${database} at ${places.map((place) => `${place.host}:${place.port}`).join(", ")}`;
}

function getTypeParser(type: number, format?: "text" | "binary"): (value: string) => unknown {
  return NUMBER_TYPES.has(type) && format !== "binary" ? Number : pg.types.getTypeParser(type, format);
}

/** How long the server has to close a connection that we ended. */
const GOODBYE_MS = 1_000;

interface ClientConfig extends pg.ClientConfig {
  /** Absent: asks the server, whatever it refused before. */
  readonly refusals?: Refusals | undefined;
}

class Client extends pg.Client {
  readonly #config: ClientConfig;

  constructor(config: ClientConfig = {}) {
    super(config);
    this.#config = config;
    const { connection } = this;
    connection.on("error", () => connection.stream.destroy()); // also where pg gives up, for example without a password
  }

  override connect(): Promise<pg.Client>;
  override connect(callback: (error: Error | null) => void): void;
  override connect(callback?: (error: Error | null) => void): Promise<pg.Client> | void {
    if (callback !== undefined) return void this.#connect(callback);
    return new Promise((resolve, reject) => {
      void this.#connect((error) => (error ? reject(error) : resolve(this)));
    });
  }

  /** Calls back synchronously, as pg does: an error right after a connection was made must find the listener. */
  async #connect(callback: (error: Error | null) => void): Promise<void> {
    const { refusals, password: given } = this.#config;
    let note: ((failure: unknown) => void) | undefined;
    try {
      const password = typeof given === "function" ? await given() : given;
      note = refusals?.begin(password);
    } catch (error) {
      return callback(error as Error); // of the operator's file, or what pg called back with
    }
    super.connect((error: Error | null) => {
      note?.(error);
      callback(error);
    });
  }

  override end(): Promise<void>;
  override end(callback: (error: Error) => void): void;
  override end(callback?: (error: Error) => void): Promise<void> | void {
    const { connection } = this;
    const late = setTimeout(() => connection.stream.destroy(), GOODBYE_MS).unref();
    connection.once("end", () => clearTimeout(late));
    return callback === undefined ? super.end() : super.end(callback);
  }
}

/** The server's clock in Unix milliseconds, in SQL. */
export const CLOCK = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

export class DatabaseClock {
  #shown: UnixMs = 0;
  #at = 0;

  set(shown: UnixMs): void {
    this.#shown = shown;
    this.#at = performance.now();
  }

  now(): UnixMs {
    return Math.floor(this.#shown + (performance.now() - this.#at));
  }
}
