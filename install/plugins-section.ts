/** OpenClaw's `plugins` section without our plugin: pure functions on JSON. */
import { defined } from "../engine/defined.ts";
import { at, isObject, type Json, type JsonObject, objectOf, own } from "./openclaw-json.ts";

type Maybe = Json | undefined;

/** The `plugins` section before our installation, before the plugin's uninstallation, and now. */
interface PluginsThen {
  readonly before: Maybe;
  readonly last: Maybe;
  readonly now: Maybe;
}

/**
 * `plugins` without our additions: our place in `allow`, the plugins that we allowed, and our entry. If an operator has settings
 * in our entry, it is kept with them, because the host's uninstallation drops it.
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

/** Keeps the operator's latest settings, and the enabled state from before us. */
function entryOf(was: Json, last: Maybe): Json {
  if (!isObject(was) || !isObject(last)) return was;
  const hasMore = Object.keys(last).some((key) => key !== "enabled");
  const enabled = own(was, "enabled");
  return { ...without(hasMore ? last : was, "enabled"), ...defined({ enabled }) };
}

function without(object: JsonObject, key: string): JsonObject {
  return objectOf(Object.entries(object).filter(([name]) => name !== key));
}

function isEmpty(value: Json): boolean {
  return Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;
}
