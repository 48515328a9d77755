/**
 * The write transactions of an open store: each verifies the store and its keys, observes the time, and holds the locks of its
 * subjects. Once the clock is right, the times of entries that were written while it was certainly wrong are corrected.
 *
 * Each locks its subjects' rows before it reads or allocates a number. So the changes of one subject are committed in order, and
 * a reader who has seen a number has seen all before it; different subjects do not wait for each other.
 */
import { compareText } from "../../compare-text.ts";
import { HelmdeckError } from "../../errors.ts";
import { historyChange } from "../../rules/plans.ts";
import { within } from "../../timing.ts";
import { ALL_COLUMNS } from "../fields.ts";
import type { StoreIdentity } from "../memory-store.ts";
import { type Namespace, ownerOf } from "../namespace.ts";
import type { Sealer } from "../sealing.ts";
import { all } from "../sql/conditions.ts";
import type { StoreClock } from "../store-clock.ts";
import { parseColumns, type StoredRow } from "../stored-rows.ts";
import { type Correction, decodeTimeSeen, encodeTimeSeen, withCorrectedTimes } from "../time-seen.ts";
import type { ChangeNotifications } from "./change-notifications.ts";
import { ownedBy } from "./conditions.ts";
import type { Connection } from "./connection.ts";
import type { Database } from "./database.ts";
import { selectEntries, UPDATE_ENTRY, valuesOf } from "./entry-rows.ts";
import { readFormer, writeFormer } from "./former-rows.ts";
import { readSchemaState, requireKnown } from "./schema.ts";
import { textOf } from "./sql.ts";
import { followKeys, requireSame, requireStoreRow, type StoreRow } from "./store-row.ts";
import { OneWriting, type Writing } from "./writing.ts";

interface TransactionParts {
  readonly database: Database;
  readonly sealer: Sealer;
  readonly identity: StoreIdentity;
  readonly clock: StoreClock;
  readonly notifications: ChangeNotifications;
}

export interface WriteOptions {
  /** Yields: throws `store_locked` soon when another engine writes for the same subject. */
  readonly givesWay?: boolean;
  /** How many numbers it will need, if known. */
  readonly numbers?: number;
}

/** How long vectors wait for another writer: they can be written later. */
const GIVES_WAY_MS = 50;

export class WriteTransactions {
  readonly #parts: TransactionParts;
  readonly #queue = new OwnerQueue();
  /** As last read or written. */
  #timeSeen: string | undefined;

  constructor(parts: TransactionParts) {
    this.#parts = parts;
  }

  /** All of `work` or none of it, with the subjects of these namespaces locked. */
  async write<T>(
    namespaces: readonly Namespace[],
    work: (writing: Writing) => Promise<T>,
    { givesWay = false, numbers = 1 }: WriteOptions = {},
  ): Promise<T> {
    const owners = [...new Set(namespaces.map(ownerOf))].sort(compareText); // in a fixed order, to avoid deadlocks
    const perform = async () => {
      await this.look();
      const answered = await this.#transaction(async (connection) => {
        if (givesWay) void connection.run(`SET LOCAL lock_timeout = ${GIVES_WAY_MS}`);
        const opened = this.#requireSame(connection);
        opened.catch(() => undefined); // callers that need the time see the error
        const now = async () => {
          this.#adopt(await opened);
          return this.#parts.clock.now();
        };
        const writing = await OneWriting.begin(connection, { owners, numbers, now });
        const answer = await work(writing);
        return { answer, changed: writing.save() };
      });
      this.#parts.notifications.notify(answered.changed);
      return answered.answer;
    };
    return this.#queue.alone(owners, perform, givesWay ? GIVES_WAY_MS : undefined);
  }

  /** Saves the clock's reading if it has advanced enough, and corrects entries that were written while it was wrong. */
  async look(): Promise<void> {
    const { clock, sealer } = this.#parts;
    if (!clock.isWorthKeeping() && this.#timeSeen !== undefined) return;
    await this.#transaction(async (connection) => {
      await connection.query("SELECT FROM store FOR UPDATE");
      this.#adopt(await this.#requireSame(connection));
      const observation = clock.observe();
      if (observation === undefined && this.#timeSeen !== undefined) return;
      const seen = encodeTimeSeen(clock.seen);
      void connection.query("UPDATE store SET time_seen = ?", [seen]);
      if (observation?.correction) await correctTimes(connection, sealer, observation.correction);
      this.#timeSeen = seen;
    });
  }

  /** Resolves when all writes that have begun are finished. */
  async ended(): Promise<void> {
    await this.#queue.empty();
  }

  /** Runs while no engine writes. */
  alone<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    return this.#transaction(async (connection) => {
      await this.#requireSame(connection);
      return work(connection);
    }, "alone");
  }

  #transaction<T>(
    work: (connection: Connection) => Promise<T>,
    how: "beside others" | "alone" = "beside others",
  ): Promise<T> {
    return this.#parts.database.perform((connection) =>
      connection.transaction("write", async () => {
        void connection.lockSchema(how);
        const naming = connection.nameTransaction();
        naming.catch(() => undefined); // later statements fail too
        const answer = await work(connection);
        await naming;
        return answer;
      }),
    );
  }

  /** Verifies that it is the opened store, with its current keys, and that this program may write to it. */
  async #requireSame(connection: Connection): Promise<StoreRow> {
    const { sealer, identity, database } = this.#parts;
    const [state, row] = await Promise.all([readSchemaState(connection), requireStoreRow(connection)]);
    requireKnown(connection, state);
    requireSame(identity, row, connection.name);
    followKeys(sealer.ring, row, connection.name);
    database.clock.set(row.clock);
    return row;
  }

  #adopt({ timeSeen }: StoreRow): void {
    const kept = timeSeen === this.#timeSeen || timeSeen === undefined ? undefined : decodeTimeSeen(timeSeen);
    if (kept !== undefined) this.#parts.clock.adopt(kept);
    this.#timeSeen = timeSeen;
  }
}

