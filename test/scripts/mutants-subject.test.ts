/** The test that test/scripts/mutants.integration.test.ts runs its mutants against. It is small, so that the script runs quickly. */
import { expect, test } from "vitest";
import { namespaceOf } from "../../engine/store/namespace.ts";

test("a colon in a subject is escaped", () => {
  expect(namespaceOf("a:b")).toBe("a%3Ab");
});
