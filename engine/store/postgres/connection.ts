/** A borrowed connection: statements are pipelined, that is, sent without waiting for each other's results; and transactions. */
import type { PoolClient, QueryConfig } from "pg";
import type { Namespace } from "../namespace.ts";
import type { StoredRow } from "../stored-rows.ts";
import { isLost, isOfNoTransaction } from "./postgres-errors.ts";
import { bytesOf, prepared, type SqlValue } from "./sql.ts";

/** "HDMM", the class of our advisory locks. */
const LOCK_CLASS = 0x48444d4d;

const BEGIN = {
  // A writer has locked the subject first, and each statement then sees what was committed before. Each is planned for its values: a
  // plan that was kept from when a table was small would read all of it, until the server gathers statistics.
  write: "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL plan_cache_mode = force_custom_plan",
  // All statements see the same snapshot.
  read: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
};
type Mode = keyof typeof BEGIN;

export interface ConnectionParts {
  readonly client: PoolClient;
  readonly schema: string;
  /** For messages. */
  readonly name: string;
  /** Changes when the server has recovered from a crash. */
  readonly life?: string | undefined;
}

/** Identifies a transaction on the server afterwards. */
export interface TransactionName {
  readonly id: string;
  /** The server's timeline: a promoted standby starts a new one. */
  readonly timeline: string;
  /** The server's life in which it began: see {@link ConnectionParts}. */
  readonly life: string | undefined;
}

/** The connection was lost during a commit, or its wait for standbys was cancelled: only the server knows the outcome. */
export class CommitLost extends Error {
  readonly transaction: TransactionName;
  /** The result of the call, if it was committed. */
  readonly answer: unknown;

  constructor(transaction: TransactionName, answer: unknown, cause: unknown) {
    super("The outcome of a commit is unknown.", { cause });
    this.transaction = transaction;
    this.answer = answer;
  }
}

/** The server's function whose warning says that a commit's wait for synchronous standbys was cancelled. */
const WAIT_FOR_STANDBYS = "SyncRepWaitForLSN";

const OWN_TIMELINE = "left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)";
/** Identifies the server's timeline; null on a standby. */
export const TIMELINE = `CASE WHEN NOT pg_is_in_recovery() THEN ${OWN_TIMELINE} END`;

export class Connection {
  readonly schema: string;
  readonly name: string;
  readonly #client: PoolClient;
  readonly #life: string | undefined;
  /** The first failure of this transaction; later ones only follow from it. */
  #failure: unknown;
  /** The answer to the statement that was sent last. */
  #last: Promise<unknown> | undefined;
  #owner: string | undefined;
  #transaction: TransactionName | undefined;

  constructor({ client, schema, name, life }: ConnectionParts) {
    this.#client = client;
    this.#life = life;
    this.schema = schema;
    this.name = name;
  }

  /** Sent at once, after earlier statements. */
  query(sql: string, values: readonly SqlValue[] = []): Promise<readonly StoredRow[]> {
    return this.#send({ ...prepared(sql), values: [...values] });
  }

  /** Our own SQL without values: one or several statements. */
  run(sql: string): Promise<readonly StoredRow[]> {
    return this.#send({ text: sql });
  }

