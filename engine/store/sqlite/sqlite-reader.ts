/** The read-only part of the SQLite store; also used alone for read-only access. */
import { defined } from "../../defined.ts";
import { HelmdeckError } from "../../errors.ts";
import { endedMonths, ownNote } from "../../rules/ended.ts";
import { shownHistory } from "../../rules/history.ts";
import { nextTurn } from "../../timing.ts";
import type { Beginnings } from "../beginnings.ts";
import { encodeListCursor } from "../cursors.ts";
import { listLimitOf } from "../entry-rules.ts";
import { ALL_COLUMNS, CLEAR_COLUMNS } from "../fields.ts";
import type {
  CategoryCount,
  Changes,
  ChangesQuery,
  EndedMonth,
  Entry,
  EntryFilter,
  EntryPage,
  EntryRef,
  FormerKeysPage,
  FormerKeysQuery,
  FormerValue,
  InspectOptions,
  ListQuery,
  MemoryReader,
  MetaPage,
  NamespaceCount,
  Origin,
  ReferenceVectors,
  Revision,
  StoreCapabilities,
  StoreIdentity,
  StoreReport,
  SubjectUsage,
  UnixMs,
  Usage,
} from "../memory-store.ts";
import { type Namespace, ownerOf } from "../namespace.ts";
import type { Sealer } from "../sealing.ts";
import { all, endedLately } from "../sql/conditions.ts";
import type { StoreClock } from "../store-clock.ts";
import { metaOf, openRow, openRows, parseColumns } from "../stored-rows.ts";
import { checkSpace } from "../vector-rules.ts";
import { readChanges, readRevision } from "./change-feed.ts";
import {
  filterCondition,
  listCondition,
  liveCondition,
  type Moment,
  namespaceCondition,
  refCondition,
  sparedCondition,
} from "./conditions.ts";
import { pendingForgets } from "./forgets.ts";
import { readFormer, readFormerKeys } from "./former-rows.ts";
import { GuardedCalls } from "./guarded-calls.ts";
import { inspectStore } from "./inspect-store.ts";
import { orOneByOne, readEach, TIME_INDEX_COLUMNS } from "./salvage.ts";
import type { SqliteRow } from "./sqlite-driver.ts";
import { isSchemaMismatch } from "./sqlite-errors.ts";
import type { SqliteSession } from "./sqlite-session.ts";
import { readReferences } from "./sqlite-vectors.ts";
import type { StoreGuard } from "./store-guard.ts";
import { readHistory } from "./store-row.ts";
import { subjectsAfter, usageOf } from "./usage.ts";

interface RowPage {
  readonly rows: readonly SqliteRow[];
  readonly nextCursor?: string;
}

export interface SqliteReaderParts {
  readonly session: SqliteSession;
  readonly sealer: Sealer;
  readonly clock: StoreClock;
  readonly guard: StoreGuard;
  readonly beginnings: Beginnings;
  readonly driverName: string;
  /** Ends with this process. */
  readonly isInMemory?: boolean;
}

const IS_FORGETTING = "EXISTS (SELECT 1 FROM forgets WHERE is_pending) AS is_forgetting";

/** Each call runs synchronously; the promises come from the contract. */
export class SqliteReader implements MemoryReader {
  readonly capabilities: StoreCapabilities;
  protected readonly session: SqliteSession;
  protected readonly sealer: Sealer;
  protected readonly clock: StoreClock;
  protected readonly guard: StoreGuard;
  protected readonly calls: GuardedCalls;
  readonly #beginnings: Beginnings;
  readonly #driverName: string;

  constructor(parts: SqliteReaderParts) {
    const { session, sealer, clock, guard, beginnings, driverName, isInMemory = false } = parts;
    this.capabilities = { persistent: !isInMemory, shared: !isInMemory };
    this.session = session;
    this.sealer = sealer;
    this.clock = clock;
    this.guard = guard;
    this.calls = new GuardedCalls({ session, clock, guard });
    this.#beginnings = beginnings;
    this.#driverName = driverName;
  }

