/** WHERE clauses for every database: the contract's filters and queries as SQL over bound values, comparing bytes. */
import { TOLD_FOR_MS } from "../../rules/ended.ts";
import { decodeListCursor } from "../cursors.ts";
import type { EntryFilter, ListQuery, UnixMs } from "../memory-store.ts";
import type { Namespace } from "../namespace.ts";

/** SQL with placeholders, and their values. The SQL itself holds no value, so that statements can be cached. */
export interface Condition<Value> {
  readonly sql: string;
  readonly values: readonly Value[];
}

/** What the databases say differently. */
export interface Dialect<Value> {
  /** Compares a stored text. For text that is not valid UTF-8 it is what equals nothing, since no entry has such a name. */
  readonly text: (value: string) => Value;
  /** Compares one of our own names. */
  readonly name: (value: string) => Value;
  /** The column, as a filter that must not choose its index. */
  readonly seq: string;
  readonly oneOf: (column: "origin" | "category", values: readonly string[]) => Condition<Value>;
  readonly tagged: (tag: string) => Condition<Value>;
  /** Keys with this prefix. */
  readonly startsWith: (prefix: string) => Condition<Value>;
  /** A namespace with its sessions. */
  readonly withSessions: (namespace: Namespace) => Condition<Value>;
}

export const ALWAYS: Condition<never> = { sql: "TRUE", values: [] };

/** Combines conditions with AND. */
export function all<Value>(conditions: readonly (Condition<Value> | undefined)[]): Condition<Value> {
  const given = conditions.filter((condition) => condition !== undefined).filter((one) => one !== ALWAYS);
  if (given.length === 0) return ALWAYS;
  return {
    sql: given.map((condition) => `(${condition.sql})`).join(" AND "),
    values: given.flatMap((condition) => condition.values),
  };
}

/** Not expired (now >= expires_at). */
export function unexpired(now: UnixMs): Condition<number> {
  return { sql: "expires_at IS NULL OR expires_at > ?", values: [now] };
}

/** A fact that is hidden by its end, not earlier than a year ago. */
export function endedLately(now: UnixMs): Condition<number> {
  return { sql: "origin = 'fact' AND expires_at <= ? AND expires_at > ?", values: [now, now - TOLD_FOR_MS] };
}

/** The conditions of one database. */
export function conditionsIn<Value>(dialect: Dialect<Value | number>) {
  const { text, name, seq, oneOf, tagged, startsWith, withSessions } = dialect;
  const equals = (column: string, value: string) => ({ sql: `${column} = ?`, values: [text(value)] });
  /** Exactly this namespace; readers never ask for more. */
  const namespaceCondition = (namespace: Namespace) => equals("namespace", namespace);

  /** The namespaces of a filter. */
  const ownerCondition = ({ namespace, includeSessions }: EntryFilter) =>
    includeSessions === true ? withSessions(namespace) : namespaceCondition(namespace);

  const afterCursor = (cursor: string) => {
    const { updatedAt, id } = decodeListCursor(cursor);
    return {
      sql: "updated_at <= ? AND (updated_at < ? OR id > ?)",
      values: [updatedAt, updatedAt, name(id)],
    };
  };

  /** A filter's conditions within a namespace. */
  const restCondition = (filter: EntryFilter) =>
    all([
      filter.origins && oneOf("origin", filter.origins),
      filter.category === undefined ? undefined : equals("category", filter.category),
      filter.tag === undefined ? undefined : tagged(filter.tag),
      filter.key === undefined ? undefined : equals("key", filter.key),
      filter.prefix === undefined ? undefined : startsWith(filter.prefix),
      filter.cursor === undefined ? undefined : afterCursor(filter.cursor),
      filter.upTo === undefined ? undefined : { sql: `${seq} <= ?`, values: [filter.upTo] },
    ]);

  /** Every given field must match; expired entries match too. */
  const filterCondition = (filter: EntryFilter) => all([ownerCondition(filter), restCondition(filter)]);

  /** What a filter covers but for its bound. */
  const newerCondition = ({ upTo = Number.MAX_SAFE_INTEGER, ...filter }: EntryFilter) =>
    all([filterCondition(filter), { sql: `${seq} > ?`, values: [upTo] }]);

  /** The entries of a listing after its cursor that are `live`. */
  const listCondition = (query: ListQuery, live: Condition<Value | number>) =>
    all([
      namespaceCondition(query.namespace),
      live,
      query.origin === undefined ? undefined : oneOf("origin", [query.origin].flat()),
      query.category === undefined ? undefined : oneOf("category", [query.category].flat()),
      query.tag === undefined ? undefined : tagged(query.tag),
      query.prefix === undefined ? undefined : startsWith(query.prefix),
      query.expiresBefore === undefined
        ? undefined
        : { sql: "expires_at < ?", values: [query.expiresBefore] },
      query.cursor === undefined ? undefined : afterCursor(query.cursor),
    ]);

  return {
    namespaceCondition,
    ownerCondition,
    restCondition,
    filterCondition,
    newerCondition,
    listCondition,
  };
}
