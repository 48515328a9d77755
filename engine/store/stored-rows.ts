/** Between a row of a database and an entry of the contract: columns checked for their type, values sealed and opened. */

import { fingerprintOf } from "./entry-id.ts";
import type { Entry, EntryId, EntryMeta, NewEntry, Origin, UnixMs, UnreadableEntry } from "./memory-store.ts";
import type { Namespace } from "./namespace.ts";
import type { ClearColumns, Sealer } from "./sealing.ts";

/** By the names of columns: integers and times, text, blobs, null. Nothing of it is known to be ours until it authenticates. */
export type StoredRow = Readonly<Record<string, string | number | Uint8Array | null | undefined>>;

export const CLEAR_COLUMNS =
  "seq, id, namespace, origin, key, category, tags, created_at, updated_at, expires_at, digest";
export const ALL_COLUMNS = `${CLEAR_COLUMNS}, sealed`;

/** What a new row takes over from the entry it replaces, or gets anew. */
export interface RowIdentity {
  readonly seq: number;
  readonly id: EntryId;
  readonly createdAt: UnixMs;
}

/** The clear columns of an entry about to be written. */
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

/** The columns of a stored row, not yet authenticated; undefined when one has a type that we never write. */
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

/** The entry in a stored row, or undefined when the row does not authenticate. */
export function openRow(row: StoredRow, sealer: Sealer): Entry | undefined {
  const columns = parseColumns(row);
  if (columns === undefined || !(row.sealed instanceof Uint8Array)) return undefined;
  const content = sealer.open(columns, row.sealed);
  return content && { ...metaOf(columns), ...content, fingerprint: fingerprintOf(content.value) };
}

/** Splits rows into entries and those that do not open, each in the order given. */
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

/** The branded fields are as we wrote them if the row authenticates; without decrypting they are what the file says. */
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

/** What can be said of a row that does not open: what its clear columns claim. */
function unreadableOf(row: StoredRow): UnreadableEntry {
  return {
    id: `${row.id}` as EntryId,
    origin: `${row.origin}` as Origin,
    key: `${row.key}`,
  };
}

/** Tags that no longer parse show as none; the row itself is then found unreadable when it is opened. */
export function parseTags(json: string): readonly string[] {
  try {
    const parsed: unknown = JSON.parse(json);
    return Array.isArray(parsed) ? parsed.filter((tag) => typeof tag === "string") : [];
  } catch {
    return [];
  }
}
