/** Collects a database's state for doctor: whether every row opens, and its settings. */
import { defined } from "../../defined.ts";
import { isExpired } from "../entry-rules.ts";
import { ALL_COLUMNS } from "../fields.ts";
import type { InspectOptions, StoreReport } from "../memory-store.ts";
import type { Sealer } from "../sealing.ts";
import { ALWAYS } from "../sql/conditions.ts";
import type { StoreClock } from "../store-clock.ts";
import { openRow, type StoredRow } from "../stored-rows.ts";
import type { Connection } from "./connection.ts";
import type { Database } from "./database.ts";
import { selectEntries } from "./entry-rows.ts";
import { type FoundRow, formerAfter } from "./former-rows.ts";
import { opensVectors, vectorsAfter } from "./postgres-vectors.ts";
import { schemaStateOf } from "./schema.ts";
import type { Condition } from "./sql.ts";

const ROWS_AT_ONCE = 500;

type Counts = { -readonly [Name in "entries" | "expired" | "unreadable"]: StoreReport[Name] };

/** The store's own parts. */
export interface Inspected {
  readonly database: Database;
  readonly sealer: Sealer;
  readonly clock: StoreClock;
  readonly mayWrite: boolean;
}

/** Server settings that affect durability and access. */
const SETTINGS = {
  server: "server_version",
  synchronousCommit: "synchronous_commit",
  fsync: "fsync",
  fullPageWrites: "full_page_writes",
  synchronousStandbys: "synchronous_standby_names",
};

/** Reads every row. */
export async function inspectStore(inspected: Inspected, options: InspectOptions): Promise<StoreReport> {
  const { database, sealer, clock, mayWrite } = inspected;
  const reading = <T>(work: (connection: Connection) => Promise<T>) =>
    database.read((connection) => work(connection.acrossSubjects()));
  const counts = await countRows(inspected, reading, options);
  const [state, settings] = await reading(
    async (connection) => [await schemaStateOf(connection), await settingsOf(connection)] as const,
  );
  return {
    backend: "postgresql",
    schemaVersion: state.version,
    ...counts,
    isWritable: mayWrite && settings.role !== "standby",
    clockBehindMs: clock.behindMs,
    keys: { current: sealer.ring.current.id, ...defined({ former: sealer.ring.former?.id }) },
    integrity: "ok",
    settings,
  };
}

type Reading = <T>(work: (connection: Connection) => Promise<T>) => Promise<T>;

async function countRows(
  { sealer, clock }: Inspected,
  reading: Reading,
  { onProgress }: InspectOptions,
): Promise<Counts> {
  const counts: Counts = { entries: 0, expired: 0, unreadable: 0 };
  const [counted] = await reading((connection) => connection.query("SELECT count(*) AS n FROM entries"));
  const total = Number(counted?.n);
  const now = clock.now();
  let done = 0;
  for await (const rows of pagesOf(reading, entriesAfter)) {
    for (const row of rows) {
      const gone = typeof row.expires_at === "number" && isExpired(row.expires_at, now);
      counts[gone ? "expired" : "entries"] += 1;
      if (openRow(row, sealer) === undefined) counts.unreadable += 1;
    }
    done += rows.length;
    onProgress?.({ done: Math.min(done, total), total });
  }
  for await (const rows of pagesOf(reading, formerValuesAfter(sealer))) {
    counts.unreadable += rows.filter(({ former }) => former === undefined).length;
  }
  return counts;
}

export interface VerifyHooks {
  readonly onProgress?: (done: number, total: number) => void;
  readonly onUnreadable?: (row: UnreadableRow) => void;
}

interface UnreadableRow {
  readonly table: "entries" | "vectors" | "history";
  /** The change number of the entry, also for its vectors; in the history, the row's own. */
  readonly number: number;
  /** What the row of the entry claims to be. */
  readonly key: string;
  readonly namespace?: string;
}

