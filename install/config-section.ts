/**
 * The parts of the configuration that say who embeds, each changed and given back as one: pure functions on JSON.
 *
 * Who could lose by a mixture: an operator whose key for one service would stand beside the address of another, and be sent
 * there. So what was before comes back whole, or not at all.
 */

import { PLUGIN_ID } from "./install-names.ts";
import type { Change } from "./journal.ts";
import { at, isEqual, isObject, type Json, type JsonObject, objectOf } from "./openclaw-json.ts";

type Maybe = Json | undefined;

export interface Part {
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

export const SEARCH: Part = {
  path: ["memory"],
  inner: ["search"],
  keys: ["provider", "model", "remote"],
  provider: ["search", "provider"],
  address: ["search", "remote", "baseUrl"],
};

export const FACTS: Part = {
  path: ["plugins", "entries", PLUGIN_ID, "config"],
  inner: [],
  keys: ["embeddings"],
  provider: ["embeddings", "provider"],
  address: ["embeddings", "url"],
};

/** The part with a setting of ours in it. Each key is set as a whole: nothing of the former one is merged into it. */
export function withSetting({ inner }: Part, now: Maybe, setting: JsonObject): Json {
  const inside = { ...objectIn(at(now, ...inner)), ...objectIn(at(setting, ...inner)) };
  return nested(inner, now, inside) ?? {};
}

/** What to record before a setting is made. How it was stays what was recorded first, while the part is still ours. */
export function changeOf(part: Part, earlier: Change | undefined, now: Maybe, setting: JsonObject): Change {
  const { before, sets } =
    earlier !== undefined && ourSetting(part, earlier, now) !== undefined
      ? earlier
      : { before: now, sets: [] };
  return { ...(before === undefined ? {} : { before }), sets: [...sets, setting] };
}

/** The part once our setting is taken back. Undefined: there is to be nothing. */
export function takenBack(part: Part, change: Change, now: Maybe): Maybe {
  const { before, sets } = change;
  if (isEqual(now, before)) return before;
  if (ourSetting(part, change, now) === undefined) return withoutRests(part, sets.at(-1), now);
  const [was, is] = [at(before, ...part.inner), at(now, ...part.inner)];
  if (before !== undefined && !isObject(before)) return before;
  if (was !== undefined && !isObject(was)) return nested(part.inner, now, was);
  const group = {
    ...filtered(objectIn(is), (key) => !part.keys.includes(key)),
    ...filtered(objectIn(was), (key) => part.keys.includes(key)),
  };
  return nested(part.inner, now, was === undefined && isEmpty(group) ? undefined : group, before);
}

function ourSetting({ provider, address }: Part, { sets }: Change, now: Maybe): JsonObject | undefined {
  return sets.find((set) => [provider, address].every((path) => isEqual(at(now, ...path), at(set, ...path))));
}

/** Somebody chose another provider since: what of ours is left beside it goes, and nothing else. */
function withoutRests({ inner, keys, provider }: Part, set: JsonObject | undefined, now: Maybe): Maybe {
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
