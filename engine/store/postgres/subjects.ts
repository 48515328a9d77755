/** Each subject's row: its usage, including sessions, and the state of its change feed. A writer locks it. */
import type { Namespace } from "../namespace.ts";
import type { StoredRow } from "../stored-rows.ts";
import type { Connection } from "./connection.ts";
import { bytesOf } from "./sql.ts";

/** As the transaction will leave it. */
export interface Subject {
  readonly owner: Namespace;
  /** The newest change number when this row was made: its subject may have had one before. */
  readonly born: number;
  newestSeq: number;
  prunedThrough: number;
  prunes: number;
  /** Removals in the change feed. */
  removals: number;
  entries: number;
  /** Of sealed values, including former ones. */
  bytes: number;
}

const COLUMNS = "newest_seq, pruned_through, prunes, removals, entries, bytes";
const ALL_COLUMNS = `born, ${COLUMNS}`;

/** Of any subject. */
export const LAST_NUMBER =
  "SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS last FROM change_numbers";

/** Nobody else writes for this subject until the transaction ends. */
export async function lockSubject(
  connection: Connection,
  owner: Namespace,
): Promise<{ readonly subject: Subject; readonly isNew: boolean }> {
  const name = bytesOf(owner);
  const lock = () =>
    connection.as(owner).query(`SELECT ${ALL_COLUMNS} FROM subjects WHERE owner = ? FOR UPDATE`, [name]);
  const [known] = await lock();
  if (known !== undefined) return { subject: subjectOf(owner, known), isNew: false };
  await connection
    .as(owner)
    .query(
      `INSERT INTO subjects (owner, born, newest_seq) SELECT ?, last, last FROM (${LAST_NUMBER}) AS numbers ON CONFLICT DO NOTHING`,
      [name],
    );
  return { subject: subjectOf(owner, (await lock())[0]), isNew: true };
}

/** The current row; a missing row counts as an empty one. */
export async function readSubject(connection: Connection, owner: Namespace): Promise<Subject> {
  const sql = `SELECT ${ALL_COLUMNS} FROM subjects WHERE owner = ?`;
  return subjectOf(owner, (await connection.as(owner).query(sql, [bytesOf(owner)]))[0]);
}

/** Sent with the commit. */
export function saveSubject(connection: Connection, subject: Subject): void {
  const { owner, newestSeq, prunedThrough, prunes, removals, entries, bytes } = subject;
  void connection.query(`UPDATE subjects SET (${COLUMNS}) = (?, ?, ?, ?, ?, ?) WHERE owner = ?`, [
    ...[newestSeq, prunedThrough, prunes, removals, entries, bytes],
    bytesOf(owner),
  ]);
}

function subjectOf(owner: Namespace, row: StoredRow | undefined): Subject {
  return {
    owner,
    born: Number(row?.born ?? 0),
    newestSeq: Number(row?.newest_seq ?? 0),
    prunedThrough: Number(row?.pruned_through ?? 0),
    prunes: Number(row?.prunes ?? 0),
    removals: Number(row?.removals ?? 0),
    entries: Number(row?.entries ?? 0),
    bytes: Number(row?.bytes ?? 0),
  };
}
