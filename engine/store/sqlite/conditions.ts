/** The conditions in SQLite's words. */
import type { EntryFilter, EntryRef, ListQuery, UnixMs } from "../memory-store.ts";
import { type Namespace, sessionPrefixOf } from "../namespace.ts";
import { all, type Condition as ConditionOn, conditionsIn, unexpired } from "../sql/conditions.ts";
import type { SqliteValue } from "./sqlite-driver.ts";

export type Condition = ConditionOn<SqliteValue>;

const conditions = conditionsIn<SqliteValue>({
  text,
  name: text,
  seq: "+seq",
  oneOf,
  tagged,
  startsWith: (prefix) => startsWith("key", prefix),
  withSessions,
});
export const { filterCondition, namespaceCondition, newerCondition, ownerCondition, restCondition } =
  conditions;

export function refCondition({ namespace, origin, key }: EntryRef): Condition {
  return { sql: "namespace = ? AND origin = ? AND key = ?", values: [namespace, origin, key].map(text) };
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

/** The live entries of a listing after its cursor. */
export function listCondition(query: ListQuery, moment: Moment): Condition {
  return conditions.listCondition(query, liveCondition(moment));
}

/** Not expired (now >= expires_at) and not being deleted. */
export function liveCondition({ now, forgets }: Moment): Condition {
  return all<SqliteValue>([unexpired(now), ...forgets.map(spared)]);
}

/** Not being deleted. */
export function sparedCondition(forgets: readonly Forget[]): Condition {
  return all(forgets.map(spared));
}

function spared({ seq, filter }: Forget): Condition {
  const { sql, values } = filterCondition(filter);
  return { sql: `(+seq < ? AND ${sql}) IS NOT TRUE`, values: [seq, ...values] };
}

/** The session namespaces of the filter's namespace. */
export function sessionsCondition({ namespace }: EntryFilter): Condition {
  return startsWith("namespace", sessionPrefixOf(namespace));
}

function withSessions(namespace: Namespace): Condition {
  const { sql, values } = startsWith("namespace", sessionPrefixOf(namespace));
  return { sql: `namespace = ? OR (${sql})`, values: [text(namespace), ...values] };
}

function oneOf(column: string, values: readonly string[]): Condition {
  const distinct = [...new Set(values)];
  return { sql: `${column} IN (${distinct.map(() => "?").join(", ")})`, values: distinct.map(text) };
}

/** A row with unparsable tags has none. Most rows have none, and are not parsed. */
function tagged(tag: string): Condition {
  const list = "CASE WHEN json_valid(tags) THEN tags ELSE '[]' END";
  const isListed = `EXISTS (SELECT 1 FROM json_each(${list}) AS tag WHERE tag.value = ?)`;
  return { sql: `tags <> '[]' AND ${isListed}`, values: [text(tag)] };
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

/**
 * Text that is not valid UTF-8 becomes NULL, which equals nothing: no entry has such a name. SQLite would store and compare a
 * replacement character instead and confuse it with other text.
 */
function text(value: string): string | null {
  return value.isWellFormed() ? value : null;
}
