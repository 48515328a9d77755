/** The rows of histories: sealed with their fact's id, and deleted with the fact's row. */
import type { FoundFormer } from "../../rules/history.ts";
import type { HistoryChange } from "../../rules/plans.ts";
import type { Sealer } from "../sealing.ts";
import { type FormerRow, openFormer, parseTags, sealedBytes, sealFormer } from "../stored-rows.ts";
import type { Connection } from "./connection.ts";
import type { Condition } from "./sql.ts";
import type { Subject } from "./subjects.ts";
import { bytesOf, withTexts } from "./texts.ts";
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
  { connection }: Writing,
  sealer: Sealer,
  { subject, entryId }: { readonly subject: Subject; readonly entryId: string },
  { gone, added }: HistoryChange<FormerRow>,
): Promise<void> {
  if (gone.length > 0) {
    const numbers = gone.map(({ number }) => `${number}`);
    void connection.query("DELETE FROM history WHERE number = ANY (?::bigint[])", [numbers]);
    subject.bytes -= gone.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  }
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

export interface FoundRow extends FoundFormer {
  readonly number: number;
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