  get #rows() {
    return { session: this.session, sealer: this.sealer };
  }

  get identity(): StoreIdentity | undefined {
    return this.capabilities.persistent ? this.guard.identity : undefined;
  }

  now(): UnixMs {
    return this.clock.now();
  }

  protected get isWritable(): boolean {
    return false;
  }

  get(ref: EntryRef): Promise<Entry | undefined> {
    return this.calls.perform(() => {
      const row = orOneByOne(
        () => this.#rowOf(ref),
        (error) => this.#rowAmongEach(ref, error),
      );
      return row && this.#requireReadable(row, ref);
    });
  }

  list(query: ListQuery): Promise<EntryPage> {
    return this.calls.read((moment) => {
      const { rows, ...rest } = orOneByOne(
        () => this.#page(ALL_COLUMNS, query, moment),
        () => this.#pageOfEach(query, moment),
      );
      return { ...openRows(rows, this.sealer), ...rest };
    });
  }

  listMeta(query: ListQuery): Promise<MetaPage> {
    return this.calls.read((moment) => {
      const { rows, ...rest } = orOneByOne(
        () => this.#page(CLEAR_COLUMNS, query, moment),
        (error) => withKeys(this.#pageOfEach(query, moment), error),
      );
      const columns = rows.map(parseColumns).filter((parsed) => parsed !== undefined);
      return { entries: columns.map(metaOf), ...rest };
    });
  }

  history(ref: EntryRef): Promise<readonly FormerValue[]> {
    return this.calls.read((moment) => {
      const { sql, values } = all([refCondition(ref), liveCondition(moment)]);
      const row = this.session.statement(`SELECT id FROM entries WHERE ${sql}`).get(...values);
      return row === undefined ? [] : shownHistory(readFormer(this.#rows, `${row.id}`), moment.now);
    });
  }

  formerKeys(query: FormerKeysQuery): Promise<FormerKeysPage> {
    return this.calls.read((moment) => readFormerKeys(this.#rows, query, moment));
  }

  countWhere(filter: EntryFilter): Promise<number> {
    return this.calls.read((moment) => {
      const { sql, values } = filterCondition(filter);
      const live = liveCondition(moment);
      const counted = this.session
        .statement(`SELECT count(*) AS n FROM entries WHERE ${sql} AND ${live.sql}`)
        .get(...values, ...live.values);
      return Number(counted?.n);
    });
  }

  changes(query: ChangesQuery): Promise<Changes> {
    return this.calls.perform(() => {
      const at = { now: this.now(), beginnings: this.#beginnings };
      return this.session.read(() => readChanges(this.session, this.sealer, query, at));
    });
  }

  revision(
    namespace: Namespace,
    { includeSessions = false }: Pick<EntryFilter, "includeSessions"> = {},
  ): Promise<Revision> {
    return this.calls.perform(() =>
      this.session.read(() =>
        includeSessions ? readHistory(this.session).lastSeq : readRevision(this.session, namespace),
      ),
    );
  }

  namespaces(): Promise<readonly NamespaceCount[]> {
    return this.calls.read((moment) => {
      const live = liveCondition(moment);
      const sql = `SELECT namespace, count(*) AS n FROM entries WHERE ${live.sql} GROUP BY namespace ORDER BY namespace`;
      return this.session
        .statement(sql)
        .all(...live.values)
        .map((row) => ({
          namespace: `${row.namespace}` as Namespace, // always written as a namespace
          count: Number(row.n),
        }));
    });
  }

  usage(namespace: Namespace): Promise<Usage> {
    return this.calls.perform(() => this.session.read(() => usageOf(this.session, namespace)));
  }

  subjects(after: Namespace | undefined, limit: number): Promise<readonly SubjectUsage[]> {
    return this.calls.perform(() => this.session.read(() => subjectsAfter(this.session, after, limit)));
  }

  categories(namespace: Namespace): Promise<readonly CategoryCount[]> {
    return this.calls.read((moment) => {
      const owner = namespaceCondition(namespace);
      const live = liveCondition(moment);
      const sql = `SELECT origin, category, count(*) AS n FROM entries INDEXED BY entries_by_time WHERE ${owner.sql} AND ${live.sql}
        GROUP BY origin, category ORDER BY origin, category`;
      return this.session
        .statement(sql)
        .all(...owner.values, ...live.values)
        .map((row) => ({
          origin: `${row.origin}` as Origin, // always written as an origin
          category: `${row.category}`,
          count: Number(row.n),
        }));
    });
  }

  ended(namespace: Namespace): Promise<readonly EndedMonth[]> {
    return this.calls.read((moment) => {
      const lately = all([endedLately(moment.now), sparedCondition(moment.forgets)]);
      const { sql, values } = all([namespaceCondition(ownerOf(namespace)), lately]);
      const hidden = this.session.statement(
        `SELECT expires_at FROM entries INDEXED BY entries_by_expiry WHERE ${sql}`,
      );
      const note = this.#select(ALL_COLUMNS, ownNote(namespace, "ended"), moment);
      const ends = hidden.all(...values).map((row) => Number(row.expires_at));
      return endedMonths(note && openRow(note, this.sealer), ends, moment.now);
    });
  }

  referenceVectors(space: string): Promise<ReferenceVectors | undefined> {
    return this.calls.perform(() => {
      checkSpace(space);
      return this.session.read(() => readReferences(this.session, this.sealer, space));
    });
  }

  inspect(options: InspectOptions = {}): Promise<StoreReport> {
    const { session, sealer, clock, isWritable } = this;
    const slice = async <T>(work: () => T): Promise<T> => {
      const result = await this.calls.perform(work);
      await nextTurn();
      return result;
    };
    return inspectStore({ session, sealer, clock, isWritable, slice, driverName: this.#driverName }, options);
  }

  close(): Promise<void> {
    return this.calls.close();
  }

  #requireReadable(row: SqliteRow, ref: EntryRef): Entry {
    const entry = openRow(row, this.sealer);
    if (entry !== undefined) return entry;
    throw new HelmdeckError(
      "entry_unreadable",
      `The ${ref.origin} entry ${JSON.stringify(ref.key)} cannot be decrypted: its row was changed or moved, or sealed ` +
        "with another key. Store it again, or restore a backup; other entries are not affected.",
      { details: { origin: ref.origin, key: ref.key } },
    );
  }

  /** A single statement, and so a consistent read; a second one only while a delete is in progress. */
  #rowOf(ref: EntryRef): SqliteRow | undefined {
    const now = this.now();
    try {
      const row = this.#select(`${ALL_COLUMNS}, ${IS_FORGETTING}`, ref, { now, forgets: [] });
      if (row?.is_forgetting !== 1) return row;
    } catch (error) {
      if (!isSchemaMismatch(error)) throw error; // a file of an older version has no such table
    }
    return this.session.read(() =>
      this.#select(ALL_COLUMNS, ref, { now, forgets: pendingForgets(this.session) }),
    );
  }

  #select(columns: string, ref: EntryRef, moment: Moment): SqliteRow | undefined {
    const { sql, values } = refCondition(ref);
    const live = liveCondition(moment);
    return this.session
      .statement(`SELECT ${columns} FROM entries WHERE ${sql} AND ${live.sql}`)
      .get(...values, ...live.values);
  }

  /** Finds the row when the index of keys has a bad page. Throws the original error when the entry may have been on that page. */
  #rowAmongEach({ namespace, origin, key }: EntryRef, error: unknown): SqliteRow {
    return this.session.read(() => {
      const moment = { now: this.now(), forgets: pendingForgets(this.session) };
      let cursor: string | undefined;
      do {
        const page = this.#pageOfEach({ namespace, origin, ...defined({ cursor }) }, moment);
        const found = page.rows.find((row) => row.key === key);
        if (found !== undefined) return found;
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      throw error;
    });
  }

  /**
   * Reads the index first and then row by row, so that a bad page costs only its own rows. A row without a known key may match
   * any prefix.
   */
  #pageOfEach({ prefix = "", cursor: after, ...query }: ListQuery, moment: Moment): RowPage {
    const limit = listLimitOf(query);
    const rows: SqliteRow[] = [];
    let cursor = after;
    do {
      const page = this.#page(TIME_INDEX_COLUMNS, { ...query, ...defined({ cursor }) }, moment);
      const read = readEach(this.session, page.rows);
      rows.push(...read.filter(({ key }) => key === "" || `${key}`.startsWith(prefix)));
      cursor = page.nextCursor;
    } while (rows.length <= limit && cursor !== undefined);
    return cutTo(limit, rows, cursor !== undefined);
  }

  /**
   * Without statistics, SQLite would collect a whole namespace by key and sort it, so the time index is named; with a prefix, the
   * index of keys may be better, and SQLite chooses.
   */
  #page(columns: string, query: ListQuery, moment: Moment): RowPage {
    const limit = listLimitOf(query);
    const { sql, values } = listCondition(query, moment);
    const source = query.prefix === undefined ? "entries INDEXED BY entries_by_time" : "entries";
    const found = this.session
      .statement(`SELECT ${columns} FROM ${source} WHERE ${sql} ORDER BY updated_at DESC, id LIMIT ?`)
      .all(...values, limit + 1);
    return cutTo(limit, found, false);
  }
}

function cutTo(limit: number, found: readonly SqliteRow[], more: boolean): RowPage {
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  if (last === undefined || (!more && found.length <= limit)) return { rows };
  return { rows, nextCursor: encodeListCursor({ updatedAt: Number(last.updated_at), id: `${last.id}` }) };
}

/** An unreadable row is shown with the indexes' data. Throws the original error when not even its key is known. */
function withKeys({ rows, ...rest }: RowPage, error: unknown): RowPage {
  const known = rows.map((row) => {
    if (row.sealed !== null) return row;
    if (row.key === "") throw error;
    return { ...row, tags: "[]", created_at: row.updated_at, digest: new Uint8Array() };
  });
  return { rows: known, ...rest };
}
