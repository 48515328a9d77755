/** Corrects the times of entries that were written while the clock was certainly wrong, once it is right. */
import { historyChange } from "../../rules/plans.ts";
import { ALL_COLUMNS, cellsOf } from "../fields.ts";
import type { Sealer } from "../sealing.ts";
import { parseColumns } from "../stored-rows.ts";
import { type Correction, withCorrectedTimes } from "../time-seen.ts";
import { sparedCondition } from "./conditions.ts";
import { pendingForgets } from "./forgets.ts";
import { readFormer, writeFormer } from "./former-rows.ts";
import { UPDATE_ROW } from "./schema.ts";
import type { SqliteSession } from "./sqlite-session.ts";

/**
 * Otherwise a fact that was stored before the machine knew the date would expire at once. Call it in a write transaction. A row
 * that does not open stays unchanged.
 */
export function correctTimes(
  session: SqliteSession,
  sealer: Sealer,
  correction: Correction,
  nextSeq: () => number,
): void {
  const { from, to } = correction;
  const select = session.statement(`SELECT ${ALL_COLUMNS} FROM entries WHERE id = ?`);
  const update = session.statement(UPDATE_ROW);
  const spared = sparedCondition(pendingForgets(session)); // rows being deleted must not get a later number
  const ids = session
    .statement(`SELECT id FROM entries WHERE updated_at BETWEEN ? AND ? AND ${spared.sql} ORDER BY seq`)
    .all(from, to, ...spared.values);
  for (const { id } of ids) {
    const row = select.get(`${id}`);
    const columns = row && parseColumns(row);
    const content =
      columns && row.sealed instanceof Uint8Array ? sealer.open(columns, row.sealed) : undefined;
    if (columns === undefined || content === undefined) continue;
    const right = { ...withCorrectedTimes(columns, correction), seq: nextSeq() };
    update.run(...cellsOf(right, sealer.seal(right, content)), columns.id);
    const history = readFormer({ session, sealer }, columns.id);
    const corrected = history.map((former) => withCorrectedTimes(former, correction));
    writeFormer({ session, sealer }, columns.id, historyChange(history, corrected));
  }
}
