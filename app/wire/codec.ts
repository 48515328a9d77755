/**
 * Between the use cases' values and JSON: names are camelCase here and snake_case there, and times (`…At`, `until`, `asOf`, `since`) are Unix
 * milliseconds here and RFC 3339 there. What is absent or null there is absent here.
 * Field names that are not known in advance, such as those of an error's details, are converted too.
 */
import { rfc3339 } from "../../engine/rfc3339.ts";

/** Their fields have names that a person or a program chose. */
type Free = "inputs" | "learn_inputs" | "learnInputs" | "common_inputs" | "metadata";
const FREE: ReadonlySet<string> = new Set<Free>([
  "inputs",
  "learn_inputs",
  "learnInputs",
  "common_inputs",
  "metadata",
]);

type SnakeCase<Name extends string> = Name extends `${infer Head}${infer Tail}`
  ? Head extends Lowercase<Head>
    ? `${Head}${SnakeCase<Tail>}`
    : `_${Lowercase<Head>}${SnakeCase<Tail>}`
  : Name;

type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

export type ToWire<Value> = Value extends readonly (infer Item)[]
  ? ToWire<Item>[]
  : Value extends object
    ? { -readonly [Name in keyof Value as SnakeCase<Name & string>]: FieldToWire<Name, Value[Name]> }
    : Value;

type FieldToWire<Name, Value> = Name extends Free
  ? Value
  : Name extends `${string}At` | "until" | "asOf" | "since"
    ? Exclude<Value, number> | (number extends Value ? string : never)
    : ToWire<Value>;

export type FromWire<Json> = Json extends readonly (infer Item)[]
  ? FromWire<Item>[]
  : Json extends object
    ? { [Name in keyof Json as CamelCase<Name & string>]: FieldFromWire<Name, NonNullable<Json[Name]>> }
    : Json;

type FieldFromWire<Name, Value> = Name extends Free
  ? Value
  : Name extends `${string}_at`
    ? number
    : FromWire<Value>;

/** A request or reply of a value. */
export function toWire<Value>(value: Value): ToWire<Value> {
  return written(value) as ToWire<Value>; // the types are renamed likewise
}

/** The value of a valid request or reply. */
export function fromWire<Json>(json: Json): FromWire<Json> {
  return read(json) as FromWire<Json>; // the types are renamed likewise
}

function written(value: unknown): unknown {
  return eachField(value, written, (name, field) => [snakeCase(name), writtenField(name, field)]);
}

function writtenField(name: string, field: unknown): unknown {
  if (FREE.has(name)) return field;
  // From 1970 through 9999.
  return typeof field === "number" && (name.endsWith("At") || TIMES.has(name))
    ? rfc3339(Math.min(Math.max(field, 0), LAST_TIME))
    : written(field);
}

const TIMES: ReadonlySet<string> = new Set(["until", "asOf", "since"]);
const LAST_TIME = Date.UTC(9999, 11, 31);

function read(json: unknown): unknown {
  return eachField(json, read, (name, field) => [camelCase(name), readField(name, field)]);
}

function readField(name: string, field: unknown): unknown {
  if (FREE.has(name)) return field;
  return typeof field === "string" && name.endsWith("_at") ? Date.parse(field) : read(field);
}

function eachField(
  value: unknown,
  change: (item: unknown) => unknown,
  changeField: (name: string, field: unknown) => readonly [string, unknown],
): unknown {
  if (Array.isArray(value)) return value.map(change);
  if (typeof value !== "object" || value === null) return value;
  const given = Object.entries(value).filter(([, field]) => field !== undefined && field !== null);
  return Object.fromEntries(given.map(([name, field]) => changeField(name, field)));
}

function camelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

export function snakeCased<Value>(fields: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [snakeCase(name), value]));
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
