/**
 * The configuration sections for embeddings, each changed and restored as a unit: pure functions on JSON.
 *
 * A partly restored section could combine the key for one service with the address of another and send the key there. So the
 * former section is restored completely or not at all.
 */
import { defined } from "../engine/defined.ts";
import { PLUGIN_ID } from "./install-names.ts";
import type { Change } from "./journal.ts";
import { at, isEqual, isObject, type Json, type JsonObject, objectOf, own } from "./openclaw-json.ts";

type Maybe = Json | undefined;

export interface ConfigSection {
  /** The part that is recorded before a change. */
  readonly path: readonly string[];
  /** The path of the keys in that part. */
  readonly inner: readonly string[];
  /** Keys that are only valid together. */
  readonly keys: readonly string[];
  /** The paths of a setting's provider and address. If both are ours, the setting is ours, whatever else was changed. */
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

/** The section with our setting. Its keys are replaced together, never merged with their former values. */
export function withSetting({ inner, keys }: ConfigSection, now: Maybe, setting: JsonObject): Json {
  const others = filtered(objectIn(at(now, ...inner)), (key) => !keys.includes(key));
  const inside = { ...others, ...objectIn(at(setting, ...inner)) };
  return nested(inner, now, inside) ?? {};
}

/** The record to write before a change. While the section is ours, the first recorded original is kept. */
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

/** The section without our setting. Undefined: the section is to be removed. */
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

/** Somebody chose another provider since: removes only what is left of our setting. */
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

/** `outer` with this value inside; undefined if the result is empty and was absent before. */
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

/**
 * Computes patches between two configurations: pure functions on JSON.
 *
 * The argument of `openclaw config patch` that turns one value into the other; undefined if nothing changes.
 */
export function patchBetween(from: Maybe, to: Maybe): Maybe {
  if (isEqual(from, to)) return undefined;
  if (to === undefined) return null;
  if (!isObject(from) || !isObject(to)) return to;
  return fromKeys(from, to, (key) => patchBetween(own(from, key), own(to, key)));
}

/** The patch for the value at a path; empty if nothing changes there. */
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
