/** WHERE clauses: the contract's filters and queries as SQL over bound values, comparing bytes. */
import { decodeListCursor } from "../cursors.ts";
import type { EntryFilter, EntryRef, ListQuery, UnixMs } from "../memory-store.ts";
import { type Namespace, ownerOf } from "../namespace.ts";
import { slotOf } from "./entry-rows.ts";
import { all, type Condition, successorOf, textBytes } from "./sql.ts";

export function refCondition(ref: EntryRef): Condition {
  return { sql: "slot = ?", values: [slotOf(ref)] };
}

/** Every given field must match; expired entries match too. */
export function filterCondition(filter: EntryFilter): Condition {
  return all([
    withinCondition(filter),
    filter.origins && oneOf("origin", filter.origins),
    filter.category === undefined ? undefined : equals("category", filter.category),
    filter.tag === undefined ? undefined : tagged(filter.tag),
    filter.key === undefined ? undefined : equals("key", filter.key),
    filter.prefix === undefined ? undefined : startsWith(filter.prefix),
    filter.cursor === undefined ? undefined : afterCursor(filter.cursor),
    filter.upTo === undefined ? undefined : { sql: "seq <= ?", values: [filter.upTo] },
  ]);
}

/** What a filter covers but for its bound. */
export function newerCondition({ upTo = Number.MAX_SAFE_INTEGER, ...filter }: EntryFilter): Condition {
  return all([filterCondition(filter), { sql: "seq > ?", values: [upTo] }]);
}

/** The namespaces of a filter. */
export function withinCondition({ namespace, includeSessions = false }: EntryFilter): Condition {
  return includeSessions && namespace === ownerOf(namespace)
    ? ownedBy(namespace)
    : namespaceCondition(namespace);
}

/** The live entries of a listing after its cursor. */
export function listCondition(query: ListQuery, now: UnixMs): Condition {
  return all([
    namespaceCondition(query.namespace),
    liveCondition(now),
    query.origin === undefined ? undefined : oneOf("origin", [query.origin].flat()),
    query.category === undefined ? undefined : anyOf("category", [query.category].flat()),
    query.tag === undefined ? undefined : tagged(query.tag),
    query.prefix === undefined ? undefined : startsWith(query.prefix),
    query.expiresBefore === undefined ? undefined : { sql: "expires_at < ?", values: [query.expiresBefore] },
    query.cursor === undefined ? undefined : afterCursor(query.cursor),
  ]);
}

/** Not expired (now >= expires_at). */
export function liveCondition(now: UnixMs): Condition {
  return { sql: "expires_at IS NULL OR expires_at > ?", values: [now] };
}

/** Exactly this namespace. */
export function namespaceCondition(namespace: Namespace): Condition {
  return equals("namespace", namespace);
}

export function ownedBy(owner: Namespace): Condition {
  return equals("entries.owner", owner); // histories have this column too
}

function equals(column: string, value: string): Condition {
  return { sql: `${column} = ?`, values: [textBytes(value)] };
}

function oneOf(column: string, values: readonly string[]): Condition {
  return { sql: `${column} = ANY (?::text[])`, values: [values] };
}

function anyOf(column: string, values: readonly string[]): Condition {
  return {
    sql: `${column} = ANY (?::bytea[])`,
    values: [values.map(textBytes).filter((bytes) => bytes !== null)],
  };
}

function tagged(tag: string): Condition {
  return { sql: "? = ANY (tag_list)", values: [textBytes(tag)] };
}

/** The index holds only the beginnings of keys. */
function startsWith(prefix: string): Condition {
  const bytes = textBytes(prefix);
  const successor = bytes === null ? undefined : successorOf(bytes);
  const from = {
    sql: "key >= ? AND key_start >= ?",
    values: [bytes, bytes === null ? null : bytes.subarray(0, KEY_START_BYTES)],
  };
  if (successor === undefined) return from;
  const end = { sql: "key < ? AND key_start < ?", values: [successor, successor] };
  return all([from, end]);
}

const KEY_START_BYTES = 64;

function afterCursor(cursor: string): Condition {
  const { updatedAt, id } = decodeListCursor(cursor);
  return { sql: "updated_at <= ? AND (updated_at < ? OR id > ?)", values: [updatedAt, updatedAt, id] };
}
