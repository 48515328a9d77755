/**
 * Schemas for tool lists: a pack's own schema in a form that every client accepts.
 *
 * Gemini refuses a list of types (`type: ["string", "null"]`). For an optional field, null means the same as absent, so it is
 * accepted but not listed. Other lists of types become alternatives with one type each.
 */

export type JsonSchema = Readonly<Record<string, unknown>>;

/** Keywords whose values map author-chosen names to schemas. */
const NAMED_SCHEMAS = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
]);
/** Keywords whose values are data that may look like a schema. */
const DATA = new Set(["const", "enum", "default", "examples", "required", "dependentRequired"]);
/** Keywords that no client uses to validate an answer. */
const WORDS = new Set(["description", "examples", "pattern"]);

/** The schema of a tool's input. */
export function listedInput(schema: JsonSchema): JsonSchema {
  return changed(schema, false, (one, isOptional) => withOneType(isOptional ? withoutNull(one) : one));
}

/** The schema of a tool's output, without descriptions, which only help to fill in fields. */
export function listedOutput(schema: JsonSchema): JsonSchema {
  return changed(schema, false, (one) => {
    return withOneType(Object.fromEntries(Object.entries(one).filter(([keyword]) => !WORDS.has(keyword))));
  });
}

type Change = (schema: JsonSchema, isOptional: boolean) => JsonSchema;

/** Applies the change to the schema and all nested schemas. */
function changed(given: JsonSchema, isOptional: boolean, change: Change): JsonSchema {
  const schema = change(given, isOptional);
  const required = Array.isArray(schema.required) ? schema.required : [];
  const within = (value: unknown, optional = false): unknown => {
    if (Array.isArray(value)) return value.map((one) => within(one));
    return isSchema(value) ? changed(value, optional, change) : value;
  };
  const members = Object.entries(schema).map(([keyword, value]) => {
    if (DATA.has(keyword)) return [keyword, value];
    if (!NAMED_SCHEMAS.has(keyword) || !isSchema(value)) return [keyword, within(value)];
    const named = Object.entries(value).map(([name, member]) => {
      return [name, within(member, keyword === "properties" && !required.includes(name))];
    });
    return [keyword, Object.fromEntries(named)];
  });
  return Object.fromEntries(members);
}

function withOneType({ type, ...schema }: JsonSchema): JsonSchema {
  if (!Array.isArray(type)) return type === undefined ? schema : { type, ...schema };
  if (type.length === 1) return { type: type[0], ...schema };
  const { description, ...facets } = schema;
  const alternatives = type.map((one) => (one === "null" ? { type: one } : { type: one, ...facets }));
  return { ...(description !== undefined && { description }), anyOf: alternatives };
}

function withoutNull({ anyOf, ...schema }: JsonSchema): JsonSchema {
  if (Array.isArray(anyOf)) {
    const others = anyOf.filter((one) => !(isSchema(one) && one.type === "null"));
    const [only] = others;
    return others.length === 1 && isSchema(only) ? { ...only, ...schema } : { ...schema, anyOf: others };
  }
  const { type } = schema;
  return Array.isArray(type) ? { ...schema, type: type.filter((one) => one !== "null") } : schema;
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
