/** Removes rows with their dependent rows, and records removals for the change feed. */

import { NEWER_NAMED, newerOf } from "../../rules/conditions.ts";
import type { EntryFilter, Newer } from "../memory-store.ts";
import { all } from "../sql/conditions.ts";
import { liveCondition, newerCondition, ownedBy } from "./conditions.ts";
import { selectEntries } from "./entry-rows.ts";
import { bytesOf, type Condition } from "./sql.ts";
import type { Subject } from "./subjects.ts";
import type { Writing } from "./writing.ts";

/** Rows, and how many of them had not expired. */
export interface Removed {
  readonly rows: number;
  readonly live: number;
}

interface Pruning {
  /** The least number of a subject's removals to remember. */
  readonly keepRemovals: number;
}

/** Deletes a subject's entries without decrypting; vectors and histories are deleted with them. */
export async function removeEntries(
  writing: Writing,
  subject: Subject,
  where: Condition,
  { keepRemovals }: Pruning,
): Promise<Removed> {
  const { connection, now } = writing;
  const { sql, values } = all([ownedBy(subject.owner), where]);
  const [gone] = await connection.query(
    `WITH gone AS (DELETE FROM entries WHERE ${sql} RETURNING seq, id, owner, namespace, expires_at, octet_length(sealed) AS size),
       vectors_gone AS (DELETE FROM vectors WHERE entry_id IN (SELECT id FROM gone)),
       history_gone AS (DELETE FROM history WHERE entry_id IN (SELECT id FROM gone) RETURNING octet_length(sealed) AS size),
       noted AS (INSERT INTO removals (seq, owner, namespace, id)
         SELECT nextval('change_numbers'), owner, namespace, id FROM (SELECT * FROM gone ORDER BY seq) AS gone RETURNING seq)
     SELECT (SELECT count(*) FROM gone) AS rows,
       (SELECT count(*) FROM gone WHERE expires_at IS NULL OR expires_at > ?) AS live,
       (SELECT coalesce(sum(size), 0) FROM gone) + (SELECT coalesce(sum(size), 0) FROM history_gone) AS bytes,
       (SELECT max(seq) FROM noted) AS seq`,
    [...values, now],
  );
  const rows = Number(gone?.rows);
  if (rows === 0) return { rows, live: 0 };
  subject.entries -= rows;
  subject.bytes -= Number(gone?.bytes);
  subject.removals += rows;
  writing.noteSeq(subject, Number(gone?.seq));
  if (subject.removals > 2 * keepRemovals) await pruneRemovals(writing, subject, keepRemovals);
  return { rows, live: Number(gone?.live) };
}

/** What stays because it was written after the filter's bound; `kept`: keys of facts whose histories stay for that. */
export async function readNewer(
  { connection, now }: Writing,
  filter: EntryFilter,
  kept: readonly string[],
): Promise<Newer | undefined> {
  if (filter.upTo === undefined) return undefined;
  const meant = all([newerCondition(filter), liveCondition(now)]);
  const rest = { sql: `ORDER BY seq LIMIT ${NEWER_NAMED}`, values: [] };
  const [[counted], named] = await Promise.all([
    connection.query(`SELECT count(*) AS n FROM entries WHERE ${meant.sql}`, meant.values),
    selectEntries(connection, "key", meant, rest),
  ]);
  return newerOf(Number(counted?.n) + kept.length, [...named.map(({ key }) => `${key}`), ...kept]);
}

/** Rarely, since pruning makes slow readers start over. */
async function pruneRemovals({ connection }: Writing, subject: Subject, keep: number): Promise<void> {
  const owner = bytesOf(subject.owner);
  const [last] = await connection.query(
    `WITH pruned AS (DELETE FROM removals WHERE owner = ? AND seq <= (
       SELECT seq FROM removals WHERE owner = ? ORDER BY seq DESC OFFSET ? LIMIT 1) RETURNING seq)
     SELECT max(seq) AS seq FROM pruned`,
    [owner, owner, keep],
  );
  subject.prunedThrough = Number(last?.seq);
  subject.prunes += 1;
  subject.removals = keep;
}
