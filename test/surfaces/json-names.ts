/** What is odd about the names and times in a JSON of ours. */

const SNAKE_CASE = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/;
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
/** helmdeck's own audit rows and defaults count seconds. */
const UNIX_SECONDS = /^(at|last_used|last_seen)_unix$/;
/** What stands in these is named by others: by JSON Schema, or by whoever wrote a pipeline. */
const FOREIGN = new Set(["input_schema", "output_schema", "inputs", "learn_inputs", "common_inputs"]);
/** Of every time from September 2001 on: in seconds, and in milliseconds the more. */
const LEAST_TIME = 1_000_000_000;

/** Where a name is not snake_case, or a time not RFC 3339: one line for each. */
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
