/** `npm run check:promises` finds a promise without a test, a test without a promise, and a duplicate id. */
import { describe, expect, test } from "vitest";
import { problemsIn as problemsOf } from "../../scripts/check-promises.ts";

// Split in two, so that the check does not take the examples in this file for tests of promises.
const VERIFIES = "// verif" + "ies";
const NEEDS_NO_MUTANT = "## It stays out of the way";
const promises = (...ids: readonly string[]) => promisesUnder(NEEDS_NO_MUTANT, ...ids);
const promisesUnder = (heading: string, ...ids: readonly string[]) => ({
  file: "docs/promises.md",
  text: [
    "# Promises",
    heading,
    "| id | promise |",
    "|---|---|",
    ...ids.map((id) => `| \`${id}\` | It holds. |`),
  ].join("\n"),
});
const file = (...lines: readonly string[]) => ({ file: "test/a.test.ts", text: lines.join("\n") });
const TESTED = [`${VERIFIES} P-a`, "test("];
const mention = (text: string) => ({ file: "docs/security-model.md", text });
const problemsIn = (document: ReturnType<typeof file>, tests: readonly ReturnType<typeof file>[]) =>
  problemsOf(document, tests, [], mention(""));

describe("check:promises", () => {
  test.each([
    ["a test", "test('holds', () => {});"],
    ["a group", "  describe('holds', () => {"],
    ["a table of tests", "it.each([1, 2])('holds for %d', () => {});"],
    ["a table over lines", "test.each<readonly [string]>(["],
    ["a test that some machines cannot run", "describe.skipIf(why)('holds', () => {});"],
  ])("is content with a promise that %s names", (_, line) => {
    expect(problemsIn(promises("P-a"), [file(`${VERIFIES} P-a`, line)])).toEqual([]);
  });

  const document = "docs/promises.md";
  test.each<[string, readonly string[], readonly string[], readonly string[]]>([
    [
      "several ids in one line",
      ["P-a", "P-b"],
      [`${VERIFIES} P-a, P-b`, "test(", `${VERIFIES} P-a`, "test("],
      [],
    ],
    ["a promise that no test verifies", ["P-a", "P-b"], TESTED, [`${document}:6: P-b: no test verifies it`]],
    [
      "a test that names an unknown id",
      ["P-a"],
      ["", `${VERIFIES} P-a, P-z`, "test("],
      [`test/a.test.ts:2: P-z: not in ${document}`],
    ],
    ["an id that is given twice", ["P-a", "P-a"], TESTED, [`${document}:6: P-a: this id is taken`]],
    [
      "an id that no test could name",
      ["P-A b"],
      [`${VERIFIES} P-A b`, "test("],
      [`${document}:5: P-A b: not the form of an id`],
    ],
    [
      "a document without promises, and a line that names none",
      [],
      [VERIFIES, "test("],
      [`${document}: no promise found`, `test/a.test.ts:1: : not in ${document}`],
    ],
  ])("judges %s", (_, ids, lines, problems) => {
    expect(problemsIn(promises(...ids), [file(...lines)])).toEqual(problems);
  });

  test("fails on a promise about data that no mutant breaks, and on a mutant that breaks no promise", () => {
    const document = promisesUnder("## What you stored is there", "P-a", "P-b");
    const tests = [file(`${VERIFIES} P-a, P-b`, "test(")];
    const mutants = [
      { name: "one", breaks: "P-a" },
      { name: "other", breaks: "P-z" },
    ];
    expect(problemsOf(document, tests, mutants, mention(""))).toEqual([
      "docs/promises.md:6: P-b: no mutant breaks it",
      "test/mutants: other: P-z: not in docs/promises.md",
    ]);
  });

  test("fails on an unknown id in the security model", () => {
    const tests = [file(`${VERIFIES} P-a`, "test(")];
    expect(problemsOf(promises("P-a"), tests, [], mention("Safe (`P-a`).\nSound (`P-a`, `P-b`)."))).toEqual([
      "docs/security-model.md:2: P-b: not in docs/promises.md",
    ]);
  });

  test.each(["test.skip('x', () => {});", "describe.todo('x');", "", "const a = 1;"])(
    "fails where the ids stand above %j",
    (line) => {
      expect(problemsIn(promises("P-a"), [file(`${VERIFIES} P-a`, line)])).toEqual([
        "test/a.test.ts:1: stands above no test, or above one that is left out",
      ]);
    },
  );
});
