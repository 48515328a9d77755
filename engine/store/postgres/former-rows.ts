/** The rows of histories: sealed with their fact's id, and deleted with the fact's row. */
import { decodeFormer, encodeFormer } from "../former-content.ts";
import type { FormerKey, FormerValue } from "../memory-store.ts";
import type { Sealer } from "../sealing.ts";
import { parseTags, type StoredRow } from "../stored-rows.ts";
import type { Connection } from "./connection.ts";
import type { Condition } from "./sql.ts";
import type { Subject } from "./subjects.ts";
import { bytesOf, withTexts } from "./texts.ts";
import type { Writing } from "./writing.ts";

const COLUMNS = "number, entry_id, written_at, history.sealed";

/** A former value read from its row. */
interface FormerRow extends FormerValue {
  readonly number: number;
  readonly sizeBytes: number;
}

/** A fact's history, oldest first, without rows that do not open. */
export async function readFormer(
  connection: Connection,
  sealer: Sealer,
  entryId: string,
): Promise<readonly FormerRow[]> {
  const rows = await connection.query(`SELECT ${COLUMNS} FROM history WHERE entry_id = ? ORDER BY number`, [
    entryId,
  ]);
  return rows.flatMap((row) => openFormer(sealer, row) ?? []);
}

/** Writes a fact's history, given the rows `before`. Unchanged rows stay. */
export async function writeFormer(
  { connection }: Writing,
  sealer: Sealer,
  { subject, entryId }: { readonly subject: Subject; readonly entryId: string },
  { before, history }: { readonly before: readonly FormerValue[]; readonly history: readonly FormerValue[] },
): Promise<void> {
  const staying = history.findIndex((former) => !before.includes(former));
  const stay = staying === -1 ? history : history.slice(0, staying);
  const gone = before.filter((former) => "number" in former && !stay.includes(former)) as FormerRow[]; // just checked
  if (gone.length > 0) {
    const numbers = gone.map(({ number }) => `${number}`);
    void connection.query("DELETE FROM history WHERE number = ANY (?::bigint[])", [numbers]);
    subject.bytes -= gone.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  }
  const added = history.slice(stay.length);
  if (added.length === 0) return;
  const numbers = await connection.query(
    "SELECT nextval('history_numbers') AS number FROM generate_series(1, ?)",
    [added.length],
  );
  for (const [i, former] of added.entries()) {
    const columns = { number: Number(numbers[i]?.number), entryId, writtenAt: former.updatedAt };
    const sealed = sealer.sealHistory(columns, encodeFormer(former));
    void connection.query(
      "INSERT INTO history (number, entry_id, owner, written_at, sealed) VALUES (?, ?, ?, ?, ?)",
      [columns.number, entryId, bytesOf(subject.owner), columns.writtenAt, sealed],
    );
    subject.bytes += sealed.byteLength;
  }
}

/** A former value, and the fact of its history. */
export interface FoundFormer {
  readonly number: number;
  readonly sizeBytes: number;
  /** Undefined when it does not open. */
  readonly former: FormerValue | undefined;
  readonly of: FormerKey["of"];
}

/** The next ones after a number, of matching facts. */
export async function formerAfter(
  connection: Connection,
  sealer: Sealer,
  { after, most }: { readonly after: number; readonly most: number },
  { sql, values }: Condition,
): Promise<readonly FoundFormer[]> {
  const rows = await connection.query(
    `SELECT ${COLUMNS}, key, category, tags FROM history JOIN entries ON entries.id = entry_id
     WHERE number > ? AND ${sql} ORDER BY number LIMIT ?`,
    [after, ...values, most],
  );
  return rows.map(withTexts).map((row) => ({
    number: Number(row.number),
    sizeBytes: sizeOf(row),
    former: openFormer(sealer, row),
    of: { key: `${row.key}`, category: `${row.category}`, tags: parseTags(`${row.tags}`) },
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

function openFormer(sealer: Sealer, row: StoredRow): FormerRow | undefined {
  const { number, entry_id: entryId, written_at: writtenAt, sealed } = row;
  if (typeof number !== "number" || typeof entryId !== "string" || typeof writtenAt !== "number")
    return undefined;
  const content =
    sealed instanceof Uint8Array ? sealer.openHistory({ number, entryId, writtenAt }, sealed) : undefined;
  const former = content && decodeFormer(content, writtenAt);
  return former && { ...former, number, sizeBytes: sizeOf(row) };
}

function sizeOf({ sealed }: StoredRow): number {
  return sealed instanceof Uint8Array ? sealed.byteLength : 0;
}
