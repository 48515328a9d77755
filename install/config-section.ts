/**
 * The sections of the configuration that say who embeds, each changed and given back as one: pure functions on JSON.
 *
 * Who could lose by a mixture: an operator whose key for one service would stand beside the address of another, and be sent
 * there. So what was before comes back whole, or not at all.
 */

import { defined } from "../app/index.ts";
import { PLUGIN_ID } from "./install-names.ts";
import type { Change } from "./journal.ts";
import { at, isEqual, isObject, type Json, type JsonObject, objectOf } from "./openclaw-json.ts";

type Maybe = Json | undefined;

export interface ConfigSection {
  /** What is recorded before it is changed. */
  readonly path: readonly string[];
  /** Where in that the keys are. */
  readonly inner: readonly string[];
  /** They mean something only together. */
  readonly keys: readonly string[];
  /** Where in a setting its provider and its address are: with both it is ours, whatever else somebody changed. */
  readonly provider: readonly string[];
  readonly address: readonly string[];
}

export const SEARCH: ConfigSection = {
  path: ["memory"],
  inner: ["search"],
  keys: ["provider", "model", "remote"],
  provider: ["search", "provider"],
  address: ["search", "remote", "baseUrl"],
};

export const FACTS: ConfigSection = {
  path: ["plugins", "entries", PLUGIN_ID, "config"],
  inner: [],
  keys: ["embeddings"],
  provider: ["embeddings", "provider"],
  address: ["embeddings", "url"],
};

export const SOURCE: ConfigSection = {
  path: FACTS.path,
  inner: [],
  keys: ["source"],
  provider: ["source", "kind"],
  address: ["source", "url"],
};

/** The section with a setting of ours in it. Each key is set as a whole: nothing of the former one is merged into it. */
export function withSetting({ inner }: ConfigSection, now: Maybe, setting: JsonObject): Json {
  const inside = { ...objectIn(at(now, ...inner)), ...objectIn(at(setting, ...inner)) };
  return nested(inner, now, inside) ?? {};
}

/** What to record before a setting is made. How it was stays what was recorded first, while the section is still ours. */
export function changeOf(
  section: ConfigSection,
  earlier: Change | undefined,
  now: Maybe,
  setting: JsonObject,
): Change {
  const { before, sets } =
    earlier !== undefined && ourSetting(section, earlier, now) !== undefined
      ? earlier
      : { before: now, sets: [] };
  return { ...defined({ before }), sets: [...sets, setting] };
}

/** The section once our setting is taken back. Undefined: there is to be nothing. */
export function restored(section: ConfigSection, change: Change, now: Maybe): Maybe {
  const { before, sets } = change;
  if (isEqual(now, before)) return before;
  if (ourSetting(section, change, now) === undefined) return withoutOurSettings(section, sets.at(-1), now);
  const [was, is] = [at(before, ...section.inner), at(now, ...section.inner)];
  if (before !== undefined && !isObject(before)) return before;
  if (was !== undefined && !isObject(was)) return nested(section.inner, now, was);
  const group = {
    ...filtered(objectIn(is), (key) => !section.keys.includes(key)),
    ...filtered(objectIn(was), (key) => section.keys.includes(key)),
  };
  return nested(section.inner, now, was === undefined && isEmpty(group) ? undefined : group, before);
}

function ourSetting(
  { provider, address }: ConfigSection,
  { sets }: Change,
  now: Maybe,
): JsonObject | undefined {
  return sets.find((set) => [provider, address].every((path) => isEqual(at(now, ...path), at(set, ...path))));
}

/** Somebody chose another provider since: what of ours is left beside it goes, and nothing else. */
function withoutOurSettings(
  { inner, keys, provider }: ConfigSection,
  set: JsonObject | undefined,
  now: Maybe,
): Maybe {
  const [theirs, ours] = [at(now, ...inner), at(set, ...inner)];
  if (!isObject(theirs) || isEqual(at(now, ...provider), at(set, ...provider))) return now;
  const isRest = (key: string) => keys.includes(key) && isEqual(at(theirs, key), at(ours, key));
  return nested(
    inner,
    now,
    filtered(theirs, (key) => !isRest(key)),
  );
}

/** `outer` with this inside; what is empty by that, and was nothing before, is nothing. */
function nested([key]: readonly string[], outer: Maybe, inside: Maybe, before?: Maybe): Maybe {
  if (key === undefined) return inside;
  const others = filtered(objectIn(outer), (name) => name !== key);
  if (inside !== undefined) return { ...others, [key]: inside };
  return isEmpty(others) && before === undefined ? undefined : others;
}

function objectIn(value: Maybe): JsonObject {
  return isObject(value) ? value : {};
}

function filtered(object: JsonObject, keeps: (key: string) => boolean): JsonObject {
  return objectOf(Object.entries(object).filter(([key]) => keeps(key)));
}

function isEmpty(object: JsonObject): boolean {
  return Object.keys(object).length === 0;
}
