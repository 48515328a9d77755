/** Validates a served engine's replies against their schemas and renames fields for the use cases. */
import type * as z from "zod";

type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

/** A reply with camelCase fields, and times (`…_at`) in milliseconds since 1970. */
export type FromReply<Reply> = Reply extends readonly (infer Item)[]
  ? FromReply<Item>[]
  : Reply extends object
    ? { [Name in keyof Reply as CamelCase<Name & string>]: FieldFrom<Name, Exclude<Reply[Name], undefined>> }
    : Reply;

type FieldFrom<Name, Value> = Name extends `${string}_at`
  ? number
  : Name extends "inputs" | "learn_inputs"
    ? Value
    : FromReply<Value>;

/** Throws zod's error when the reply does not match; drops fields outside of the schema. */
export function fromReply<Schema extends z.ZodType>(
  schema: Schema,
  json: unknown,
): FromReply<z.infer<Schema>> {
  return renamed(schema.parse(json)) as FromReply<z.infer<Schema>>; // the types are renamed likewise
}

function renamed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(renamed);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).map(([name, field]) => [camelCase(name), fieldOf(name, field)]);
  return Object.fromEntries(fields);
}

/** The inputs of a run keep the names that its tool gave them. */
function fieldOf(name: string, field: unknown): unknown {
  if (name === "inputs" || name === "learn_inputs") return field;
  return name.endsWith("_at") && typeof field === "string" ? Date.parse(field) : renamed(field);
}

function camelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
