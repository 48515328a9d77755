/**
 * The write transactions of an open store: each is of the store that was opened, under the keys that it has now, at a time that was
 * observed, and alone with the subjects that it is about.
 *
 * Each locks its subjects' rows before it reads or numbers anything. So the changes of one subject are committed in the order of their
 * numbers, and a reader who has seen a number has seen all before it; different subjects do not wait for each other.
 */
import { compareText } from "../../compare-text.ts";
import type { StoreIdentity } from "../memory-store.ts";
import { type Namespace, ownerOf } from "../namespace.ts";
import type { Sealer } from "../sealing.ts";
import type { StoreClock } from "../store-clock.ts";
import { decodeTimeSeen, encodeTimeSeen } from "../time-seen.ts";
import type { Connection } from "./connection.ts";
import { setTimesRight } from "./corrections.ts";
import type { Database } from "./database.ts";
import type { DatabaseClock } from "./database-clock.ts";
import { OwnerQueue } from "./owner-queue.ts";
import { readSchemaState, requireKnown } from "./schema.ts";
import { followKeys, requireSame, requireStoreRow, type StoreRow } from "./store-row.ts";
import type { Wakes } from "./wakes.ts";
import { OneWriting, type Writing } from "./writing.ts";

export interface TransactionParts {
  readonly database: Database;
  readonly sealer: Sealer;
  readonly identity: StoreIdentity;
  readonly clock: StoreClock;
  readonly databaseClock: DatabaseClock;
  readonly wakes: Wakes;
}

interface WriteOptions {
  /** Gives way: `store_locked` soon when another engine writes for the same subject. */
  readonly givesWay?: boolean;
  /** How many numbers it will need, as far as is known. */
  readonly numbers?: number;
}

/** How long vectors wait for another writer: they can be written later. */
const GIVES_WAY_MS = 50;

export class WriteTransactions {
  readonly #parts: TransactionParts;
  readonly #queue = new OwnerQueue();
  /** As it was last read or written. */
  #timeSeen: string | undefined;

  constructor(parts: TransactionParts) {
    this.#parts = parts;
  }

  /** All of `work` or none of it, alone with the subjects of these namespaces. */
  async write<T>(
    namespaces: readonly Namespace[],
    work: (writing: Writing) => Promise<T>,
    { givesWay = false, numbers = 1 }: WriteOptions = {},
  ): Promise<T> {
    const owners = [...new Set(namespaces.map(ownerOf))].sort(compareText); // in one order, so that no two wait for each other
    return this.#queue.alone(owners, async () => {
      await this.look();
      const answered = await this.#transaction(async (connection) => {
        if (givesWay) void connection.run(`SET LOCAL lock_timeout = ${GIVES_WAY_MS}`);
        const opened = this.#requireSame(connection);
        opened.catch(() => undefined); // whoever asks for the time is told
        const now = async () => {
          this.#adopt(await opened);
          return this.#parts.clock.now();
        };
        const writing = await OneWriting.begin(connection, { owners, numbers, now });
        const answer = await work(writing);
        return { answer, changed: writing.save() };
      });
      this.#parts.wakes.tell(answered.changed);
      return answered.answer;
    });
  }

  /** Writes down what the clock shows, if it is worth that; and gives what was written while it was wrong its true times. */
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
      if (observation?.correction) await setTimesRight(connection, sealer, observation.correction);
      this.#timeSeen = seen;
    });
  }

  /** When all writes that were begun have ended. */
  async ended(): Promise<void> {
    await this.#queue.empty();
  }

  /** While no engine writes. */
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
        naming.catch(() => undefined); // what comes after it fails too
        const answer = await work(connection);
        await naming;
        return answer;
      }),
    );
  }

  /** It is the store that was opened, under the keys that it has now, and this program may write into it. */
  async #requireSame(connection: Connection): Promise<StoreRow> {
    const { sealer, identity, databaseClock } = this.#parts;
    const [state, row] = await Promise.all([readSchemaState(connection), requireStoreRow(connection)]);
    requireKnown(connection, state);
    requireSame(identity, row, connection.name);
    followKeys(sealer.ring, row, connection.name);
    databaseClock.set(row.clock);
    return row;
  }

  #adopt({ timeSeen }: StoreRow): void {
    const kept = timeSeen === this.#timeSeen || timeSeen === undefined ? undefined : decodeTimeSeen(timeSeen);
    if (kept !== undefined) this.#parts.clock.adopt(kept);
    this.#timeSeen = timeSeen;
  }
}
