/**
 * Collects a database's state for doctor: its integrity, whether every row opens, and its settings. Yields to others meanwhile.
 */

import { defined } from "../../defined.ts";
import { isExpired } from "../entry-rules.ts";
import { ALL_COLUMNS } from "../fields.ts";
import type { InspectOptions, StoreReport } from "../memory-store.ts";
import type { Sealer } from "../sealing.ts";
import type { StoreClock } from "../store-clock.ts";
import { openRow } from "../stored-rows.ts";
import { sparedCondition } from "./conditions.ts";
import { pendingForgets } from "./forgets.ts";
import { formerAfter } from "./former-rows.ts";
import { sliceEnd } from "./slices.ts";
import type { SqliteSession } from "./sqlite-session.ts";

const ROWS_AT_ONCE = 500;
const FORMER_AT_ONCE = 100;
/** SQLite checks this much in about a tenth of a second; it cannot check a part. */
const CHECKED_AT_ONCE_BYTES = 16 * 1_024 * 1_024;

type Counts = { -readonly [Name in "entries" | "expired" | "unreadable"]: StoreReport[Name] };

/** The store's own parts. */
export interface Inspected {
  readonly session: SqliteSession;
  readonly sealer: Sealer;
  readonly clock: StoreClock;
  readonly isWritable: boolean;
  readonly driverName: string;
  /** Runs one piece of work and then yields to others. */
  readonly slice: <T>(work: () => T) => Promise<T>;
}

/** Reads the whole file. For a damaged one, counts what is still readable. */
export async function inspectStore(inspected: Inspected, options: InspectOptions): Promise<StoreReport> {
  const { session, sealer, clock, isWritable, driverName, slice } = inspected;
  const { counts, whole } = await countRows(inspected, options);
  return slice(() => {
    const sizeBytes = Number(session.pragma("page_count")) * Number(session.pragma("page_size"));
    const isChecked = options.mayBlock === true || sizeBytes <= CHECKED_AT_ONCE_BYTES;
    const found = isChecked ? checkIntegrity(session) : "unchecked";
    return {
      backend: `sqlite (${driverName})`,
      schemaVersion: Number(session.pragma("user_version")),
      ...counts,
      isWritable,
      clockBehindMs: clock.behindMs,
      keys: { current: sealer.ring.current.id, ...defined({ former: sealer.ring.former?.id }) },
      integrity: whole ? found : "damaged",
      settings: {
        sqlite: `${session.connection.prepare("SELECT sqlite_version() AS version").get()?.version}`,
        journalMode: `${session.pragma("journal_mode")}`,
        synchronous: Number(session.pragma("synchronous")),
        autoVacuum: Number(session.pragma("auto_vacuum")),
        secureDelete: Number(session.pragma("secure_delete")),
        sizeBytes,
      },
    };
  });
}

async function countRows(
  inspected: Inspected,
  { onProgress }: InspectOptions,
): Promise<{ readonly counts: Counts; readonly whole: boolean }> {
  const { session, slice } = inspected;
  const counts: Counts = { entries: 0, expired: 0, unreadable: 0 };
  try {
    const total = await slice(() => Number(session.statement("SELECT count(*) AS n FROM entries").get()?.n));
    for (let after: number | undefined = Number.NEGATIVE_INFINITY, done = 0; after !== undefined; ) {
      const from: number = after;
      const looked = await slice(() => countSlice(inspected, counts, from));
      after = looked.after;
      done += looked.rows;
      onProgress?.({ done: Math.min(done, total), total });
    }
    for (let after: number | undefined = Number.MIN_SAFE_INTEGER; after !== undefined; ) {
      const from: number = after;
      after = await slice(() => countFormer(inspected, counts, from));
    }
    return { counts, whole: true };
  } catch {
    return { counts, whole: false }; // the report shows it
  }
}

/** Returns its last position; undefined at the end. */
function countSlice(
  { session, sealer, clock }: Inspected,
  counts: Counts,
  after: number,
): { readonly rows: number; readonly after: number | undefined } {
  const isOver = sliceEnd();
  const rows = session.read(() => {
    const spared = sparedCondition(pendingForgets(session));
    return session
      .statement(
        `SELECT ${ALL_COLUMNS} FROM entries WHERE ${spared.sql} AND seq > ? ORDER BY seq LIMIT ${ROWS_AT_ONCE}`,
      )
      .all(...spared.values, after);
  });
  const now = clock.now();
  for (const [i, row] of rows.entries()) {
    const gone = typeof row.expires_at === "number" && isExpired(row.expires_at, now);
    counts[gone ? "expired" : "entries"] += 1;
    if (openRow(row, sealer) === undefined) counts.unreadable += 1;
    if (isOver()) return { rows: i + 1, after: Number(row.seq) };
  }
  return { rows: rows.length, after: rows.length < ROWS_AT_ONCE ? undefined : Number(rows.at(-1)?.seq) };
}

/** For former values, counts only those that do not open. Returns its last position; undefined at the end. */
function countFormer(inspected: Inspected, counts: Counts, after: number): number | undefined {
  const rows = formerAfter(inspected, after, FORMER_AT_ONCE, { sql: "TRUE", values: [] });
  counts.unreadable += rows.filter(({ former }) => former === undefined).length;
  return rows.length < FORMER_AT_ONCE ? undefined : rows.at(-1)?.number;
}

function checkIntegrity(session: SqliteSession): "ok" | "damaged" {
  try {
    return session.pragma("integrity_check(1)") === "ok" ? "ok" : "damaged";
  } catch {
    return "damaged";
  }
}
