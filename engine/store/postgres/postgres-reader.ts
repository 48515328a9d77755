/** The read-only part of the PostgreSQL store; also used alone for read-only access. */
import { defined } from "../../defined.ts";
import { HelmdeckError } from "../../errors.ts";
import { endedMonths, ownNote } from "../../rules/ended.ts";
import { shownHistory } from "../../rules/history.ts";
import type { Beginnings } from "../beginnings.ts";
import { encodeListCursor } from "../cursors.ts";
import { changesLimitOf, listLimitOf } from "../entry-rules.ts";
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
import { metaOf, openRow, openRows, parseColumns, type StoredRow } from "../stored-rows.ts";
import { checkSpace } from "../vector-rules.ts";
import { changesOf, readFeed } from "./change-feed.ts";
import {
  filterCondition,
  listCondition,
  liveCondition,
  namespaceCondition,
  refCondition,
} from "./conditions.ts";
import type { Connection } from "./connection.ts";
import type { Database } from "./database.ts";
import { selectEntries } from "./entry-rows.ts";
import { readFormer, readFormerKeys } from "./former-rows.ts";
import { inspectStore } from "./inspect-store.ts";
import { readReferences } from "./postgres-vectors.ts";
import { bytesOf, type SqlValue, textOf } from "./sql.ts";
import { followKeys, readStoreRow, requireInUse } from "./store-row.ts";
import { LAST_NUMBER, readSubject } from "./subjects.ts";

export interface PostgresReaderParts {
  readonly database: Database;
  readonly sealer: Sealer;
  readonly clock: StoreClock;
  readonly identity: StoreIdentity;
  readonly beginnings: Beginnings;
  readonly keyWatch: KeyWatch;
}

export class PostgresReader implements MemoryReader {
  readonly capabilities: StoreCapabilities = { persistent: true, shared: true };
  readonly identity: StoreIdentity;
  protected readonly database: Database;
  protected readonly sealer: Sealer;
  protected readonly clock: StoreClock;
  readonly #beginnings: Beginnings;
  readonly #keyWatch: KeyWatch;

  constructor({ database, sealer, clock, identity, beginnings, keyWatch }: PostgresReaderParts) {
    this.database = database;
    this.sealer = sealer;
    this.clock = clock;
    this.identity = identity;
    this.#beginnings = beginnings;
    this.#keyWatch = keyWatch;
  }

  now(): UnixMs {
    return this.clock.now();
  }

  get(ref: EntryRef): Promise<Entry | undefined> {
    const condition = all([refCondition(ref), liveCondition(this.now())]);
    return this.reading(ref.namespace, async (connection) => {
      const [row] = await selectEntries(connection, ALL_COLUMNS, condition);
      return row && (openRow(row, this.sealer) ?? unreadable(ref));
    }).then(requireReadable);
  }

  list(query: ListQuery): Promise<EntryPage> {
    return this.#page(ALL_COLUMNS, query, (rows) => openRows(rows, this.sealer));
  }

