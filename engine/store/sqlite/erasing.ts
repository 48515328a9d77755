/** Deletes entries: few in one transaction, many in slices. A checkpoint after each erases their bytes. */
import { defined } from "../../defined.ts";
import { HelmdeckError } from "../../errors.ts";
import { NEWER_NAMED, newerOf, requireReached } from "../../rules/conditions.ts";
import { ALL_COLUMNS } from "../fields.ts";
import type { DeleteOptions, Entry, EntryFilter, EntryRef, Erasure, Newer, UnixMs } from "../memory-store.ts";
import type { Sealer } from "../sealing.ts";
import { all } from "../sql/conditions.ts";
import type { StoreClock } from "../store-clock.ts";
import { openRow } from "../stored-rows.ts";
import type { Checkpointer } from "./checkpoint.ts";
import {
  type Condition,
  type Forget,
  filterCondition,
  liveCondition,
  newerCondition,
  sparedCondition,
} from "./conditions.ts";
import type { DiskSpace } from "./disk-space.ts";
import { noteEnded, type Putting } from "./entry-writes.ts";
import { beginForget, deletedBy, ForgetRun } from "./forgets.ts";
import { CoveredRun } from "./former-rows.ts";
import type { GuardedCalls } from "./guarded-calls.ts";
import { dropNames, noteRemoval, removeRows } from "./removals.ts";
import { inSlices } from "./slices.ts";
import type { SqliteRow } from "./sqlite-driver.ts";
import { isFull } from "./sqlite-errors.ts";
import type { SqliteSession } from "./sqlite-session.ts";
import type { WriteTransactions, Writing } from "./transactions.ts";

interface EraserParts extends Putting {
  readonly clock: StoreClock;
  readonly calls: GuardedCalls;
  readonly transactions: WriteTransactions;
  readonly log: Checkpointer;
  readonly space: DiskSpace;
  /** The most entries to delete in one transaction; larger deletes run in slices. */
  readonly eraseAtOnce: number;
}

/** Rows, and how many of them had not expired. */
interface Counts {
  readonly rows: number;
  readonly live: number;
}

/** The result of a transaction that is followed by a checkpoint, unless none is needed. */
interface Erased {
  readonly live: number;
  readonly checkpointTime: number | undefined;
}

/** What is deleted, or being deleted, and what stays. */
interface Begun {
  readonly done: Erasure | Forget;
  readonly newer: Newer | undefined;
}

/** Rows of the first transaction on a full disk. */
const ROWS_ON_FULL_DISK = 64;
/** Before any expiry. */
const NEVER: UnixMs = -1;

export class Eraser {
  readonly #parts: EraserParts;

  constructor(parts: EraserParts) {
    this.#parts = parts;
  }

  delete({ namespace, origin, key }: EntryRef, options?: DeleteOptions): Promise<Erasure> {
    return this.deleteWhere({ namespace, origins: [origin], key, ...options });
  }