/** Counts of readable rows, and of unreadable ones in all tables. */
export type VerifiedRows = Readonly<Record<UnreadableRow["table"] | "unreadable", number>>;

/** Opens every row of every subject, and names those that do not open. */
export async function verifyRows(
  { database, sealer }: Pick<Inspected, "database" | "sealer">,
  { onProgress, onUnreadable }: VerifyHooks,
): Promise<VerifiedRows> {
  const counts = { entries: 0, vectors: 0, history: 0, unreadable: 0 };
  const reading: Reading = (work) => database.read((connection) => work(connection.acrossSubjects()));
  const sizes = ["entries", "vectors", "history"].map((table) => `(SELECT count(*) FROM ${table})`);
  const [counted] = await reading((connection) => connection.query(`SELECT ${sizes.join(" + ")} AS n`));
  let done = 0;
  const note = (isOpen: boolean, row: UnreadableRow) => {
    done += 1;
    counts[isOpen ? row.table : "unreadable"] += 1;
    if (!isOpen) onUnreadable?.(row);
  };
  const claims = ({ key, namespace, seq }: StoredRow) => {
    return { key: `${key}`, namespace: `${namespace}`, number: Number(seq) };
  };
  const tell = () => onProgress?.(done, Math.max(done, Number(counted?.n)));
  for await (const rows of pagesOf(reading, entriesAfter)) {
    for (const row of rows) note(openRow(row, sealer) !== undefined, { table: "entries", ...claims(row) });
    tell();
  }
  for await (const rows of pagesOf(reading, vectorsAfter)) {
    for (const row of rows) note(opensVectors(row, sealer), { table: "vectors", ...claims(row) });
    tell();
  }
  for await (const rows of pagesOf(reading, formerValuesAfter(sealer))) {
    for (const { former, number, of } of rows) {
      note(former !== undefined, { table: "history", number, key: of.key });
    }
    tell();
  }
  return counts;
}

type RowsAfter<Row> = (connection: Connection, last: Row | undefined) => Promise<readonly Row[]>;

/** In slices, each its own transaction: a long one would keep the server from removing deleted rows. */
async function* pagesOf<Row>(reading: Reading, rowsAfter: RowsAfter<Row>): AsyncGenerator<readonly Row[]> {
  for (let last: Row | undefined, isDone = false; !isDone; ) {
    const after = last;
    const rows = await reading((connection) => rowsAfter(connection, after));
    yield rows;
    isDone = rows.length < ROWS_AT_ONCE;
    last = rows.at(-1);
  }
}

const entriesAfter: RowsAfter<StoredRow> = (connection, last) => {
  const meant: Condition = { sql: "seq > ?", values: [Number(last?.seq ?? 0)] };
  const rest = { sql: `ORDER BY seq LIMIT ${ROWS_AT_ONCE}`, values: [] };
  return selectEntries(connection, ALL_COLUMNS, meant, rest);
};

function formerValuesAfter(sealer: Sealer): RowsAfter<FoundRow> {
  return (connection, last) =>
    formerAfter(connection, sealer, { after: last?.number ?? 0, most: ROWS_AT_ONCE }, ALWAYS);
}

async function settingsOf(connection: Connection): Promise<Record<string, string | number>> {
  const names = Object.entries(SETTINGS);
  const columns = names.map(([name, setting]) => `current_setting('${setting}') AS "${name}"`);
  const [row] = await connection.query(
    `SELECT ${columns.join(", ")}, CASE WHEN pg_is_in_recovery() THEN 'standby' ELSE 'primary' END AS role,
       CASE WHEN pg_has_role(current_user, relowner, 'USAGE') THEN 'owner' ELSE 'engine' END AS rights,
       pg_total_relation_size(oid) AS "sizeBytes" FROM pg_class WHERE oid = 'entries'::regclass`,
  );
  const known = Object.entries(row ?? {});
  return Object.fromEntries(
    known.map(([name, value]) => [name, typeof value === "number" ? value : `${value}`]),
  );
}
