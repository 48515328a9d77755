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

/** In slices, each its own transaction: a long one would keep the server from removing deleted rows. */
async function countRows(
  { sealer, clock }: Inspected,
  reading: Reading,
  { onProgress }: InspectOptions,
): Promise<Counts> {
  const counts: Counts = { entries: 0, expired: 0, unreadable: 0 };
  const [counted] = await reading((connection) => connection.query("SELECT count(*) AS n FROM entries"));
  const total = Number(counted?.n);
  const now = clock.now();
  for (let after: number | undefined = 0, done = 0; after !== undefined; ) {
    const meant: Condition = { sql: "seq > ?", values: [after] };
    const rest = { sql: `ORDER BY seq LIMIT ${ROWS_AT_ONCE}`, values: [] };
    const rows: readonly StoredRow[] = await reading((connection) =>
      selectEntries(connection, ALL_COLUMNS, meant, rest),
    );
    for (const row of rows) {
      const gone = typeof row.expires_at === "number" && isExpired(row.expires_at, now);
      counts[gone ? "expired" : "entries"] += 1;
      if (openRow(row, sealer) === undefined) counts.unreadable += 1;
    }
    after = rows.length < ROWS_AT_ONCE ? undefined : Number(rows.at(-1)?.seq);
    done += rows.length;
    onProgress?.({ done: Math.min(done, total), total });
  }
  counts.unreadable += await countUnreadableFormer(sealer, reading);
  return counts;
}

async function countUnreadableFormer(sealer: Sealer, reading: Reading): Promise<number> {
  let unreadable = 0;
  for (let after: number | undefined = 0; after !== undefined; ) {
    const page: Parameters<typeof formerAfter>[2] = { after, most: ROWS_AT_ONCE };
    const rows: readonly FoundRow[] = await reading((connection) =>
      formerAfter(connection, sealer, page, ALWAYS),
    );
    unreadable += rows.filter(({ former }) => former === undefined).length;
    after = rows.length < ROWS_AT_ONCE ? undefined : rows.at(-1)?.number;
  }
  return unreadable;
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