  listMeta(query: ListQuery): Promise<MetaPage> {
    return this.#page(CLEAR_COLUMNS, query, (rows) => ({
      entries: rows
        .map(parseColumns)
        .filter((parsed) => parsed !== undefined)
        .map(metaOf),
    }));
  }

  async history(ref: EntryRef): Promise<readonly FormerValue[]> {
    const now = this.now();
    const condition = all([refCondition(ref), liveCondition(now)]);
    return this.reading(ref.namespace, async (connection) => {
      const [row] = await selectEntries(connection, "id", condition);
      return row === undefined
        ? []
        : shownHistory(await readFormer(connection, this.sealer, `${row.id}`), now);
    });
  }

  async formerKeys(query: FormerKeysQuery): Promise<FormerKeysPage> {
    return this.reading(query.namespace, (connection) =>
      readFormerKeys(connection, this.sealer, query, this.now()),
    );
  }

  async countWhere(filter: EntryFilter): Promise<number> {
    const { sql, values } = all([filterCondition(filter), liveCondition(this.now())]);
    const [counted] = await this.reading(filter.namespace, (connection) =>
      connection.query(`SELECT count(*) AS n FROM entries WHERE ${sql}`, values),
    );
    return Number(counted?.n);
  }

  async changes(query: ChangesQuery): Promise<Changes> {
    changesLimitOf(query);
    const at = { sealer: this.sealer, now: this.now(), beginnings: this.#beginnings };
    return this.reading(query.namespace, async (connection) => {
      const page = await readFeed(connection, query, at.beginnings.hiddenBefore(at.now));
      return changesOf(page, query, at);
    });
  }

  /** A subject's sessions always count. */
  async revision(namespace: Namespace): Promise<Revision> {
    const owner = ownerOf(namespace);
    return this.reading(namespace, async (connection) => {
      const { newestSeq } = await readSubject(connection, owner);
      if (newestSeq > 0) return newestSeq;
      return Number((await connection.query(LAST_NUMBER))[0]?.last); // it may have had entries, and must not fall
    });
  }

  async namespaces(): Promise<readonly NamespaceCount[]> {
    const { sql, values } = liveCondition(this.now());
    const rows = await this.readingAll((connection) =>
      connection.query(
        `SELECT namespace, count(*) AS n FROM entries WHERE ${sql} GROUP BY namespace ORDER BY namespace`,
        values,
      ),
    );
    return rows.map(({ namespace, n }) => ({
      namespace: nameIn(namespace),
      count: Number(n),
    }));
  }

  async usage(namespace: Namespace): Promise<Usage> {
    const owner = ownerOf(namespace);
    const { entries, bytes } = await this.reading(namespace, (connection) => readSubject(connection, owner));
    return { entries, bytes };
  }

  async subjects(after: Namespace | undefined, limit: number): Promise<readonly SubjectUsage[]> {
    const sql =
      "SELECT owner, entries, bytes FROM subjects WHERE owner > ? AND entries > 0 ORDER BY owner LIMIT ?";
    const asked = [bytesOf(after ?? ""), limit];
    const rows = await this.readingAll((connection) => connection.query(sql, asked));
    return rows.map(({ owner, entries, bytes }) => {
      return { namespace: nameIn(owner), entries: Number(entries), bytes: Number(bytes) };
    });
  }

  async categories(namespace: Namespace): Promise<readonly CategoryCount[]> {
    const { sql, values } = all([namespaceCondition(namespace), liveCondition(this.now())]);
    const rows = await this.reading(namespace, (connection) =>
      connection.query(
        `SELECT origin, category, count(*) AS n FROM entries WHERE ${sql} GROUP BY origin, category ORDER BY origin, category`,
        values,
      ),
    );
    return rows.map(({ origin, category, n }) => ({
      origin: `${origin}` as Origin, // always written as an origin
      category: textOf(category),
      count: Number(n),
    }));
  }

  async ended(namespace: Namespace): Promise<readonly EndedMonth[]> {
    const now = this.now();
    const note = all([refCondition(ownNote(namespace, "ended")), liveCondition(now)]);
    const hidden = all<SqlValue>([namespaceCondition(ownerOf(namespace)), endedLately(now)]);
    return this.reading(namespace, async (connection) => {
      const [row] = await selectEntries(connection, ALL_COLUMNS, note);
      const ends = (await selectEntries(connection, "expires_at", hidden)).map((one) =>
        Number(one.expires_at),
      );
      return endedMonths(row && openRow(row, this.sealer), ends, now);
    });
  }

  async referenceVectors(space: string): Promise<ReferenceVectors | undefined> {
    checkSpace(space);
    return this.readingAll((connection) => readReferences(connection, this.sealer, space));
  }

  inspect(options: InspectOptions = {}): Promise<StoreReport> {
    const { database, sealer, clock } = this;
    return inspectStore({ database, sealer, clock, mayWrite: this.mayWrite }, options);
  }

  async close(): Promise<void> {
    await this.database.close();
  }

  protected get mayWrite(): boolean {
    return false;
  }

  /** In a read transaction with one snapshot, limited to this namespace's subject. */
  protected reading<T>(namespace: Namespace, work: (connection: Connection) => Promise<T>): Promise<T> {
    return this.#knowingKeys(ownerOf(namespace), work);
  }

  protected readingAll<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    return this.#knowingKeys(undefined, work);
  }

  /** Retries when a row named an unknown key and the store's keys have changed since. */
  async #knowingKeys<T>(
    owner: Namespace | undefined,
    work: (connection: Connection) => Promise<T>,
  ): Promise<T> {
    const { ring } = this.sealer;
    const unknown = this.#keyWatch.unknown;
    const answer = await this.#read(owner, work);
    if (this.#keyWatch.unknown === unknown) return answer;
    const row = await this.#read(undefined, readStoreRow);
    if (row === undefined || ring.isUpToDate(row.keys)) return answer;
    followKeys(ring, row, this.database.name);
    return this.#read(owner, work);
  }

  #read<T>(owner: Namespace | undefined, work: (connection: Connection) => Promise<T>): Promise<T> {
    return this.database.read(async (connection) => {
      const inUse = requireInUse(connection, owner, this.identity, this.database.clock);
      inUse.catch(() => undefined); // awaited below
      const answer = await work(connection);
      await inUse;
      return answer;
    });
  }

  async #page<T>(
    columns: string,
    query: ListQuery,
    open: (rows: readonly StoredRow[]) => T,
  ): Promise<T & { readonly nextCursor?: string }> {
    const limit = listLimitOf(query);
    const condition = listCondition(query, this.now());
    return this.reading(query.namespace, async (connection) => {
      const found = await selectEntries(connection, columns, condition, {
        sql: "ORDER BY updated_at DESC, id LIMIT ?",
        values: [limit + 1],
      });
      const rows = found.slice(0, limit);
      const last = rows.at(-1);
      const nextCursor =
        last === undefined || found.length <= limit
          ? undefined
          : encodeListCursor({ updatedAt: Number(last.updated_at), id: `${last.id}` });
      return { ...open(rows), ...defined({ nextCursor }) };
    });
  }
}

/** Counts rows that name an unknown key. */
export interface KeyWatch {
  unknown: number;
}

function nameIn(owner: unknown): Namespace {
  return textOf(owner) as Namespace; // always written as a namespace
}

function unreadable(ref: EntryRef): HelmdeckError {
  return new HelmdeckError(
    "entry_unreadable",
    `The ${ref.origin} entry ${JSON.stringify(ref.key)} cannot be decrypted: its row was changed or moved, or sealed ` +
      "with another key. Store it again, or restore a backup; other entries are not affected.",
    { details: { origin: ref.origin, key: ref.key } },
  );
}

function requireReadable(found: Entry | HelmdeckError | undefined): Entry | undefined {
  if (found instanceof HelmdeckError) throw found;
  return found;
}
