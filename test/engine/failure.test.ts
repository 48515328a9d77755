import { expect, test } from "vitest";
import { asHelmdeckError, HelmdeckError } from "../../engine/errors.ts";

test("a HelmdeckError is unchanged", () => {
  const error = new HelmdeckError("store_full", "The disk is full.");
  expect(asHelmdeckError(error)).toBe(error);
});

test("an unexpected error shows only its name and location", () => {
  const error = asHelmdeckError(new RangeError("s3cret\n    at s3cret (s3cret.ts:1:1)"));
  expect(error).toMatchObject({ name: "HelmdeckError", code: "internal" });
  expect(error.message).toMatch(/^An unexpected error occurred \(RangeError at failure\.test\.ts:\d+:\d+\)/);
  expect(error.message).not.toContain("s3cret");
});

test.each([
  "a text",
  7,
  undefined,
  null,
  { message: "s3cret" },
  Object.assign(new Error("s3cret"), { stack: undefined }),
  Object.assign(new Error("a text"), { name: "s3cret" }),
])("any thrown value becomes a HelmdeckError (%#)", (thrown) => {
  const error = asHelmdeckError(thrown);
  expect(error.code).toBe("internal");
  expect(error.message).not.toContain("s3cret");
});
