/** Converts rows to entries and back: checks column types, seals and opens values. */

import { jsonListOf } from "../json.ts";
import type { Slot, Upsert } from "../rules/plans.ts";
import { fingerprintOf, makeEntryId } from "./entry-id.ts";
import { isExpired } from "./entry-rules.ts";
import { formerFieldsOf } from "./fields.ts";
import type {
  Entry,
  EntryId,
  EntryMeta,
  EntryRef,
  EntryVectors,
  FormerValue,
  Origin,
  ReferenceVectors,
  UnixMs,
  UnreadableEntry,
  VectorsQuery,
} from "./memory-store.ts";
import type { Namespace } from "./namespace.ts";
import type { ClearColumns, HistoryColumns, Sealer } from "./sealing.ts";
import { decodeVectors } from "./vector-rules.ts";

/** By column name: integers and times, text, blobs, null. Untrusted until it authenticates. */
export type StoredRow = Readonly<Record<string, string | number | Uint8Array | null | undefined>>;

/** A former value, with what its row is deleted and counted by. */
export interface FormerRow extends FormerValue {
  readonly number: number;
  readonly sizeBytes: number;
}

/** A slot with its row, and the rows of its history. */
export interface RowSlot extends Slot {
  readonly row: StoredRow | undefined;
  readonly history: readonly FormerRow[];
}

/**
 * What a row holds now, without its history. An expired entry has ended. So has one that does not authenticate: resealed, its
 * claims would be genuine.
 */
export function openSlot(
  { namespace, origin, key }: EntryRef,
  row: StoredRow | undefined,
  { sealer, now }: { readonly sealer: Sealer; readonly now: UnixMs },
): RowSlot {
  const opened = row && openRow(row, sealer);
  const entry = isExpired(opened?.expiresAt, now) ? undefined : opened;
  const id = entry?.id ?? makeEntryId();
  return {
    ref: { namespace, origin, key },
    ...{ id, entry, row },
    history: [],
    sizeBytes: row && sealedBytes(row),
  };
}

/** The vectors of a row with its entry's id and digest; undefined when they do not authenticate. */
export function openVectors(
  { id, digest, dimensions, sealed }: StoredRow,
  sealer: Sealer,
  { namespace, space }: Pick<VectorsQuery, "namespace" | "space">,
): EntryVectors | undefined {
  if (typeof dimensions !== "number" || !(digest instanceof Uint8Array)) return undefined;
  if (!(sealed instanceof Uint8Array)) return undefined;
  const entryId = `${id}` as EntryId; // the requested id
  const content = sealer.openVectors({ space, dimensions, id: entryId, namespace, digest }, sealed);
  const decoded = content && decodeVectors(content, dimensions);
  return decoded && { id: entryId, dimensions, ...decoded };
}

/** The vectors of the reference texts of a row; undefined when they do not authenticate. */
export function openReferences(
  row: StoredRow | undefined,
  sealer: Sealer,
  space: string,
): ReferenceVectors | undefined {
  const { dimensions, sealed } = row ?? {};
  if (typeof dimensions !== "number" || !(sealed instanceof Uint8Array)) return undefined;
  const content = sealer.openReferences({ space, dimensions }, sealed);
  const decoded = content && decodeVectors(content, dimensions);
  return decoded && { dimensions, ...decoded };
}

/** The former value of a row of a history; undefined when it does not authenticate. */
export function openFormer(row: StoredRow, sealer: Sealer): FormerRow | undefined {
  const { number, entry_id: entryId, written_at: writtenAt, sealed } = row;
  if (typeof number !== "number" || typeof entryId !== "string" || typeof writtenAt !== "number")
    return undefined;
  const content =
    sealed instanceof Uint8Array ? sealer.openHistory({ number, entryId, writtenAt }, sealed) : undefined;
  const former = content && decodeFormer(content, writtenAt);
  return former && { ...former, number, sizeBytes: sealedBytes(row) };
}

/** A row of a history to write. */
export function sealFormer(
  former: FormerValue,
  { number, entryId }: Omit<HistoryColumns, "writtenAt">,
  sealer: Sealer,
): Uint8Array {
  return sealer.sealHistory({ number, entryId, writtenAt: former.updatedAt }, encodeFormer(former));
}

/** Vectors belong to the value of their entry's digest. */
export function hasDigest(row: StoredRow | undefined, digest: Uint8Array): boolean {
  return row?.digest instanceof Uint8Array && Buffer.compare(row.digest, digest) === 0;
}

export function sealedBytes({ sealed }: StoredRow): number {
  return sealed instanceof Uint8Array ? sealed.byteLength : 0;
}

/** A row to write: sealed with its clear columns. */
export function sealRow(
  { meta, content }: Upsert<Slot>,
  seq: number,
  sealer: Sealer,
): { readonly columns: ClearColumns; readonly sealed: Uint8Array } {
  const { expiresAt = null, tags, ...rest } = meta;
  const digest = sealer.digest(meta.id, content.value);
  const columns = { ...rest, seq, expiresAt, tags: JSON.stringify(tags), digest };
  return { columns, sealed: sealer.seal(columns, content) };
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
    revision: columns.seq,
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
  return jsonListOf(json).filter((tag) => typeof tag === "string");
}

const LENGTH_BYTES = 4;

/** Everything except the value and the time, which has its own column. */
type About = Omit<FormerValue, "value" | "updatedAt">;

/** Encodes a former value for sealing: its length in four bytes, its metadata as JSON, and the value. */
function encodeFormer(former: FormerValue): Uint8Array {
  const { value, updatedAt: _, ...about } = formerFieldsOf(former);
  const json = Buffer.from(JSON.stringify(about satisfies About));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(json.byteLength);
  return Buffer.concat([length, json, value]);
}

/** Undefined for anything that {@link encodeFormer} did not create. */
function decodeFormer(content: Uint8Array, updatedAt: number): FormerValue | undefined {
  if (content.byteLength < LENGTH_BYTES) return undefined;
  const view = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const valueStart = LENGTH_BYTES + view.readUInt32BE();
  if (valueStart > content.byteLength) return undefined;
  const about = parse(view.toString("utf8", LENGTH_BYTES, valueStart));
  return (
    about && formerFieldsOf({ ...about, value: Uint8Array.from(content.subarray(valueStart)), updatedAt })
  );
}

/** It was authenticated, so it is what was written; the caller drops unknown fields of a later version. */
function parse(json: string): About | undefined {
  try {
    const about = JSON.parse(json) as About;
    const { key, category, tags } = about;
    const isFormer = typeof key === "string" && typeof category === "string" && Array.isArray(tags);
    return isFormer ? about : undefined;
  } catch {
    return undefined;
  }
}