  /**
   * Like {@link as}, or without an owner like {@link acrossSubjects}, and returns the columns: a single statement, since reads
   * are frequent.
   */
  readAs(owner: Namespace | undefined, columns: string): Promise<readonly StoredRow[]> {
    if (owner === undefined)
      return this.query(`SELECT set_config('helmdeck.span', 'read', true), ${columns}`);
    this.#owner = hexOf(owner);
    return this.query(`SELECT set_config('helmdeck.owner', ?, true), ${columns}`, [this.#owner]);
  }

  /** Limits the following statements to this owner's rows, until the transaction ends. */
  as(owner: Namespace): this {
    const hex = hexOf(owner);
    if (this.#owner !== hex) void this.run(`SET LOCAL helmdeck.owner = '${hex}'`);
    this.#owner = hex;
    return this;
  }

  /** The following statements can read all subjects' rows, and write only the owner's. */
  acrossSubjects(): this {
    void this.run("SET LOCAL helmdeck.span = 'read'");
    return this;
  }

  /** Locks tables and keys until the transaction ends: shared with other writers, or exclusively to change them. */
  lockSchema(how: "beside others" | "alone"): Promise<unknown> {
    const shared = how === "alone" ? "" : "_shared";
    return this.query(`SELECT pg_advisory_xact_lock${shared}(${LOCK_CLASS}, hashtext(?))`, [this.schema]);
  }

  /** Other writers wait until this connection is returned. */
  lockAlone(): Promise<unknown> {
    return this.query(`SELECT pg_advisory_lock(${LOCK_CLASS}, hashtext(?))`, [this.schema]);
  }

  /** Allows to determine the outcome if the commit is lost; call it in a write transaction. */
  async nameTransaction(): Promise<TransactionName> {
    const sql = `SELECT pg_current_xact_id()::text AS id, ${TIMELINE} AS timeline`;
    const [row] = await this.query(sql);
    this.#transaction = { id: `${row?.id}`, timeline: `${row?.timeline}`, life: this.#life };
    return this.#transaction;
  }

  /**
   * The outcome of another connection's transaction; undefined when this server cannot know it.
   *
   * After a crash, the server reuses ids that were not on disk yet, so a commit may belong to another transaction. But an id that
   * is not committed now was never committed: ids on disk are not reused.
   */
  async outcomeOf({ id, timeline, life }: TransactionName): Promise<string | undefined> {
    const sql = `SELECT CASE WHEN ${TIMELINE} = ? THEN pg_xact_status(?::text::xid8) END AS outcome`;
    const [row] = await this.query(sql, [timeline, id]).catch((error: unknown) => {
      if (isOfNoTransaction(error)) return [{ outcome: "aborted" }];
      throw error;
    });
    if (typeof row?.outcome !== "string") return undefined;
    if (life === this.#life) return row.outcome;
    return row.outcome === "committed" ? undefined : "aborted";
  }

  /** Resolves when earlier commits are on the synchronous standbys, too. Throws {@link CommitLost} when that is unknown. */
  async awaitStandbys(): Promise<void> {
    await this.transaction("write", async () => {
      void this.nameTransaction();
      await this.query("SELECT FROM store FOR SHARE"); // a commit that wrote nothing would not wait
    });
  }

  /** See {@link TIMELINE}. */
  async timeline(): Promise<unknown> {
    const [row] = await this.query(`SELECT ${TIMELINE} AS timeline`);
    return row?.timeline;
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

  /**
   * All of `work` or none of it, in a transaction that goes on. Call {@link carriedOut} before the commit: a statement may have failed
   * unnoticed, and the server commits after a rollback to before it.
   */
  async attempt<T>(work: () => Promise<T>): Promise<T> {
    const owner = this.#owner;
    void this.run("SAVEPOINT attempt");
    try {
      const answer = await work();
      void this.run("RELEASE SAVEPOINT attempt");
      return answer;
    } catch (error) {
      await this.run("ROLLBACK TO SAVEPOINT attempt; RELEASE SAVEPOINT attempt");
      this.#owner = owner;
      throw error;
    }
  }

  /** Resolves when the server has carried out every statement; throws the first failure. */
  async carriedOut(): Promise<void> {
    await this.#last;
    if (this.#failure !== undefined) throw this.#failure;
  }

  async #commit(answer: unknown): Promise<void> {
    const warnings: (string | undefined)[] = [];
    const note = ({ routine }: { readonly routine?: string | undefined }) => void warnings.push(routine);
    this.#client.on("notice", note);
    try {
      await this.run("COMMIT");
    } catch (error) {
      if (this.#transaction === undefined || !isLost(error)) throw error;
      throw new CommitLost(this.#transaction, answer, error);
    } finally {
      this.#client.off("notice", note);
    }
    if (this.#failure !== undefined) throw this.#failure;
    const hasWaited = !warnings.includes(WAIT_FOR_STANDBYS);
    if (!hasWaited && this.#transaction !== undefined)
      throw new CommitLost(this.#transaction, answer, undefined);
  }

  #send(query: QueryConfig): Promise<readonly StoredRow[]> {
    const answer = this.#client.query(query).then(
      ({ rows }) => rows as readonly StoredRow[], // we define the columns' types, see database.ts
      (error: unknown) => {
        this.#failure ??= error;
        throw this.#failure;
      },
    );
    this.#last = answer;
    answer.catch(() => undefined); // the caller that awaits it sees the error, and so does the commit
    return answer;
  }
}

function hexOf(owner: Namespace): string {
  return Buffer.from(bytesOf(owner)).toString("hex");
}
