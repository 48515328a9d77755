/**
 * Finds former values by their names: lists them, and erases those that a scope covers from the histories of remaining facts.
 *
 * Their names are sealed, so every history of the subject is opened while nobody else writes for it: afterwards no covered value
 * is in a history, and none can enter one.
 */
import { formerCursor, formerKeyOf, isCoveredAlone, mayCoverFormer } from "../../rules/history.ts";
import type { EntryFilter, FormerKeysPage, FormerKeysQuery, UnixMs } from "../memory-store.ts";
import type { Sealer } from "../sealing.ts";
import { liveCondition, namespaceCondition, withinCondition } from "./conditions.ts";
import type { Connection } from "./connection.ts";
import { formerAfter } from "./former-rows.ts";
import { all } from "./sql.ts";
import type { Writing } from "./writing.ts";

const ROWS_AT_ONCE = 500;

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
    const found = await formerAfter(writing.connection, sealer, page, withinCondition(filter));
    const meant = found.filter((one) => isCoveredAlone(one, filter));
    const covered = meant.filter(({ of }) => of.revision <= upTo);
    for (const { of } of meant) if (of.revision > upTo) newer.add(of.key);
    const numbers = covered.map(({ number }) => `${number}`);
    if (covered.length > 0)
      void writing.connection.query("DELETE FROM history WHERE number = ANY (?::bigint[])", [numbers]);
    subject.bytes -= covered.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    erased += covered.length;
    after = found.at(-1)?.number ?? after;
    isDone = found.length < ROWS_AT_ONCE;
  }
  if (erased > 0) writing.noteSeq(subject, subject.newestSeq);
  return { erased, newer: [...newer] };
}
