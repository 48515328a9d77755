/** The conditions in PostgreSQL's words. */
import type { EntryRef, ListQuery, UnixMs } from "../memory-store.ts";
import { type Namespace, ownerOf } from "../namespace.ts";
import { all, conditionsIn, unexpired } from "../sql/conditions.ts";
import { slotOf } from "./entry-rows.ts";
import { type Condition, type SqlValue, successorOf, textBytes } from "./sql.ts";

const conditions = conditionsIn<SqlValue>({
  text: textBytes,
  name: (id) => id,
  seq: "seq",
  oneOf,
  tagged: (tag) => ({ sql: "? = ANY (tag_list)", values: [textBytes(tag)] }),
  startsWith,
  withSessions,
});
export const { filterCondition, namespaceCondition, newerCondition, ownerCondition } = conditions;

/** Not expired (now >= expires_at). */
export const liveCondition: (now: UnixMs) => Condition = unexpired;

export function refCondition(ref: EntryRef): Condition {
  return { sql: "slot = ?", values: [slotOf(ref)] };
}

/** The live entries of a listing after its cursor. */
export function listCondition(query: ListQuery, now: UnixMs): Condition {
  return conditions.listCondition(query, liveCondition(now));
}

function withSessions(namespace: Namespace): Condition {
  return namespace === ownerOf(namespace) ? ownedBy(namespace) : namespaceCondition(namespace);
}

export function ownedBy(owner: Namespace): Condition {
  return { sql: "entries.owner = ?", values: [textBytes(owner)] }; // histories have this column too
}

/** Origins are our own names. */
function oneOf(column: "origin" | "category", values: readonly string[]): Condition {
  if (column === "origin") return { sql: "origin = ANY (?::text[])", values: [values] };
  const texts = values.map(textBytes).filter((bytes) => bytes !== null);
  return { sql: "category = ANY (?::bytea[])", values: [texts] };
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
