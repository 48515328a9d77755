/** The in-memory store's entries: their representation, copies for callers, queries and filters. */
import { defined } from "../defined.ts";
import { decodeListCursor, type ListPlace } from "./cursors.ts";
import { fingerprintOf, makeEntryId } from "./entry-id.ts";
import { grown, HISTORY_LIMITS, hasHistory } from "./history.ts";
import type {
  Entry,
  EntryFilter,
  EntryMeta,
  EntryRef,
  EntryVectors,
  FormerValue,
  ListQuery,
  NewEntry,
  UnixMs,
} from "./memory-store.ts";
import { isWithin } from "./namespace.ts";
import type { Writer } from "./writer.ts";
/** A stored entry. Its value is a private copy, never handed out. */
export interface Held {
  readonly meta: EntryMeta;
  readonly value: Uint8Array;
  readonly writer: Writer | undefined;
  readonly prolonged?: true | undefined;
  readonly seq: number;
  /** By space, for this value. */
  readonly vectors: Map<string, EntryVectors>;
  /** Oldest first. */
  readonly history: readonly FormerValue[];
}

export function historyAfter(
  entry: NewEntry,
  kept: Held | undefined,
  retired: readonly Held[],
  sameValue: boolean,
): readonly FormerValue[] {
  if (!hasHistory(entry)) return [];
  const isKept = kept !== undefined && (!sameValue || retired.length > 0);
  const history = grown(kept?.history ?? [], {
    replaced: isKept ? entryOf(kept) : undefined,
    superseded: retired.map((held) => ({ entry: entryOf(held), history: held.history })),
  });
  return history.length > 0 ? history : (entry.history ?? []).slice(-HISTORY_LIMITS.kept).map(copyOf);
}

export function copyOf(former: FormerValue): FormerValue {
  return { ...former, value: Uint8Array.from(former.value) };
}

export function slotOf(ref: EntryRef): string {
  return JSON.stringify([ref.namespace, ref.origin, ref.key]);
}

export function metaOf(entry: NewEntry, kept: EntryMeta | undefined, now: UnixMs): EntryMeta {
  return {
    id: kept?.id ?? makeEntryId(),
    namespace: entry.namespace,
    origin: entry.origin,
    key: entry.key,
    category: entry.category,
    tags: [...entry.tags],
    createdAt: entry.createdAt ?? kept?.createdAt ?? now,
    updatedAt: entry.updatedAt ?? now,
    ...defined({ expiresAt: entry.expiresAt }),
  };
}

export function entryOf({ meta, value, writer, prolonged }: Held): Entry {
  return {
    ...meta,
    value: Uint8Array.from(value),
    fingerprint: fingerprintOf(value),
    ...defined({ writer, prolonged }),
  };
}

export function isListed(meta: EntryMeta, query: ListQuery): boolean {
  return (
    meta.namespace === query.namespace &&
    (query.origin === undefined || [query.origin].flat().includes(meta.origin)) &&
    (query.category === undefined || [query.category].flat().includes(meta.category)) &&
    (query.tag === undefined || meta.tags.includes(query.tag)) &&
    (query.expiresBefore === undefined || (meta.expiresAt ?? query.expiresBefore) < query.expiresBefore) &&
    hasPrefix(meta.key, query.prefix)
  );
}

export function isMatch(meta: EntryMeta, filter: EntryFilter): boolean {
  return (
    isWithin(meta.namespace, filter) &&
    (filter.origins === undefined || filter.origins.includes(meta.origin)) &&
    (filter.category === undefined || meta.category === filter.category) &&
    (filter.tag === undefined || meta.tags.includes(filter.tag)) &&
    (filter.key === undefined || meta.key === filter.key) &&
    hasPrefix(meta.key, filter.prefix) &&
    (filter.cursor === undefined || comparePlaces(decodeListCursor(filter.cursor), meta) < 0)
  );
}

/** A prefix that ends in half a surrogate pair would match half a character, so it matches nothing. */
function hasPrefix(key: string, prefix: string | undefined): boolean {
  return prefix === undefined || (prefix.isWellFormed() && key.startsWith(prefix));
}

/** Newest first, then by id: negative when `a` comes before `b`. */
export function comparePlaces(a: ListPlace, b: ListPlace): number {
  if (a.updatedAt !== b.updatedAt) return b.updatedAt - a.updatedAt;
  if (a.id === b.id) return 0;
  return a.id < b.id ? -1 : 1;
}

export function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
