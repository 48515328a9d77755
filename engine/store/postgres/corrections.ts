/** Corrects the times of entries that were written while the clock was certainly wrong, once it is right. */
import { historyChange } from "../../rules/plans.ts";
import { ALL_COLUMNS } from "../fields.ts";
import type { Namespace } from "../namespace.ts";
import type { Sealer } from "../sealing.ts";
import { all } from "../sql/conditions.ts";
import { parseColumns, type StoredRow } from "../stored-rows.ts";
import { type Correction, withCorrectedTimes } from "../time-seen.ts";
import { ownedBy } from "./conditions.ts";
import type { Connection } from "./connection.ts";
import { selectEntries, UPDATE_ENTRY, valuesOf } from "./entry-rows.ts";
import { readFormer, writeFormer } from "./former-rows.ts";
import { textOf } from "./sql.ts";
import { OneWriting } from "./writing.ts";

/**
 * Otherwise a fact that was stored before the server knew the date would expire at once. Runs in the transaction that records the
 * corrected clock, so that each entry is corrected exactly once. A row that does not open stays unchanged.
 */
export async function correctTimes(
  connection: Connection,
  sealer: Sealer,
  correction: Correction,
): Promise<void> {
  const { from, to } = correction;
  const written = { sql: "updated_at BETWEEN ? AND ?", values: [from, to] };
  const owners = await connection
    .acrossSubjects()
    .query(`SELECT DISTINCT owner FROM entries WHERE ${written.sql} ORDER BY owner`, written.values);
  const names = owners.map(({ owner }) => textOf(owner) as Namespace); // always written as a namespace
  const writing = await OneWriting.begin(connection, { owners: names, now: () => to });
  for (const owner of names) {
    writing.of(owner);
    const meant = all([ownedBy(owner), written]);
    const rows = await selectEntries(connection, ALL_COLUMNS, meant, { sql: "ORDER BY seq", values: [] });
    for (const row of rows) await setRowRight(writing, sealer, row, correction);
  }
  writing.save();
}

async function setRowRight(
  writing: OneWriting,
  sealer: Sealer,
  row: StoredRow,
  correction: Correction,
): Promise<void> {
  const columns = parseColumns(row);
  const content = columns && row.sealed instanceof Uint8Array ? sealer.open(columns, row.sealed) : undefined;
  if (columns === undefined || content === undefined) return;
  const subject = writing.of(columns.namespace as Namespace); // it was authenticated
  const right = { ...withCorrectedTimes(columns, correction), seq: await writing.nextSeq(subject) };
  void writing.connection.query(UPDATE_ENTRY, [...valuesOf(right, sealer.seal(right, content)), columns.id]);
  const before = await readFormer(writing.connection, sealer, columns.id);
  const history = before.map((former) => withCorrectedTimes(former, correction));
  await writeFormer(writing, sealer, { subject, entryId: columns.id }, historyChange(before, history));
}
