/** The rows of histories: sealed with their fact's id, and deleted with the fact's row. */
import {
  type FoundFormer,
  formerCursor,
  formerKeyOf,
  historyWithout,
  isCoveredAlone,
  mayCoverFormer,
} from "../../rules/history.ts";
import { type HistoryChange, historyChange } from "../../rules/plans.ts";
import type { EntryFilter, FormerKeysPage, FormerKeysQuery, UnixMs } from "../memory-store.ts";
import type { Sealer } from "../sealing.ts";
import { all } from "../sql/conditions.ts";
import { type FormerRow, openFormer, parseTags, sealedBytes, sealFormer } from "../stored-rows.ts";
import { liveCondition, namespaceCondition, ownerCondition } from "./conditions.ts";
import type { Connection } from "./connection.ts";
import { bytesOf, type Condition, withTexts } from "./sql.ts";
import type { Subject } from "./subjects.ts";
import type { Writing } from "./writing.ts";

const COLUMNS = "number, entry_id, written_at, history.sealed";

/** A fact's history, oldest first, without rows that do not open. */
export async function readFormer(
  connection: Connection,
  sealer: Sealer,
  entryId: string,
): Promise<readonly FormerRow[]> {
  const rows = await connection.query(`SELECT ${COLUMNS} FROM history WHERE entry_id = ? ORDER BY number`, [
    entryId,
  ]);
  return rows.flatMap((row) => openFormer(row, sealer) ?? []);
}

/** Writes the change of a fact's history. */
export async function writeFormer(
  writing: Writing,
  sealer: Sealer,
  { subject, entryId }: { readonly subject: Subject; readonly entryId: string },
  { gone, added }: HistoryChange<FormerRow>,
): Promise<void> {
  const { connection } = writing;
  eraseRows(writing, subject, gone);
  if (added.length === 0) return;
  const numbers = await connection.query(
    "SELECT nextval('history_numbers') AS number FROM generate_series(1, ?)",
    [added.length],
  );
  for (const [i, former] of added.entries()) {
    const number = Number(numbers[i]?.number);
    const sealed = sealFormer(former, { number, entryId }, sealer);
    void connection.query(
      "INSERT INTO history (number, entry_id, owner, written_at, sealed) VALUES (?, ?, ?, ?, ?)",
      [number, entryId, bytesOf(subject.owner), former.updatedAt, sealed],
    );
    subject.bytes += sealed.byteLength;
  }
}

function eraseRows(
  { connection }: Writing,
  subject: Subject,
  rows: readonly Pick<FormerRow, "number" | "sizeBytes">[],
): void {
  if (rows.length === 0) return;
  const numbers = rows.map(({ number }) => `${number}`);
  void connection.query("DELETE FROM history WHERE number = ANY (?::bigint[])", [numbers]);
  subject.bytes -= rows.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
}

export interface FoundRow extends FoundFormer {
  readonly number: number;
  readonly entryId: string;
  readonly sizeBytes: number;
}

/** The next ones after a number, of matching facts. */
export async function formerAfter(
  connection: Connection,
  sealer: Sealer,
  { after, most }: { readonly after: number; readonly most: number },
  { sql, values }: Condition,
): Promise<readonly FoundRow[]> {
  const rows = await connection.query(
    `SELECT ${COLUMNS}, seq, key, category, tags FROM history JOIN entries ON entries.id = entry_id
     WHERE number > ? AND ${sql} ORDER BY number LIMIT ?`,
    [after, ...values, most],
  );
  return rows.map(withTexts).map((row) => ({
    number: Number(row.number),
    entryId: `${row.entry_id}`,
    sizeBytes: sealedBytes(row),
    former: openFormer(row, sealer),
    of: {
      revision: Number(row.seq),
      key: `${row.key}`,
      category: `${row.category}`,
      tags: parseTags(`${row.tags}`),
    },
  }));
}

/** Drops a subject's oldest former value to make room; false when there is none. */
export async function dropOldestFormer({ connection }: Writing, subject: Subject): Promise<boolean> {
  const [dropped] = await connection.query(
    `DELETE FROM history WHERE number = (SELECT number FROM history WHERE owner = ? ORDER BY number LIMIT 1)
     RETURNING octet_length(sealed) AS size`,
    [bytesOf(subject.owner)],
  );
  subject.bytes -= Number(dropped?.size ?? 0);
  return dropped !== undefined;
}

const ROWS_AT_ONCE = 500;

/**
 * Finds former values by their names: lists them, and erases those that a scope covers from the histories of remaining facts.
 *
 * Their names are sealed, so every history of the subject is opened while nobody else writes for it: afterwards no covered value
 * is in a history, and none can enter one.
 */
export async function readFormerKeys(
  connection: Connection,
  sealer: Sealer,
  { namespace, cursor }: FormerKeysQuery,
  now: UnixMs,
): Promise<FormerKeysPage> {
  const meant = all([namespaceCondition(namespace), liveCondition(now)]);
  const page = { after: cursor === undefined ? 0 : formerCursor(cursor), most: ROWS_AT_ONCE };
  const rows = await formerAfter(connection, sealer, page, meant);
  const keys = rows.flatMap(formerKeyOf);
  const last = rows.at(-1);
  return rows.length < ROWS_AT_ONCE || last === undefined ? { keys } : { keys, nextCursor: `${last.number}` };
}

/**
 * Returns their number; those erased with their own fact are not counted. `newer`: keys of facts that were written after the
 * filter's bound, so that covered values stay in their histories.
 */
export async function eraseCovered(
  writing: Writing,
  sealer: Sealer,
  filter: EntryFilter,
): Promise<{ readonly erased: number; readonly newer: readonly string[] }> {
  if (!mayCoverFormer(filter)) return { erased: 0, newer: [] };
  const subject = writing.of(filter.namespace);
  const { upTo = Number.MAX_SAFE_INTEGER } = filter;
  const newer = new Set<string>();
  let [after, erased] = [0, 0];
  for (let isDone = false; !isDone; ) {
    const page = { after, most: ROWS_AT_ONCE };
    const found = await formerAfter(writing.connection, sealer, page, ownerCondition(filter));
    const meant = found.filter((one) => isCoveredAlone(one, filter));
    const covered = meant.filter(({ of }) => of.revision <= upTo);
    for (const { of } of meant) if (of.revision > upTo) newer.add(of.key);
    const unreadable = covered.filter(({ former }) => former === undefined);
    eraseRows(writing, subject, unreadable);
    erased += unreadable.length;
    const histories = new Map(
      covered.filter(({ former }) => former !== undefined).map((one) => [one.entryId, one.of]),
    );
    for (const [entryId, of] of histories) {
      const before = await readFormer(writing.connection, sealer, entryId);
      const left = historyWithout(before, (former) => isCoveredAlone({ former, of }, filter));
      await writeFormer(writing, sealer, { subject, entryId }, historyChange(before, left));
      erased += before.length - left.length;
    }
    after = found.at(-1)?.number ?? after;
    isDone = found.length < ROWS_AT_ONCE;
  }
  if (erased > 0) writing.noteSeq(subject, subject.newestSeq);
  return { erased, newer: [...newer] };
}
