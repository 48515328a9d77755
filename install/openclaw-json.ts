/** JSON values of a configuration, with helpers. */
import JSON5 from "json5";
import { HelmdeckError } from "../engine/errors.ts";

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Ignores the order of keys. */
export function isEqual(left: Json | undefined, right: Json | undefined): boolean {
  if (left === undefined || right === undefined) return left === right;
  if (Array.isArray(left) && Array.isArray(right))
    return left.length === right.length && left.every((item, index) => isEqual(item, right[index]));
  if (!isObject(left) || !isObject(right)) return left === right;
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length && keys.every((key) => isEqual(left[key], own(right, key)))
  );
}

/** The value at a path of keys, or undefined: `at(config, "memory", "search")`. */
export function at(value: Json | undefined, ...path: readonly string[]): Json | undefined {
  return path.reduce<Json | undefined>((here, key) => (isObject(here) ? own(here, key) : undefined), value);
}

/** Like `value[key]`, but never an inherited member, because keys come from files. */
export function own(value: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

/** An object from entries, in which `__proto__` is an ordinary key. */
export function objectOf(entries: Iterable<readonly [string, Json]>): JsonObject {
  const object: Record<string, Json> = {};
  for (const [key, value] of entries)
    Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true });
  return object;
}

/** The JSON value at the end of a program's output, after other lines. A line such as `[memory] …` only looks like JSON. */
export function jsonIn(stdout: string): Json | undefined {
  for (const { index } of stdout.matchAll(/^[[{"]|^(?:true|false|null|-?\d)/gm)) {
    try {
      return JSON.parse(stdout.slice(index)) as Json; // JSON.parse returns Json
    } catch {
      // A line that the program prints about something else.
    }
  }
  return undefined;
}

/**
 * Parses JSON5, the format of `openclaw.json`, with the same package as OpenClaw.
 *
 * Throws `invalid_input` with the line, but without the text or json5's message, because a configuration contains secrets.
 */
export function parseJson5(text: string): Json {
  try {
    return JSON5.parse<Json>(text);
  } catch (error) {
    const line = error instanceof SyntaxError && "lineNumber" in error ? Number(error.lineNumber) : 1;
    throw new HelmdeckError("invalid_input", `The configuration is not JSON5 at line ${line}.`, {
      details: { line },
    });
  }
}
