/** One text for each JSON value, however it was spelt: what a cache key is made from. */
import { compareText } from "../../engine/index.ts";

/** Deeper than any input a person writes, and far from the end of the stack. */
const MOST_LEVELS = 200;

/**
 * Keys in one order, no white space, -0 as 0, a field that is undefined as absent. Equal texts mean equal values, and
 * strings stay as they are: two ways to write "é" are two values, since a handler can tell them apart.
 *
 * Undefined when the value is more than JSON can say (a date, a big or infinite number, a class), or nested too deeply.
 */
export function canonicalJson(value: unknown): string | undefined {
  return write(value, MOST_LEVELS);
}

function write(value: unknown, levels: number): string | undefined {
  if (levels === 0) return undefined;
  if (value === null || typeof value === "boolean" || typeof value === "string") return JSON.stringify(value);
  if (typeof value === "number") return Number.isFinite(value) ? JSON.stringify(value) : undefined;
  if (Array.isArray(value))
    return writeAll(
      "[",
      Array.from(value, (item) => write(item, levels - 1)),
      "]",
    );
  return isPlain(value) ? writeObject(value, levels) : undefined;
}

function writeObject(value: Readonly<Record<string, unknown>>, levels: number): string | undefined {
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => compareText(a, b))
    .map(([name, field]) => {
      const text = write(field, levels - 1);
      return text === undefined ? undefined : `${JSON.stringify(name)}:${text}`;
    });
  return writeAll("{", fields, "}");
}

function writeAll(open: string, parts: readonly (string | undefined)[], close: string): string | undefined {
  return parts.includes(undefined) ? undefined : `${open}${parts.join(",")}${close}`;
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return (
    (prototype === Object.prototype || prototype === null) && Object.getOwnPropertySymbols(value).length === 0
  );
}