/** Queues the writers of one subject in this process, so that they do not all wait in the database, each with a connection. */
class OwnerQueue {
  readonly #last = new Map<Namespace, Promise<unknown>>();

  /** For each owner, in the order of the calls. Throws `store_locked` if its turn does not come within this time. */
  async alone<T>(
    owners: readonly Namespace[],
    work: () => Promise<T>,
    withinMs = Number.POSITIVE_INFINITY,
  ): Promise<T> {
    const turn = Promise.all(owners.map((owner) => this.#last.get(owner)));
    const running = (withinMs === Number.POSITIVE_INFINITY ? turn : within(withinMs, turn, busy)).then(work);
    const ended = Promise.allSettled([turn, running]);
    for (const owner of owners) this.#last.set(owner, ended);
    try {
      return await running;
    } finally {
      for (const owner of owners) if (this.#last.get(owner) === ended) this.#last.delete(owner);
    }
  }

  /** Resolves when everything queued so far has finished. */
  async empty(): Promise<void> {
    await Promise.all(this.#last.values());
  }
}

function busy(): never {
  throw new HelmdeckError("store_locked", "This process is still writing for this caller. Try again.");
}

/**
 * Otherwise a fact that was stored before the server knew the date would expire at once. Runs in the transaction that records the
 * corrected clock, so that each entry is corrected exactly once. A row that does not open stays unchanged.
 */
async function correctTimes(connection: Connection, sealer: Sealer, correction: Correction): Promise<void> {
  const { from, to } = correction;
  const written = { sql: "updated_at BETWEEN ? AND ?", values: [from, to] };
  const owners = await connection
    .acrossSubjects()
    .query(`SELECT DISTINCT owner FROM entries WHERE ${written.sql} ORDER BY owner`, written.values);
  const names = owners.map(({ owner }) => textOf(owner) as Namespace); // always written as a namespace
  const writing = await OneWriting.begin(connection, { owners: names, now: () => to });
  for (const owner of names) {
    writing.of(owner);
    const meant = all([ownedBy(owner), written]);
    const rows = await selectEntries(connection, ALL_COLUMNS, meant, { sql: "ORDER BY seq", values: [] });
    for (const row of rows) await setRowRight(writing, sealer, row, correction);
  }
  writing.save();
}

async function setRowRight(
  writing: OneWriting,
  sealer: Sealer,
  row: StoredRow,
  correction: Correction,
): Promise<void> {
  const columns = parseColumns(row);
  const content = columns && row.sealed instanceof Uint8Array ? sealer.open(columns, row.sealed) : undefined;
  if (columns === undefined || content === undefined) return;
  const subject = writing.of(columns.namespace as Namespace); // it was authenticated
  const right = { ...withCorrectedTimes(columns, correction), seq: await writing.nextSeq(subject) };
  void writing.connection.query(UPDATE_ENTRY, [...valuesOf(right, sealer.seal(right, content)), columns.id]);
  const before = await readFormer(writing.connection, sealer, columns.id);
  const history = before.map((former) => withCorrectedTimes(former, correction));
  await writeFormer(writing, sealer, { subject, entryId: columns.id }, historyChange(before, history));
}
