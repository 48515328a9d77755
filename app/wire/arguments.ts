/**
 * Reads a tool call's arguments by the tool's JSON Schema: many clients send numbers, booleans and lists as texts, and short texts as
 * numbers.
 *
 * Threat: two readers of one call, so that a person is asked about one thing and another happens. Defence: whoever decides about a
 * call and whoever performs it read the arguments here. A value is only taken for another type if it can mean nothing else; what
 * is left is refused.
 */
import { invalidField } from "../../engine/errors.ts";
import { harmlessLine } from "../../engine/facts/hostile-text.ts";
import { isRecord, jsonOf } from "../../engine/json.ts";

export type JsonSchema = Readonly<Record<string, unknown>>;
export type Arguments = Readonly<Record<string, unknown>>;

/** Far above every limit of the facts policy, which reports the exact one. Keeps a 10 MB argument from reaching the worker. */
const TEXT_MAX_CHARS = 262_144;
const MOST_ITEMS = 1_000;
const NAME_MAX_CHARS = 80;

/** A text that can only be one item of a list. */
const ONE_ITEM = /^(?!null$)[^,;[\]{}\n]+$/;

/** What does not fit the schema stays as it is. Read again, the result does not change. */
export function coerced(schema: unknown, given: unknown): unknown {
  const [one = {}, ...others] = alternativesOf(schema).filter(({ type }) => type !== "null");
  if (others.length > 0) return given;
  const { type, items } = one;
  if (type === "object") return isRecord(given) ? coercedFields(one, given) : given;
  if (type === "array") {
    const list = typeof given === "string" ? listIn(given, items) : given;
    return Array.isArray(list) ? list.map((item: unknown) => coerced(items, item)) : list;
  }
  // Whether the text from which a client made it is known: 1.1 may have been 1.10.
  if (type === "string" && (typeof given === "boolean" || Number.isSafeInteger(given))) return String(given);
  return typeof given === "string" ? coercedText(type, given) : given;
}

function coercedText(type: unknown, text: string): unknown {
  if (type === "boolean") return text === "true" || (text === "false" ? false : text);
  if (type !== "integer" && type !== "number") return text;
  const number = Number(text);
  // Only as JavaScript writes the number: no spaces, leading zeros or lost digits.
  return Number.isFinite(number) && String(number) === text ? number : text;
}

/** Null in an optional field counts as absent, unless its schema lists null. */
function coercedFields({ properties, required }: JsonSchema, given: Arguments): Arguments {
  const known = isRecord(properties) ? properties : {};
  const isRequired = (name: string) => Array.isArray(required) && required.includes(name);
  const fields = Object.entries(given).flatMap(([name, value]) => {
    if (value === undefined) return [];
    if (!Object.hasOwn(known, name)) return [[name, value]];
    if (value === null && !isRequired(name) && !takesNull(known[name])) return [];
    return [[name, coerced(known[name], value)]];
  });
  return Object.fromEntries(fields);
}

function listIn(text: string, items: unknown): unknown {
  const list = text.trimStart().startsWith("[") ? jsonOf(text) : undefined;
  if (Array.isArray(list)) return list;
  const isOfTexts = alternativesOf(items).every(({ type }) => type === "string");
  return isOfTexts && ONE_ITEM.test(text) ? [text] : text;
}

function alternativesOf(schema: unknown): readonly JsonSchema[] {
  if (!isRecord(schema)) return [];
  const { anyOf, type } = schema;
  if (Array.isArray(anyOf)) return anyOf.flatMap(alternativesOf);
  return Array.isArray(type) ? type.map((one: unknown) => ({ ...schema, type: one })) : [schema];
}

function takesNull(schema: unknown): boolean {
  return alternativesOf(schema).some(({ type }) => type === "null");
}

/** The arguments of one of memory's tools. Throws `invalid_input`, naming a field and its rule. */
export function requireArguments(schema: JsonSchema, given: unknown): Arguments {
  const { properties, required, additionalProperties } = schema;
  const known = isRecord(properties) ? properties : {};
  const fields = coercedFields(schema, isRecord(given) ? given : {});
  const foreign = Object.keys(fields).find((name) => !Object.hasOwn(known, name));
  if (foreign !== undefined && additionalProperties === false) {
    const name = harmlessLine(foreign.slice(0, NAME_MAX_CHARS)).trim() || "an argument";
    throw invalidField(name, `is not known; this tool takes ${Object.keys(known).join(", ")}`);
  }
  for (const [name, field] of Object.entries(known)) {
    if (Object.hasOwn(fields, name)) requireFit(name, field, fields[name]);
    else if (Array.isArray(required) && required.includes(name)) throw invalidField(name, "is missing");
  }
  return Object.fromEntries(Object.entries(fields).filter(([name]) => Object.hasOwn(known, name)));
}

function requireFit(name: string, field: unknown, value: unknown): void {
  const { type, items } = isRecord(field) ? field : {};
  if (value === null) throw invalidField(name, "is missing");
  if (type === "boolean" && typeof value !== "boolean") throw invalidField(name, "must be true or false");
  if (type === "integer" && typeof value !== "number") throw invalidField(name, "must be a whole number");
  if (type === "string" && typeof value !== "string") throw invalidField(name, "must be a string");
  if (typeof value === "string" && value.length > TEXT_MAX_CHARS)
    throw invalidField(name, "is too long; a value may have up to 65,536 bytes, other fields less");
  if (type !== "array") return;
  if (!Array.isArray(value)) throw invalidField(name, "must be a list of texts");
  if (value.length > MOST_ITEMS) throw invalidField(name, "are too many; keep those that matter");
  for (const item of value) requireFit(name, items, item);
}
