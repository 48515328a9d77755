/** What to tell OpenClaw to get from one configuration to another, and what is left when the plugin goes: pure functions on JSON. */
import { at, isEqual, isObject, type Json, type JsonObject, objectOf, own } from "./openclaw-json.ts";

type Maybe = Json | undefined;

/** `plugins` as it was: before our installation, before the plugin's uninstallation, and now. */
interface PluginsThen {
  readonly before: Maybe;
  readonly last: Maybe;
  readonly now: Maybe;
}

/**
 * `plugins` without what came in with us: our place in `allow`, what was allowed for our sake, and our entry; or that with what
 * an operator has in it, which the host's uninstallation drops.
 */
export function withoutPlugin(
  { before, last, now }: PluginsThen,
  id: string,
  allowed: readonly string[],
): Maybe {
  const was = { entry: at(before, "entries", id), allow: at(before, "allow") };
  const plugins = isObject(now) ? now : {};
  const [entries, allow] = [own(plugins, "entries"), own(plugins, "allow")];
  const ids = [id, ...allowed].filter((name) => !(Array.isArray(was.allow) && was.allow.includes(name)));
  const left = {
    ...plugins,
    entries: {
      ...(isObject(entries) ? without(entries, id) : {}),
      ...(was.entry === undefined ? {} : { [id]: entryOf(was.entry, at(last, "entries", id)) }),
    },
    ...(Array.isArray(allow)
      ? { allow: allow.filter((name) => typeof name !== "string" || !ids.includes(name)) }
      : {}),
  };
  const kept = Object.entries(left).filter(
    ([key, value]) => !isEmpty(value) || at(before, key) !== undefined,
  );
  return kept.length === 0 && before === undefined ? undefined : objectOf(kept);
}

/** What an operator wrote in it counts as it was last; whether it was switched on, as it was before us. */
function entryOf(was: Json, last: Maybe): Json {
  if (!isObject(was) || !isObject(last)) return was;
  const hasMore = Object.keys(last).some((key) => key !== "enabled");
  const enabled = own(was, "enabled");
  return { ...without(hasMore ? last : was, "enabled"), ...(enabled === undefined ? {} : { enabled }) };
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

/** The patch for what stands at a path; empty when there is nothing to do there. */
export function patchAt(path: readonly string[], patch: Maybe): JsonObject {
  if (patch === undefined) return {};
  return path.reduceRight<Json>((inner, key) => ({ [key]: inner }), patch) as JsonObject; // a path has a first key
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
