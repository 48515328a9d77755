/** Equal inputs get one cache key, whatever the order of their fields and the spelling of their texts. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalJson } from "../../../packs/engine/run-cache.ts";

const json = fc.jsonValue({ maxDepth: 4, stringUnit: "binary" });

test("has one text for one value, in any order of its fields", () => {
  fc.assert(
    fc.property(json, (value) => {
      expect(canonicalJson(reversed(value))).toBe(canonicalJson(value));
    }),
  );
});

test("is JSON for the same value", () => {
  fc.assert(
    fc.property(json, (value) => {
      const text = canonicalJson(value);
      expect(JSON.parse(text ?? "")).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

test("has different texts for different values", () => {
  fc.assert(
    fc.property(json, json, (a, b) => {
      const same = canonicalJson(a) === canonicalJson(b);
      expect(same).toBe(JSON.stringify(sorted(a)) === JSON.stringify(sorted(b)));
    }),
    { numRuns: 1_000 },
  );
});

test.each([
  ["fields in another order", { a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 }],
  ["minus zero", [-0], [0]],
  ["a number in another notation", JSON.parse("1e2"), 100],
  ["an escaped letter", JSON.parse('"\\u00e9"'), "é"],
  ["an undefined field", { a: 1, b: undefined }, { a: 1 }],
])("treats as equal: %s", (_, a, b) => {
  expect(canonicalJson(a)).toBe(canonicalJson(b));
});

test.each([
  ["a composed and a decomposed letter", "\u00e9", "e\u0301"],
  ["a text and a number", "1", 1],
  ["a list and its fields", ["a"], { 0: "a" }],
  ["lists with other nesting", [["a"], "b"], [["a", "b"]]],
  ["null and an absent field", { a: null }, {}],
  ["two lone surrogates", "\ud800", "\ud801"],
  ["a field called __proto__", JSON.parse('{"__proto__": 1}'), {}],
])("treats as different: %s", (_, a, b) => {
  expect(canonicalJson(a)).toBeTypeOf("string");
  expect(canonicalJson(a)).not.toBe(canonicalJson(b));
});

test.each([
  ["a date", new Date(0)],
  ["a big number", 1n],
  ["not a number", Number.NaN],
  ["an infinite number", Number.POSITIVE_INFINITY],
  ["a map", new Map()],
  ["an undefined item", [undefined]],
  ["a function", () => 1],
  ["a field named by a symbol", { [Symbol("a")]: 1 }],
  ["too many levels", JSON.parse("[".repeat(5_000) + "]".repeat(5_000))],
])("has no text for %s, which has no JSON form, at any depth", (_, value) => {
  expect(canonicalJson(value)).toBeUndefined();
  expect(canonicalJson({ a: [value] })).toBeUndefined();
});

function reversed(value: unknown): unknown {
  return mapFields(value, (fields) => fields.toReversed(), reversed);
}

function sorted(value: unknown): unknown {
  return mapFields(value, (fields) => fields.toSorted(([a], [b]) => (a < b ? -1 : 1)), sorted);
}

type Fields = [string, unknown][];

function mapFields(
  value: unknown,
  order: (fields: Fields) => Fields,
  into: (value: unknown) => unknown,
): unknown {
  if (Array.isArray(value)) return value.map(into);
  if (typeof value !== "object" || value === null) return Object.is(value, -0) ? 0 : value;
  const fields = Object.entries(value).map(([name, field]): [string, unknown] => [name, into(field)]);
  return Object.fromEntries(order(fields));
}
