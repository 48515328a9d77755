/** Reads the rows of helmdeck's table `memory_entries`, and decrypts their values. */
import { createDecipheriv, type KeyObject } from "node:crypto";
import { readTime } from "../../../../engine/rfc3339.ts";
import { fingerprintOf } from "../../../../engine/store/entry-id.ts";
import type { SqliteConnection, SqliteRow } from "../../../../engine/store/sqlite/sqlite-driver.ts";

const TEXTS = [
  "id",
  "namespace",
  "key",
  "fingerprint",
  "category",
  "tags_json",
  "created_at",
  "updated_at",
] as const;
const COLUMNS = [...TEXTS, "expires_at", "metadata_json", "value_ciphertext", "value_nonce"];
const TAG_BYTES = 16;
const NONCE_BYTES = 12;

/** A row without its value. */
export interface Row extends Readonly<Record<(typeof TEXTS)[number], string>> {
  /** Null means never. */
  readonly expires_at: string | null;
  /** Of the encrypted value. */
  readonly sizeBytes: number;
}

/** Whether the database has the table with exactly helmdeck's columns. */
export function hasRows(connection: SqliteConnection): boolean {
  connection.exec("PRAGMA trusted_schema = OFF");
  const table = connection.prepare(
    "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'memory_entries'",
  );
  const columns = connection.prepare("SELECT name FROM pragma_table_xinfo('memory_entries')").all();
  const names = columns.map(({ name }) => String(name));
  return table.get() !== undefined && names.toSorted().join() === COLUMNS.toSorted().join();
}

/** Newest first. */
export function readRows(connection: SqliteConnection): readonly Row[] {
  const columns = [...TEXTS, "expires_at", "length(value_ciphertext) AS size"].join(", ");
  return connection
    .prepare(`SELECT ${columns} FROM memory_entries`)
    .all()
    .map((row) => ({ row: rowOf(row), at: readTime(String(row.updated_at)) ?? 0 }))
    .toSorted((one, other) => other.at - one.at)
    .map(({ row }) => row);
}

function rowOf(row: SqliteRow): Row {
  const texts = Object.fromEntries(TEXTS.map((name) => [name, String(row[name] ?? "")] as const));
  const expires_at = row.expires_at === null ? null : String(row.expires_at);
  return {
    ...(texts as Record<(typeof TEXTS)[number], string>),
    expires_at,
    sizeBytes: Number(row.size ?? 0),
  }; // one for each name
}

/** The decrypted value; undefined when it was encrypted with another key, or is damaged. */
export function openValue(connection: SqliteConnection, { id }: Row, key: KeyObject): Buffer | undefined {
  const sql = "SELECT value_ciphertext AS sealed, value_nonce AS nonce FROM memory_entries WHERE id = ?";
  try {
    return unsealed(connection.prepare(sql).get(id) ?? {}, key);
  } catch {
    return undefined;
  }
}

function unsealed({ sealed, nonce }: SqliteRow, key: KeyObject): Buffer | undefined {
  if (!(sealed instanceof Uint8Array) || !(nonce instanceof Uint8Array)) return undefined;
  if (sealed.byteLength < TAG_BYTES || nonce.byteLength !== NONCE_BYTES) return undefined;
  const opening = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG_BYTES });
  opening.setAuthTag(sealed.subarray(-TAG_BYTES));
  return Buffer.concat([opening.update(sealed.subarray(0, -TAG_BYTES)), opening.final()]);
}

/** Compares with the decrypted bytes as stored, before any conversion. */
export function hasItsFingerprint({ fingerprint }: Row, value: Uint8Array): boolean {
  return fingerprint === fingerprintOf(value);
}

export type Kind = "fact" | "pack" | "pipeline" | "note" | "plan" | "cache";

/** `<caller>:<uuid v4>`: a pack's session, which ends with the pack. */
const SESSION = /^(.+):[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/s;
const SOLVE_NOTES = /^swe\.solve\/[0-9a-f]{16}\/notes$/;
const CACHED = /(?:\/|^cg:claim:)[0-9a-f]{64}$/;

/** Classifies helmdeck's rows and finds their owners: by category first, since an agent may choose any key for its facts. */
export function kindOf({ category, key, namespace }: Pick<Row, "category" | "key" | "namespace">): Kind {
  switch (category) {
    case "pack_history":
      return "pack";
    case "pipeline_history":
      return "pipeline";
    case "plan_history":
      return "plan";
    case "cache":
      return CACHED.test(key) ? "cache" : "fact";
    case "solve":
      return SESSION.test(namespace) && SOLVE_NOTES.test(key) ? "note" : "fact";
    default:
      return "fact";
  }
}

/** The caller of the row; for a session, the caller that started it. */
export function callerOf(row: Pick<Row, "category" | "key" | "namespace">): string {
  const isOfSession = ["note", "cache"].includes(kindOf(row));
  return (isOfSession ? SESSION.exec(row.namespace)?.[1] : undefined) ?? row.namespace;
}
