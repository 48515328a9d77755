/**
 * Finds former values by their names: lists them, and erases those that a scope covers from the histories of remaining facts.
 *
 * Their names are sealed, so every history of the subject is opened while nobody else writes for it: afterwards no covered value
 * is in a history, and none can enter one.
 */
import { invalidField } from "../../errors.ts";
import { isCovered, mayCoverFormer } from "../history.ts";
import type { EntryFilter, FormerKey, FormerKeysPage, FormerKeysQuery, UnixMs } from "../memory-store.ts";
import type { Sealer } from "../sealing.ts";
import { liveCondition, namespaceCondition, withinCondition } from "./conditions.ts";
import type { Connection } from "./connection.ts";
import { type FoundFormer, formerAfter } from "./former-rows.ts";
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
  const page = { after: afterCursor(cursor), most: ROWS_AT_ONCE };
  const rows = await formerAfter(connection, sealer, page, meant);
  const keys = rows.flatMap(keyOf);
  const last = rows.at(-1);
  return rows.length < ROWS_AT_ONCE || last === undefined ? { keys } : { keys, nextCursor: `${last.number}` };
}

/** Returns their number; those erased with their own fact are not counted. */
export async function eraseCovered(writing: Writing, sealer: Sealer, filter: EntryFilter): Promise<number> {
  if (!mayCoverFormer(filter)) return 0;
  const subject = writing.of(filter.namespace);
  let [after, erased] = [0, 0];
  for (let isDone = false; !isDone; ) {
    const page = { after, most: ROWS_AT_ONCE };
    const found = await formerAfter(writing.connection, sealer, page, withinCondition(filter));
    const covered = found.filter((one) => isMeant(one, filter));
    const numbers = covered.map(({ number }) => `${number}`);
    if (covered.length > 0)
      void writing.connection.query("DELETE FROM history WHERE number = ANY (?::bigint[])", [numbers]);
    subject.bytes -= covered.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    erased += covered.length;
    after = found.at(-1)?.number ?? after;
    isDone = found.length < ROWS_AT_ONCE;
  }
  if (erased > 0) writing.noteSeq(subject, subject.newestSeq);
  return erased;
}

/** An unreadable value may be covered. */
function isMeant({ former, of }: FoundFormer, filter: EntryFilter): boolean {
  return !isCovered(of, filter) && (former === undefined || isCovered(former, filter));
}

function keyOf({ former, of }: FoundFormer): readonly FormerKey[] {
  if (former === undefined) return [];
  const { key, category, tags, updatedAt } = former;
  return [{ of, key, category, tags, updatedAt }];
}

function afterCursor(cursor: string | undefined): number {
  const after = cursor === undefined ? 0 : Number(cursor);
  if (Number.isSafeInteger(after)) return after;
  throw invalidField("cursor", "is not from an earlier page; leave it out");
}
