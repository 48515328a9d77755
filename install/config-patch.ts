/** Computes patches between two configurations: pure functions on JSON. */
import { isEqual, isObject, type Json, type JsonObject, objectOf, own } from "./openclaw-json.ts";

type Maybe = Json | undefined;

/** The argument of `openclaw config patch` that turns one value into the other; undefined if nothing changes. */
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
