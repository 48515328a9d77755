import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { HelmdeckError, isHelmdeckError } from "../../../engine/errors.ts";
import { keyToLookUp, validateFact } from "../../../engine/facts/facts-policy.ts";

const fact = { key: "deploy", value: "Konflux" };

/** The error's code, field and message, or the accepted fact. */
function refusalOf(input: unknown): { code: string; field: unknown; message: string } {
  try {
    return { code: `accepted ${JSON.stringify(validateFact(input))}`, field: "", message: "" };
  } catch (error) {
    if (!(error instanceof HelmdeckError)) throw error;
    return { code: error.code, field: error.details.field, message: error.message };
  }
}

describe("an accepted fact", () => {
  test("is trimmed and gets helmdeck's defaults", () => {
    expect(validateFact({ key: "  deploy/preference \n", value: "\tKonflux, always.  " })).toEqual({
      key: "deploy/preference",
      value: "Konflux, always.",
      category: "user_facts",
      tags: [],
    });
  });

  test("keeps the given fields", () => {
    const given = { ...fact, category: "team.prefs-2", tags: [" ci ", "ci", "über"], ttlSeconds: 3_600 };
    expect(validateFact(given)).toEqual({
      ...fact,
      category: "team.prefs-2",
      tags: ["ci", "über"],
      ttlSeconds: 3_600,
    });
  });

  test.each([0, -0, undefined, null])("lives the default time with a ttl of %s", (ttlSeconds) => {
    expect(validateFact({ ...fact, ttlSeconds })).not.toHaveProperty("ttlSeconds");
  });

  test("may have null or empty optional fields, as models write them", () => {
    expect(validateFact({ ...fact, category: null, tags: null, ttlSeconds: null }).category).toBe(
      "user_facts",
    );
    expect(validateFact({ ...fact, category: "  " }).category).toBe("user_facts");
  });

  test.each([
    ["a key of exactly 512 bytes", { ...fact, key: "é".repeat(256) }],
    ["a value of exactly 64 KiB", { ...fact, value: "é".repeat(32 * 1_024) }],
    ["a value of one byte", { ...fact, value: "x" }],
    ["32 tags of 64 bytes", { ...fact, tags: Array.from({ length: 32 }, (_, i) => `${i}`.padEnd(64, "x")) }],
    ["a category of 64 characters", { ...fact, category: "a".repeat(64) }],
    ["the shortest ttl", { ...fact, ttlSeconds: 3_600 }],
    ["the longest ttl", { ...fact, ttlSeconds: 31_536_000 }],
    ["a key that looks like a path to a parent folder", { ...fact, key: "../../etc/passwd" }],
    ["a value with control and direction characters", { ...fact, value: "a\u0000b\u202ec" }],
    ["letters beyond the basic plane", { ...fact, key: "🦆/𝒦", value: "日本語" }],
  ])("may have %s", (_, input) => {
    expect(() => validateFact(input)).not.toThrow();
  });
});

describe("a refused fact", () => {
  test.each([
    ["nothing", undefined, "fact"],
    ["a text", "deploy", "fact"],
    ["no key", { value: "x" }, "key"],
    ["an empty key", { key: " \n\t ", value: "x" }, "key"],
    ["a key that is not a string", { key: 7, value: "x" }, "key"],
    ["a key of null", { key: null, value: "x" }, "key"],
    ["no value", { key: "x" }, "value"],
    ["an empty value", { key: "x", value: "   " }, "value"],
    ["a value that is not a string", { key: "x", value: { secret: 1 } }, "value"],
    ["a line feed in the key", { ...fact, key: "a\nb" }, "key"],
    ["a NUL in the key", { ...fact, key: "a\u0000b" }, "key"],
    ["a DEL in the key", { ...fact, key: "a\u007fb" }, "key"],
    ["a C1 control in the key", { ...fact, key: "a\u009bb" }, "key"],
    ["a line separator in the key", { ...fact, key: "a\u2028b" }, "key"],
    ["a right-to-left override in the key", { ...fact, key: "a\u202eb" }, "key"],
    ["an isolate in the key", { ...fact, key: "a\u2066b" }, "key"],
    ["invisible letters in the key", { ...fact, key: "a\u{e0041}b" }, "key"],
    ["a soft hyphen in the key", { ...fact, key: "a\u00adb" }, "key"],
    ["a variation selector in the key", { ...fact, key: "a\ufe0fb" }, "key"],
    ["half a surrogate pair in the key", { ...fact, key: "a\ud800" }, "key"],
    ["half a surrogate pair in the value", { ...fact, value: "a\udfff" }, "value"],
    ["a category in upper case", { ...fact, category: "Prefs" }, "category"],
    ["a category with a slash", { ...fact, category: "a/b" }, "category"],
    ["a category that begins with a dot", { ...fact, category: ".." }, "category"],
    ["a category of 65 characters", { ...fact, category: "a".repeat(65) }, "category"],
    ["a category that is not a string", { ...fact, category: 5 }, "category"],
    ["tags that are not a list", { ...fact, tags: "ci" }, "tags"],
    ["a tag that is not a string", { ...fact, tags: [1] }, "tags"],
    ["an empty tag", { ...fact, tags: ["ci", " "] }, "tags"],
    ["a tag with a control character", { ...fact, tags: ["a\u001bb"] }, "tags"],
    ["half a surrogate pair in a tag", { ...fact, tags: ["\ud800"] }, "tags"],
    ["a ttl below an hour", { ...fact, ttlSeconds: 3_599 }, "ttl_seconds"],
    ["a negative ttl", { ...fact, ttlSeconds: -1 }, "ttl_seconds"],
    ["a fractional ttl", { ...fact, ttlSeconds: 3_600.5 }, "ttl_seconds"],
    ["a ttl that is not a number", { ...fact, ttlSeconds: "3600" }, "ttl_seconds"],
    ["a ttl of NaN", { ...fact, ttlSeconds: Number.NaN }, "ttl_seconds"],
    ["an infinite ttl", { ...fact, ttlSeconds: Number.POSITIVE_INFINITY }, "ttl_seconds"],
  ])("has %s", (_, input, field) => {
    expect(refusalOf(input)).toMatchObject({ code: "invalid_input", field });
  });

  test.each(["pack_history", "pipeline_history", "plan_history", "cache", " cache "])(
    "has the reserved category %s",
    (category) => {
      expect(refusalOf({ ...fact, category })).toMatchObject({ code: "invalid_input", field: "category" });
    },
  );

  test("names the limit, the size and the remedy, and never the value", () => {
    const { message } = refusalOf({ key: "notes", value: `secret-${"x".repeat(70_000)}` });
    expect(message).toBe(
      "value may have at most 65536 bytes, but has 70007; store a summary, or several facts.",
    );
  });
});

