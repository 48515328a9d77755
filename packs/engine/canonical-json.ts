/** Canonical JSON: one text for equal values. Cache keys are made from it. */
import { compareText } from "../../engine/compare-text.ts";

/** Deeper than any real input, and far below the stack limit. */
const MOST_LEVELS = 200;

/**
 * Sorted keys, no white space, -0 as 0, undefined fields left out. Equal texts mean equal values. Strings are not normalized:
 * two encodings of "é" are two values, because a handler can tell them apart.
 *
 * Undefined if JSON cannot express the value (a date, a bigint, an infinite number, a class), or it is nested too deeply.
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
