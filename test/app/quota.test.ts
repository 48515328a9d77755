import { expect, test } from "vitest";
import { defaultTtlOf, quotaOfEnv } from "../../app/quota.ts";

test("the operator sets a caller's quota, in entries and MiB", () => {
  expect(quotaOfEnv({})).toEqual({});
  expect(quotaOfEnv({ HELMDECK_MEMORY_MAX_ENTRIES: "", HELMDECK_MEMORY_MAX_MIB: "" })).toEqual({});
  expect(quotaOfEnv({ HELMDECK_MEMORY_MAX_ENTRIES: "5", HELMDECK_MEMORY_MAX_MIB: "2" })).toEqual({
    entries: 5,
    bytes: 2 * 1_048_576,
  });
});

test.each(["0", "-1", "1.5", "many", " 5", "1e6", "9999999999"])(
  "%j is refused with the variable's name",
  (value) => {
    expect(() => quotaOfEnv({ HELMDECK_MEMORY_MAX_MIB: value })).toThrow(/^HELMDECK_MEMORY_MAX_MIB must be/);
    for (const days of [value, "366"])
      expect(() => defaultTtlOf(undefined, { HELMDECK_MEMORY_LIFETIME_DAYS: days })).toThrow(
        /^HELMDECK_MEMORY_LIFETIME_DAYS must be/,
      );
  },
);

// verifies P-policy-limits
test.each([
  [undefined, undefined, 90],
  [undefined, "", 90],
  [undefined, "1", 1],
  [undefined, "365", 365],
  [30, "365", 30],
])("the default life: set to %s, in the environment %j, is %d days", (set, inEnvironment, days) => {
  const env = { HELMDECK_MEMORY_LIFETIME_DAYS: inEnvironment };
  expect(defaultTtlOf(set, env)).toBe(days * 86_400);
});
