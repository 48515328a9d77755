/** Converts rows to entries and back: checks column types, seals and opens values. */

import { fingerprintOf } from "./entry-id.ts";
import type { Entry, EntryId, EntryMeta, NewEntry, Origin, UnixMs, UnreadableEntry } from "./memory-store.ts";
import type { Namespace } from "./namespace.ts";
import type { ClearColumns, Sealer } from "./sealing.ts";

/** By column name: integers and times, text, blobs, null. Untrusted until it authenticates. */
export type StoredRow = Readonly<Record<string, string | number | Uint8Array | null | undefined>>;

export const CLEAR_COLUMNS =
  "seq, id, namespace, origin, key, category, tags, created_at, updated_at, expires_at, digest";
export const ALL_COLUMNS = `${CLEAR_COLUMNS}, sealed`;

/** Identity that a new row takes over from the replaced entry, or gets anew. */
export interface RowIdentity {
  readonly seq: number;
  readonly id: EntryId;
  readonly createdAt: UnixMs;
}

/** The clear columns of an entry to be written. */
export function columnsOf(entry: NewEntry, identity: RowIdentity, now: UnixMs, sealer: Sealer): ClearColumns {
  return {
    seq: identity.seq,
    id: identity.id,
    namespace: entry.namespace,
    origin: entry.origin,
    key: entry.key,
    category: entry.category,
    tags: JSON.stringify(entry.tags),
    createdAt: identity.createdAt,
    updatedAt: entry.updatedAt ?? now,
    expiresAt: entry.expiresAt ?? null,
    digest: sealer.digest(identity.id, entry.value),
  };
}

/** The columns of a stored row, not authenticated; undefined when one has an unexpected type. */
export function parseColumns(row: StoredRow): ClearColumns | undefined {
  const { seq, id, namespace, origin, key, category, tags, digest } = row;
  const { created_at: createdAt, updated_at: updatedAt, expires_at: expiresAt } = row;
  if (typeof id !== "string" || typeof namespace !== "string" || typeof origin !== "string") return undefined;
  if (typeof key !== "string" || typeof category !== "string" || typeof tags !== "string") return undefined;
  if (typeof seq !== "number" || typeof createdAt !== "number" || typeof updatedAt !== "number")
    return undefined;
  if (expiresAt !== null && typeof expiresAt !== "number") return undefined;
  if (!(digest instanceof Uint8Array)) return undefined;
  return { seq, id, namespace, origin, key, category, tags, createdAt, updatedAt, expiresAt, digest };
}

/** The entry of a stored row; undefined when it does not authenticate. */
export function openRow(row: StoredRow, sealer: Sealer): Entry | undefined {
  const columns = parseColumns(row);
  if (columns === undefined || !(row.sealed instanceof Uint8Array)) return undefined;
  const content = sealer.open(columns, row.sealed);
  return content && { ...metaOf(columns), ...content, fingerprint: fingerprintOf(content.value) };
}

/** Splits rows into entries and unreadable ones, each in the given order. */
export function openRows(
  rows: readonly StoredRow[],
  sealer: Sealer,
): { readonly entries: readonly Entry[]; readonly unreadable: readonly UnreadableEntry[] } {
  const entries: Entry[] = [];
  const unreadable: UnreadableEntry[] = [];
  for (const row of rows) {
    const entry = openRow(row, sealer);
    if (entry === undefined) unreadable.push(unreadableOf(row));
    else entries.push(entry);
  }
  return { entries, unreadable };
}

/** The branded fields are genuine if the row authenticates; without decrypting, they are what the file claims. */
export function metaOf(columns: ClearColumns): EntryMeta {
  return {
    id: columns.id as EntryId,
    namespace: columns.namespace as Namespace,
    origin: columns.origin as Origin,
    key: columns.key,
    category: columns.category,
    tags: parseTags(columns.tags),
    createdAt: columns.createdAt,
    updatedAt: columns.updatedAt,
    ...(columns.expiresAt === null ? {} : { expiresAt: columns.expiresAt }),
  };
}

/** What the clear columns of an unreadable row claim. */
function unreadableOf(row: StoredRow): UnreadableEntry {
  return {
    id: `${row.id}` as EntryId,
    origin: `${row.origin}` as Origin,
    key: `${row.key}`,
  };
}

/** Unparsable tags show as none; opening the row then finds it unreadable. */
export function parseTags(json: string): readonly string[] {
  try {
    const parsed: unknown = JSON.parse(json);
    return Array.isArray(parsed) ? parsed.filter((tag) => typeof tag === "string") : [];
  } catch {
    return [];
  }
}
