/** Taking back what was changed in a configuration, and nothing that somebody else changed since: pure functions on JSON. */
import { at, isEqual, isObject, type Json, type JsonObject, objectOf, own } from "./json.ts";

type Maybe = Json | undefined;

/** `base` with everything of `over`: objects are merged, anything else is replaced. */
export function merged(base: Maybe, over: Json): Json {
  if (!isObject(base) || !isObject(over)) return over;
  return fromKeys(base, over, (key) => {
    const above = own(over, key);
    return above === undefined ? own(base, key) : merged(own(base, key), above);
  });
}

/**
 * The value as it should be after the way from `before` to `after` is taken back. Where `now` is what we left, it is what it
 * was; where it is neither, somebody else wrote it, and it stays. Undefined: there is to be nothing.
 */
export function takenBack(before: Maybe, after: Maybe, now: Maybe): Maybe {
  if (isEqual(now, after)) return before;
  if (!isObject(now) || !isObject(after)) return now;
  const was = isObject(before) ? before : {};
  const kept = fromKeys(now, merged(was, after), (key) =>
    takenBack(own(was, key), own(after, key), own(now, key)),
  );
  return before === undefined && isObject(kept) && Object.keys(kept).length === 0 ? undefined : kept;
}

/** `memory` with a setting in it: each key of `search` that is set is set as a whole. */
export function withSearch(memory: Maybe, setting: JsonObject): Json {
  const search = at(setting, "search");
  if (!isObject(search)) return memory ?? {};
  const [outer, inner] = [isObject(memory) ? memory : {}, at(memory, "search")];
  return { ...outer, search: { ...(isObject(inner) ? inner : {}), ...search } };
}

/** `plugins` without what came in with us: our entry, our place in `allow`, and what was allowed for our sake. */
export function withoutPlugin(before: Maybe, now: Maybe, id: string, allowed: readonly string[]): Maybe {
  if (!isObject(now)) return now;
  const [entries, allow] = [own(now, "entries"), own(now, "allow")];
  const was = { entries: at(before, "entries", id), allow: at(before, "allow") };
  const ids = [id, ...allowed].filter((name) => !(Array.isArray(was.allow) && was.allow.includes(name)));
  const left = {
    ...now,
    ...(isObject(entries) && was.entries === undefined ? { entries: without(entries, id) } : {}),
    ...(Array.isArray(allow)
      ? { allow: allow.filter((name) => typeof name !== "string" || !ids.includes(name)) }
      : {}),
  };
  const kept = Object.entries(left).filter(
    ([key, value]) => !isEmpty(value) || at(before, key) !== undefined,
  );
  return kept.length === 0 && before === undefined ? undefined : objectOf(kept);
}

function without(object: JsonObject, key: string): JsonObject {
  return objectOf(Object.entries(object).filter(([name]) => name !== key));
}

function isEmpty(value: Json): boolean {
  return Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;
}

/** What `openclaw config patch` has to be told to get from one value to the other; undefined when there is nothing to do. */
export function patchBetween(from: Maybe, to: Maybe): Maybe {
  if (isEqual(from, to)) return undefined;
  if (to === undefined) return null;
  if (!isObject(from) || !isObject(to)) return to;
  return fromKeys(from, to, (key) => patchBetween(own(from, key), own(to, key)));
}

function fromKeys(left: JsonObject, right: Json, valueAt: (key: string) => Maybe): JsonObject {
  const keys = new Set([...Object.keys(left), ...(isObject(right) ? Object.keys(right) : [])]);
  return objectOf(
    [...keys].flatMap((key) => {
      const value = valueAt(key);
      return value === undefined ? [] : [[key, value] as const];
    }),
  );
}
