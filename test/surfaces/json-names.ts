/** Finds invalid names and times in our JSON. */

const SNAKE_CASE = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/;
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
/** In seconds, because helmdeck's audit rows and defaults use them. */
const UNIX_SECONDS = /^(at|last_used|last_seen)_unix$/;
/** Fields with names from elsewhere: from JSON Schema, or from the author of a pipeline. */
const FOREIGN = new Set(["input_schema", "output_schema", "inputs", "learn_inputs", "common_inputs"]);
/** Less than any Unix time since September 2001, in seconds or milliseconds. */
const LEAST_TIME = 1_000_000_000;

/** One line for each name that is not snake_case, and each time that is not RFC 3339. */
export function oddities(value: unknown, place = "$"): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => oddities(item, `${place}[${index}]`));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, field]) => [
    ...(SNAKE_CASE.test(name) ? [] : [`${place}.${name} is not snake_case`]),
    ...(isOddTime(name, field) ? [`${place}.${name} is not RFC 3339`] : []),
    ...(FOREIGN.has(name) ? [] : oddities(field, `${place}.${name}`)),
  ]);
}

function isOddTime(name: string, field: unknown): boolean {
  if (name.endsWith("_at")) return typeof field !== "string" || !RFC_3339.test(field);
  return typeof field === "number" && field >= LEAST_TIME && !UNIX_SECONDS.test(name);
}
