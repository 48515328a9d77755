/** `npm run check:mutants` finds a mutant whose test is gone, however the test's title is written. */
import { describe, expect, test } from "vitest";
import { problemsOf } from "../../scripts/mutants/check-mutants.ts";

const FILE = "test/a.test.ts";

/** The problems of one mutant with this pattern, if the files are these. */
function problems(pattern: string | undefined, text: string, others: Readonly<Record<string, string>> = {}) {
  const files: Readonly<Record<string, string>> = { [FILE]: text, ...others };
  const mutant = { name: "m", test: { file: FILE, ...(pattern === undefined ? {} : { name: pattern }) } };
  return problemsOf([mutant], (file) => files[file]);
}

const gone = (pattern: string) => [`m: ${FILE} has no test that matches ${JSON.stringify(pattern)}`];

describe("check:mutants", () => {
  test.each([
    ["a plain title", "is refused", "test('a copy is refused', () => {});"],
    ["a group and its test", "a copy > is refused", "describe('a copy', () => { it('is refused', f); });"],
    ["a title over lines", "a copy is refused", "test('a copy ' +\n 'is refused', f);"],
    ["a row of a table", "a copy is refused", "test.each([['a copy', 1]])('%s is refused', f);"],
    [
      "a field of a table",
      "a copy is refused",
      "const T = [{ what: 'a copy' }]; it.for(T)('$what is refused', f);",
    ],
    [
      "a table of groups",
      "with one.*is refused",
      "describe.each(['one'])('with %s', () => test('is refused', f));",
    ],
    [
      "a loop",
      "an id is refused",
      `for (const c of Object.keys({ id: 1 })) test(\`an \${c} is refused\`, f);`,
    ],
    ["a constant", "12 copies", `const N = 12; test(\`\${N} copies\`, f);`],
    ["a condition", "refused, always", `test(\`is refused\${all ? ', always' : ''}\`, f);`],
    [
      "a test of some machines",
      "is refused",
      "describe.skipIf(why)('a copy', () => { test.runIf(x)('is refused', f); });",
    ],
    [
      "a function of the file",
      "one copy > is refused",
      `all('one'); function all(n) { describe(\`\${n} copy\`, () => test('is refused', f)); }`,
    ],
    ["no pattern", undefined, "test('is refused', f);"],
  ])("finds the test of %s", (_, pattern, text) => {
    expect(problems(pattern, text)).toEqual([]);
  });

  test("finds the tests of a contract suite in other files", () => {
    const files = {
      "test/contract/all.ts":
        "import { one } from './one.ts'; export function all(n) { describe(n.name, () => one()); }",
      "test/contract/one.ts": "export function one() { test('is refused', f); }",
    };
    const text = "import { all } from './contract/all.ts'; all({ name: 'a disk' });";
    expect(problems("a disk > is refused", text, files)).toEqual([]);
    expect(problems("a tape > is refused", text, files)).toEqual(gone("a tape > is refused"));
  });

  test.each([
    ["another title", "test('a copy is declined', f);"],
    ["another row", "test.each([['a copy']])('%s is declined', f);"],
    ["only a comment", "// is refused\ntest('a copy', f);"],
    [
      "only a text inside of a test",
      "test.each(T)('%s', () => { expect(e).toThrow('a copy is refused'); });",
    ],
    ["a skipped test", "test.skip('is refused', f);"],
    ["a skipped group", "describe.skip('a copy', () => { test('is refused', f); });"],
    ["a group without a test", "describe('is refused', () => {});"],
    ["a function that nothing calls", "test('a', f); function all() { test('is refused', f); }"],
    ["an imported suite that nothing calls", "import { all } from './all.ts'; test('a', f);"],
    ["another function called test", "/x/.test('is refused'); rig.test('is refused', f);"],
  ])("fails on %s", (_, text) => {
    const all = "export function all() { test('is refused', f); }";
    expect(problems("is refused", text, { "test/all.ts": all })).toEqual(gone("is refused"));
  });

  test("fails on one of several names", () => {
    const text = "test('a key is refused', f); test('a tag is refused', f);";
    expect(problems("a (key|tag) is|tag is refused", text)).toEqual([]);
    expect(problems("a (key|label) is refused", text)).toEqual(gone("a label is refused"));
    expect(problems("key is refused|label", text)).toEqual(gone("label"));
  });

  test("finds a table's long value only as far as vitest shows it", () => {
    const text = `test.each([{ what: '${"x".repeat(39)}yz' }])('$what is refused', f);`;
    expect(problems("x… is refused", text)).toEqual([]);
    expect(problems("xyz is refused", text)).toEqual(gone("xyz is refused"));
  });

  test("fails on a file that is missing or has no test", () => {
    const mutant = { name: "m", test: { file: FILE } };
    expect(problemsOf([mutant], () => undefined)).toEqual([`m: there is no ${FILE}`]);
    expect(problems(undefined, "export const a = 1;")).toEqual(gone(""));
  });
});
