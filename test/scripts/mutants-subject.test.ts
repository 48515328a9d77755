/** What test/scripts/mutants.test.ts mutates against: small, so that the script can be tried quickly. */
import { expect, test } from "vitest";
import { namespaceOf } from "../../engine/store/namespace.ts";

test("a colon in a subject is escaped", () => {
  expect(namespaceOf("a:b")).toBe("a%3Ab");
});
