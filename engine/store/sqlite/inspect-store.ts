/** What doctor wants to know of a database: is it whole, does every row open, and how is it set up. */

import { defined } from "../../defined.ts";
import { isExpired } from "../entry-rules.ts";
import type { StoreReport, UnixMs } from "../memory-store.ts";
import type { Sealer } from "../sealing.ts";
import type { StoreClock } from "../store-clock.ts";
import { ALL_COLUMNS, openRow } from "./entry-rows.ts";
import type { SqliteRow } from "./sqlite-driver.ts";
import type { SqliteSession } from "./sqlite-session.ts";

const ROWS_AT_ONCE = 500;

type Counts = Pick<StoreReport, "entries" | "expired" | "unreadable">;

/** What the store itself knows. */
export interface Inspected {
  readonly clock: StoreClock;
  readonly isWritable: boolean;
  readonly driverName: string;
}

/** Reads the whole file. A damaged one gives the counts of what could still be read. */
export function inspectStore(
  session: SqliteSession,
  sealer: Sealer,
  { clock, isWritable, driverName }: Inspected,
): StoreReport {
  const { counts, whole } = countRows(session, sealer, clock.now());
  return {
    backend: `sqlite (${driverName})`,
    schemaVersion: Number(session.pragma("user_version")),
    ...counts,
    isWritable,
    clockBehindMs: clock.behindMs,
    keys: { current: sealer.ring.current.id, ...defined({ former: sealer.ring.former?.id }) },
    integrity: whole && checkIntegrity(session) ? "ok" : "damaged",
    settings: {
      sqlite: `${session.connection.prepare("SELECT sqlite_version() AS version").get()?.version}`,
      journalMode: `${session.pragma("journal_mode")}`,
      synchronous: Number(session.pragma("synchronous")),
      secureDelete: Number(session.pragma("secure_delete")),
      sizeBytes: Number(session.pragma("page_count")) * Number(session.pragma("page_size")),
    },
  };
}

function countRows(session: SqliteSession, sealer: Sealer, now: UnixMs): { counts: Counts; whole: boolean } {
  const counts = { entries: 0, expired: 0, unreadable: 0 };
  try {
    for (const row of everyRow(session)) {
      const gone = typeof row.expires_at === "number" && isExpired(row.expires_at, now);
      counts[gone ? "expired" : "entries"] += 1;
      if (openRow(row, sealer) === undefined) counts.unreadable += 1;
    }
    return { counts, whole: true };
  } catch {
    return { counts, whole: false }; // the report itself says so
  }
}

function* everyRow(session: SqliteSession): Generator<SqliteRow> {
  const next = session.statement(
    `SELECT ${ALL_COLUMNS} FROM entries WHERE seq > ? ORDER BY seq LIMIT ${ROWS_AT_ONCE}`,
  );
  for (let after = Number.NEGATIVE_INFINITY; ; ) {
    const rows = next.all(after);
    yield* rows;
    const last = Number(rows.at(-1)?.seq);
    if (rows.length < ROWS_AT_ONCE || !Number.isSafeInteger(last)) return;
    after = last;
  }
}

function checkIntegrity(session: SqliteSession): boolean {
  try {
    return session.pragma("integrity_check(1)") === "ok";
  } catch {
    return false;
  }
}