describe("fault 8: no limit on the length of keys, values, tags, and a huge ttl overflows into the valid range", () => {
  test.each([
    ["a key of 513 bytes in 257 characters", { ...fact, key: `${"é".repeat(256)}x` }, "key"],
    ["a value one byte too long", { ...fact, value: `${"é".repeat(32 * 1_024)}x` }, "value"],
    ["a value of 10 MB", { ...fact, value: "x".repeat(10 * 1_024 * 1_024) }, "value"],
    ["33 tags", { ...fact, tags: Array.from({ length: 33 }, (_, i) => `t${i}`) }, "tags"],
    ["a tag of 65 bytes in 33 characters", { ...fact, tags: [`${"é".repeat(32)}x`] }, "tags"],
    ["a ttl one second above a year", { ...fact, ttlSeconds: 31_536_001 }, "ttl_seconds"],
    // 2^64 nanoseconds plus an hour: helmdeck's arithmetic overflows to one hour.
    ["a ttl that wraps around 64 bits", { ...fact, ttlSeconds: 18_446_744_073 + 3_600 }, "ttl_seconds"],
    ["a ttl that wraps around 32 bits", { ...fact, ttlSeconds: 2 ** 32 + 3_600 }, "ttl_seconds"],
    ["the largest number", { ...fact, ttlSeconds: Number.MAX_VALUE }, "ttl_seconds"],
  ])("%s is refused", (_, input, field) => {
    expect(refusalOf(input)).toMatchObject({ code: "invalid_input", field });
  });
});

// verifies P-policy-limits
test("for any input, the result is a fact within the limits or invalid_input", () => {
  const loose = fc.record(
    {
      key: fc.oneof(fc.string({ unit: "binary", maxLength: 600 }), fc.anything()),
      value: fc.oneof(fc.string({ unit: "binary" }), fc.anything()),
      category: fc.oneof(fc.string(), fc.anything()),
      tags: fc.oneof(fc.array(fc.string({ unit: "binary" }), { maxLength: 40 }), fc.anything()),
      ttlSeconds: fc.oneof(fc.double(), fc.integer(), fc.anything()),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(loose, (input) => {
      try {
        const checked = validateFact(input);
        expect(Buffer.byteLength(checked.key)).toBeLessThanOrEqual(512);
        expect(checked.key).toMatch(/^[^\p{Cc}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]+$/u);
        expect(checked.value).not.toBe("");
        expect(checked.category).toMatch(/^[a-z0-9][a-z0-9_.-]{0,63}$/);
        expect(checked.ttlSeconds ?? 3_600).toBeGreaterThanOrEqual(3_600);
        expect(validateFact(checked)).toEqual(checked);
      } catch (error) {
        if (!isHelmdeckError(error, "invalid_input")) throw error;
      }
    }),
    { numRuns: 200 },
  );
});

test("looking up a key that no fact can have is a miss", () => {
  expect(keyToLookUp(" deploy ")).toBe("deploy");
  for (const key of ["", "  ", "a\nb", "\ud800", "x".repeat(513), 7, undefined])
    expect(keyToLookUp(key)).toBeUndefined();
});
