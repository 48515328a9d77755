/** One connection while it is lent: its statements, sent without waiting for each other's answers, and its transactions. */
import type { PoolClient, QueryConfig } from "pg";
import type { Namespace } from "../namespace.ts";
import type { StoredRow } from "../stored-rows.ts";
import { isLost } from "./postgres-errors.ts";
import { prepared, type SqlValue } from "./sql.ts";
import { bytesOf } from "./texts.ts";

/** "HDMM", for advisory locks of ours. */
const LOCK_CLASS = 0x48444d4d;

const BEGIN = {
  // Whoever writes has locked the subject first, and each statement then sees what was committed before.
  write: "BEGIN ISOLATION LEVEL READ COMMITTED",
  // All statements see one moment.
  read: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
};
type Mode = keyof typeof BEGIN;

export interface ConnectionParts {
  readonly client: PoolClient;
  readonly schema: string;
  /** For messages. */
  readonly name: string;
}

/** By which the server knows a transaction afterwards. */
export interface TransactionName {
  readonly id: string;
  /** Which line of the server's history it belongs to: a standby that takes over begins another. */
  readonly timeline: string;
}

/** The connection was lost while it committed: only the server knows whether it did. */
export class CommitLost extends Error {
  readonly transaction: TransactionName;
  /** What the call would have answered. */
  readonly answer: unknown;

  constructor(transaction: TransactionName, answer: unknown, cause: unknown) {
    super("The connection was lost during a commit.", { cause });
    this.transaction = transaction;
    this.answer = answer;
  }
}

/** Of a server that may be written to: a name for its line of history. */
export const TIMELINE = "left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)";

export class Connection {
  readonly schema: string;
  readonly name: string;
  readonly #client: PoolClient;
  /** The first of this transaction; what comes after it only says that it came after. */
  #failure: unknown;
  #owner: string | undefined;
  #transaction: TransactionName | undefined;

  constructor({ client, schema, name }: ConnectionParts) {
    this.#client = client;
    this.schema = schema;
    this.name = name;
  }

  /** Sent at once, behind what was sent before. */
  query(sql: string, values: readonly SqlValue[] = []): Promise<readonly StoredRow[]> {
    return this.#send({ ...prepared(sql), values: [...values] });
  }

  /** SQL of our own without values: one statement or several. */
  run(sql: string): Promise<readonly StoredRow[]> {
    return this.#send({ text: sql });
  }

  /** Whose rows the statements that follow are about, until the transaction ends. */
  as(owner: Namespace): this {
    const hex = Buffer.from(bytesOf(owner)).toString("hex");
    if (this.#owner !== hex) void this.run(`SET LOCAL helmdeck.owner = '${hex}'`);
    this.#owner = hex;
    return this;
  }

  /** The statements that follow read everybody's rows, and write nobody's but the owner's. */
  acrossSubjects(): this {
    void this.run("SET LOCAL helmdeck.span = 'read'");
    return this;
  }

  /** Beside others who write, or alone, to change what all rows depend on: tables and keys. Until the transaction ends. */
  lockSchema(how: "beside others" | "alone"): Promise<unknown> {
    const shared = how === "alone" ? "" : "_shared";
    return this.query(`SELECT pg_advisory_xact_lock${shared}(${LOCK_CLASS}, hashtext(?))`, [this.schema]);
  }

  /** Others wait to write until this connection is given back. */
  lockAlone(): Promise<unknown> {
    return this.query(`SELECT pg_advisory_lock(${LOCK_CLASS}, hashtext(?))`, [this.schema]);
  }

  /** Lets the outcome be found out if the commit is lost; in a write transaction. */
  async nameTransaction(): Promise<TransactionName> {
    const sql = `SELECT pg_current_xact_id()::text AS id, ${TIMELINE} AS timeline`;
    const [row] = await this.query(sql);
    this.#transaction = { id: `${row?.id}`, timeline: `${row?.timeline}` };
    return this.#transaction;
  }

  /** What became of a transaction of another connection; undefined when this server cannot know. */
  async outcomeOf({ id, timeline }: TransactionName): Promise<string | undefined> {
    const sql = `SELECT CASE WHEN ${TIMELINE} = ? THEN pg_xact_status(?::text::xid8) END AS outcome`;
    const [row] = await this.query(sql, [timeline, id]);
    return typeof row?.outcome === "string" ? row.outcome : undefined;
  }

  /** All of `work` or none of it. */
  async transaction<T>(mode: Mode, work: () => Promise<T>): Promise<T> {
    this.#failure = this.#owner = this.#transaction = undefined;
    try {
      void this.run(BEGIN[mode]);
      const answer = await work();
      await this.#commit(answer);
      return answer;
    } catch (error) {
      if (!isLost(error)) await this.run("ROLLBACK").catch(() => undefined);
      throw error;
    } finally {
      this.#owner = undefined;
    }
  }

  async #commit(answer: unknown): Promise<void> {
    try {
      await this.run("COMMIT");
    } catch (error) {
      if (this.#transaction === undefined || !isLost(error)) throw error;
      throw new CommitLost(this.#transaction, answer, error);
    }
    if (this.#failure !== undefined) throw this.#failure;
  }

  #send(query: QueryConfig): Promise<readonly StoredRow[]> {
    const answer = this.#client.query(query).then(
      ({ rows }) => rows as readonly StoredRow[], // the types of columns are ours, see database.ts
      (error: unknown) => {
        this.#failure ??= error;
        throw this.#failure;
      },
    );
    answer.catch(() => undefined); // whoever waits for it is told, and the commit in any case
    return answer;
  }
}
