import { expect, test } from "vitest";
import { quotaOfEnv } from "../../app/quota.ts";

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
  },
);