  async deleteWhere(filter: EntryFilter): Promise<Erasure> {
    const { calls, space, eraseAtOnce } = this.#parts;
    const former = new CoveredRun(this.#parts, filter);
    const begin = () =>
      space.withReserve((isDiskFull) =>
        calls.write(() =>
          former.attempt(() => this.#eraseOrBegin(filter, isDiskFull ? 0 : eraseAtOnce, former)),
        ),
      );
    const begun = (await begin()) ?? (await this.#lookThrough(former).then(begin));
    if (begun === undefined)
      throw new HelmdeckError("internal", "A delete needed the histories to be checked first.");
    const { done, newer } = begun;
    const erased = "seq" in done ? await this.#finish(done) : done;
    const others = { ...(former.erased > 0 && { former: former.erased }), ...defined({ newer }) };
    return space.shrinkFile({ ...erased, ...others });
  }

  async deleteExpired(): Promise<Erasure> {
    const { session, sealer, calls, space } = this.#parts;
    await this.finishAll();
    const run = new SweepRun(session, sealer);
    let swept: Erasure | undefined;
    await inSlices(async (isOver) => {
      swept = await calls.write(() => this.#sweep(run, isOver));
      return swept !== undefined;
    });
    space.createReserve();
    return space.shrinkFile(swept ?? { deleted: run.deleted, erased: "pending" });
  }

  /** Finishes deletes of processes that were killed. */
  async finishAll(): Promise<void> {
    const forgets = await this.#parts.calls.read((moment) => moment.forgets);
    for (const forget of forgets) await this.#finish(forget);
  }

  /** Erases covered values from many histories, in slices. */
  async #lookThrough(former: CoveredRun): Promise<void> {
    const { calls, transactions, space } = this.#parts;
    await inSlices((isOver) => {
      const slice = () => transactions.write(({ row }) => former.slice(() => !isOver(), row.history.lastSeq));
      return space.withReserve(() => calls.write(() => former.attempt(slice)));
    });
  }

  /**
   * Deletes few entries in one transaction; for many, only begins (see `forgets.ts`). Undefined, having done nothing, while many
   * histories must be checked first.
   */
  #eraseOrBegin(filter: EntryFilter, most: number, former: CoveredRun): Begun | undefined {
    const begun = this.#parts.transactions.write((writing) => {
      requireReached(filter, writing.row.history.lastSeq);
      if (!former.finish()) return undefined;
      const newer = this.#newer(filter, former, writing);
      const condition = all([filterCondition(filter), sparedCondition(writing.moment.forgets)]);
      const counts = this.#count(condition, most, writing);
      if (counts.rows <= most) return { done: this.#erase(condition, counts, writing, former.erased), newer };
      const forget = { seq: writing.nextSeq(), filter };
      beginForget(this.#parts.session, forget);
      return { done: forget, newer };
    });
    if (begun === undefined) return undefined;
    const { done, newer } = begun;
    return { done: "seq" in done ? done : this.#checkpointed(done), newer };
  }

  /** What stays because it was written after the filter's bound. */
  #newer(filter: EntryFilter, former: CoveredRun, { moment }: Writing): Newer | undefined {
    if (filter.upTo === undefined) return undefined;
    const { sql, values } = all([newerCondition(filter), liveCondition(moment)]);
    const { session } = this.#parts;
    const counted = session.statement(`SELECT count(*) AS n FROM entries WHERE ${sql}`).get(...values);
    const named = session
      .statement(`SELECT key FROM entries WHERE ${sql} ORDER BY +seq LIMIT ${NEWER_NAMED}`)
      .all(...values);
    const keys = [...named.map(({ key }) => `${key}`), ...former.newer];
    return newerOf(Number(counted?.n) + former.newer.length, keys);
  }

  /** Finishes a delete, slice by slice. */
  async #finish(forget: Forget): Promise<Erasure> {
    const { session, calls, transactions, log, space } = this.#parts;
    let run = new ForgetRun(session, forget);
    let most = Number.POSITIVE_INFINITY;
    await inSlices(async (isOver) => {
      try {
        const isDone = await calls.perform(() => this.#eraseSlice(run, most, isOver));
        await calls.perform(() =>
          Number.isFinite(most) ? transactions.checkpointNow() : log.checkpointBetweenSlices(),
        );
        return isDone;
      } catch (error) {
        if (!isFull(error) || most === 1) throw error;
        most = Number.isFinite(most) ? Math.max(1, most >> 3) : ROWS_ON_FULL_DISK;
        run = new ForgetRun(session, forget); // its progress was rolled back
        await space.freeReserve();
        return false;
      }
    });
    return calls.write(() => ({
      deleted: deletedBy(session, forget),
      erased: transactions.checkpointNow(),
    }));
  }

  #eraseSlice(run: ForgetRun, most: number, isOver: () => boolean): boolean {
    let left = most;
    const mayGoOn = (): boolean => {
      left -= 1;
      return left > 0 && !isOver();
    };
    return this.#parts.transactions.write(({ moment }) => run.slice(mayGoOn, moment.now));
  }

  /** One slice; undefined when there are more. */
  #sweep(run: SweepRun, isOver: () => boolean): Erasure | undefined {
    const { session, clock, log, transactions } = this.#parts;
    log.includeOldLog();
    log.checkpointBetweenSlices();
    const swept = transactions.write((writing) => {
      const swept: Entry[] = [];
      const remove = (row: SqliteRow, entry: Entry): void => {
        swept.push(entry);
        noteRemoval(this.#parts, row, writing.nextSeq());
        session.statement("DELETE FROM entries WHERE seq = ?").run(row.seq ?? null);
      };
      const isNameless = run.deleted === 0 && dropNames(session); // before this sweep's own removals
      const until = clock.deletableUntil ?? NEVER;
      const isDone = run.slice(() => !isOver(), until, remove);
      noteEnded(this.#parts, swept, writing, until);
      return isDone ? this.#announced(run.deleted > 0 || isNameless, writing) : undefined;
    });
    return swept && this.#checkpointed({ live: run.deleted, ...swept });
  }

  /** Deletes without decrypting anything. */
  #erase(condition: Condition, { rows, live }: Counts, writing: Writing, former = 0): Erased {
    if (rows > 0) removeRows(this.#parts, condition, { firstSeq: writing.takeSeqs(rows), rows });
    return { live, ...this.#announced(rows + former > 0, writing) };
  }

  #announced(isErased: boolean, { row }: Writing): Pick<Erased, "checkpointTime"> {
    return { checkpointTime: this.#parts.log.announceErasure(isErased, row.checkpointedAt) };
  }

  #checkpointed({ live, checkpointTime }: Erased): Erasure {
    const erased = checkpointTime === undefined ? "complete" : this.#parts.log.finishErasure(checkpointTime);
    return { deleted: live, erased };
  }

  /** Counts only as far as needed to know that it is too much for one transaction. */
  #count({ sql, values }: Condition, most: number, { moment }: Writing): Counts {
    const live = liveCondition({ now: moment.now, forgets: [] });
    const counted = this.#parts.session
      .statement(
        `SELECT count(*) AS n, count(*) FILTER (WHERE ${live.sql}) AS live
         FROM (SELECT expires_at FROM entries WHERE ${sql} LIMIT ?)`,
      )
      .get(...live.values, ...values, most + 1);
    return { rows: Number(counted?.n), live: Number(counted?.live) };
  }
}

const ROWS_AT_ONCE = 100;

/**
 * Deletes expired entries, in slices.
 *
 * The attacker can write the file and has no key. An expiry is a clear column, so each row must authenticate before it is
 * trusted: a row that does not is kept, and doctor and `verify` report it.
 */
export class SweepRun {
  readonly #session: SqliteSession;
  readonly #sealer: Sealer;
  #after: readonly [expiresAt: number, seq: number] = [Number.MIN_SAFE_INTEGER, Number.MIN_SAFE_INTEGER];
  #deleted = 0;

  constructor(session: SqliteSession, sealer: Sealer) {
    this.#session = session;
    this.#sealer = sealer;
  }

  /** Rows so far. */
  get deleted(): number {
    return this.#deleted;
  }

  /** Deletes until `mayGoOn` returns false; true when nothing is left. Call it in a write transaction. */
  slice(mayGoOn: () => boolean, until: UnixMs, remove: (row: SqliteRow, entry: Entry) => void): boolean {
    const select = this.#session.statement(
      `SELECT ${ALL_COLUMNS} FROM entries WHERE expires_at <= ? AND (expires_at, seq) > (?, ?)
       ORDER BY expires_at, seq LIMIT ${ROWS_AT_ONCE}`,
    );
    for (;;) {
      const rows = select.all(until, ...this.#after);
      for (const row of rows) {
        this.#after = [Number(row.expires_at), Number(row.seq)];
        const entry = openRow(row, this.#sealer);
        if (entry !== undefined) {
          remove(row, entry);
          this.#deleted += 1;
        }
        if (!mayGoOn()) return false;
      }
      if (rows.length < ROWS_AT_ONCE) return true;
    }
  }
}
