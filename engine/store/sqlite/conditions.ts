/** WHERE clauses: the contract's filters and queries as SQL with bound values, comparing bytes. */

import { decodeListCursor } from "../cursors.ts";
import type { EntryFilter, EntryRef, ListQuery, UnixMs } from "../memory-store.ts";
import { type Namespace, sessionPrefixOf } from "../namespace.ts";
import type { SqliteValue } from "./sqlite-driver.ts";

/** SQL with placeholders, and their values. The SQL itself holds no value, so that statements can be cached. */
export interface Condition {
  readonly sql: string;
  readonly values: readonly SqliteValue[];
}

export function refCondition(ref: EntryRef): Condition {
  return all([equals("namespace", ref.namespace), equals("origin", ref.origin), equals("key", ref.key)]);
}

/** A delete that runs in slices: everything that matches, of the rows before `seq`. */
export interface Forget {
  readonly seq: number;
  readonly filter: EntryFilter;
}

/** Determines which rows a reader sees. */
export interface Moment {
  readonly now: UnixMs;
  readonly forgets: readonly Forget[];
}

/** Every given field must match; expired entries match too. */
export function filterCondition(filter: EntryFilter): Condition {
  return all([ownerCondition(filter), restCondition(filter)]);
}

/** The namespaces of a filter. */
export function ownerCondition(filter: EntryFilter): Condition {
  return filter.includeSessions === true ? withSessions(filter) : namespaceCondition(filter.namespace);
}

/** A filter's conditions within a namespace. */
export function restCondition(filter: EntryFilter): Condition {
  return all([
    filter.origins && oneOf("origin", filter.origins),
    filter.category === undefined ? undefined : equals("category", filter.category),
    filter.tag === undefined ? undefined : tagged(filter.tag),
    filter.key === undefined ? undefined : equals("key", filter.key),
    filter.prefix === undefined ? undefined : startsWith("key", filter.prefix),
    filter.cursor === undefined ? undefined : afterCursor(filter.cursor),
    filter.upTo === undefined ? undefined : { sql: "+seq <= ?", values: [filter.upTo] },
  ]);
}

/** What a filter covers but for its bound. */
export function newerCondition({ upTo = Number.MAX_SAFE_INTEGER, ...filter }: EntryFilter): Condition {
  return all([filterCondition(filter), { sql: "+seq > ?", values: [upTo] }]);
}

/** The live entries of a listing after its cursor. */
export function listCondition(query: ListQuery, moment: Moment): Condition {
  return all([
    equals("namespace", query.namespace),
    liveCondition(moment),
    query.origin === undefined ? undefined : oneOf("origin", [query.origin].flat()),
    query.category === undefined ? undefined : oneOf("category", [query.category].flat()),
    query.tag === undefined ? undefined : tagged(query.tag),
    query.prefix === undefined ? undefined : startsWith("key", query.prefix),
    query.expiresBefore === undefined ? undefined : { sql: "expires_at < ?", values: [query.expiresBefore] },
    query.cursor === undefined ? undefined : afterCursor(query.cursor),
  ]);
}

/** Not expired (now >= expires_at) and not being deleted. */
export function liveCondition({ now, forgets }: Moment): Condition {
  return all([{ sql: "(expires_at IS NULL OR expires_at > ?)", values: [now] }, ...forgets.map(spared)]);
}

/** Not being deleted. */
export function sparedCondition(forgets: readonly Forget[]): Condition {
  return all(forgets.map(spared));
}

function spared({ seq, filter }: Forget): Condition {
  const { sql, values } = filterCondition(filter);
  return { sql: `(+seq < ? AND ${sql}) IS NOT TRUE`, values: [seq, ...values] };
}

/** Exactly this namespace; readers never ask for more. */
export function namespaceCondition(namespace: Namespace): Condition {
  return equals("namespace", namespace);
}

const ALWAYS: Condition = { sql: "TRUE", values: [] };

/** Combines conditions with AND; also used by other modules. */
export function all(conditions: readonly (Condition | undefined)[]): Condition {
  const given = conditions.filter((condition) => condition !== undefined).filter((one) => one !== ALWAYS);
  if (given.length === 0) return ALWAYS;
  return {
    sql: given.map((condition) => `(${condition.sql})`).join(" AND "),
    values: given.flatMap((condition) => condition.values),
  };
}

function equals(column: string, value: string): Condition {
  return { sql: `${column} = ?`, values: [text(value)] };
}

function oneOf(column: string, values: readonly string[]): Condition {
  const distinct = [...new Set(values)];
  return { sql: `${column} IN (${distinct.map(() => "?").join(", ")})`, values: distinct.map(text) };
}

/** A row with unparsable tags has none. */
function tagged(tag: string): Condition {
  const list = "CASE WHEN json_valid(tags) THEN tags ELSE '[]' END";
  return { sql: `EXISTS (SELECT 1 FROM json_each(${list}) AS tag WHERE tag.value = ?)`, values: [text(tag)] };
}

/** The session namespaces of the filter's namespace. */
export function sessionsCondition({ namespace }: EntryFilter): Condition {
  return startsWith("namespace", sessionPrefixOf(namespace));
}

function withSessions(filter: EntryFilter): Condition {
  const { namespace } = filter;
  const sessions = sessionsCondition(filter);
  return { sql: `(namespace = ? OR (${sessions.sql}))`, values: [text(namespace), ...sessions.values] };
}

/**
 * A range instead of LIKE, which folds case and has wildcards. SQLite compares text as UTF-8 bytes, which sort like code points,
 * so the strings with a prefix are exactly those from it up to its successor.
 */
function startsWith(column: string, prefix: string): Condition {
  const successor = prefix.isWellFormed() ? successorOf(prefix) : undefined;
  if (successor === undefined) return { sql: `${column} >= ?`, values: [text(prefix)] };
  return { sql: `${column} >= ? AND ${column} < ?`, values: [text(prefix), successor] };
}

const LAST_CODE_POINT = 0x10ffff;

/** The first string after all strings with this prefix; undefined when there is none. */
function successorOf(prefix: string): string | undefined {
  const points = Array.from(prefix, (character) => character.codePointAt(0) ?? 0);
  while (points.at(-1) === LAST_CODE_POINT) points.pop();
  const last = points.pop();
  if (last === undefined) return undefined;
  const next = last === 0xd7ff ? 0xe000 : last + 1; // skips the surrogates, which text cannot hold
  return String.fromCodePoint(...points, next);
}

function afterCursor(cursor: string): Condition {
  const { updatedAt, id } = decodeListCursor(cursor);
  return { sql: "updated_at <= ? AND (updated_at < ? OR id > ?)", values: [updatedAt, updatedAt, text(id)] };
}

/**
 * Text that is not valid UTF-8 becomes NULL, which equals nothing: no entry has such a name. SQLite would store and compare a
 * replacement character instead and confuse it with other text.
 */
function text(value: string): string | null {
  return value.isWellFormed() ? value : null;
}
