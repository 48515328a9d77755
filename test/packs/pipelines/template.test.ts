/** Templates: inserted values keep their type, and nothing is evaluated, inherited or replaced twice. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { fillIn } from "../../../packs/pipelines/step-template.ts";

const t = (expression: string) => `\${{ ${expression} }}`;
const INPUTS = {
  ...{ repo: "openclaw/openclaw", count: 3, none: null, flag: false, list: ["a", { b: "c" }] },
  ...{ title: t("inputs.secret"), secret: "s3cret", money: "$& $1 $$ $'", big: "x".repeat(100_000) },
};
const ISSUES = { items: [{ title: "First" }, { title: "Second" }], open: 2, "odd-name": 1 };

const fill = (value: unknown, issues: unknown = ISSUES) =>
  fillIn(value, { inputs: INPUTS, outputs: new Map([["issues", issues]]) });

test.each<readonly [string, unknown]>([
  ["inputs.repo", "openclaw/openclaw"],
  ["inputs.count", 3],
  ["inputs.none", null],
  ["inputs.flag", false],
  ["inputs.list", ["a", { b: "c" }]],
  ["inputs.list.0", "a"],
  ["inputs.list.1.b", "c"],
  ["inputs.list.length", 2],
  ["steps.issues.output.open", 2],
  ["steps.issues.output.items.1.title", "Second"],
  ["steps.issues.output.odd-name", 1],
])("the whole text %s keeps the type of the value", (expression, expected) => {
  expect(fill(t(expression))).toEqual(expected);
  expect(fill(`  \${{${expression}}}\n`)).toEqual(expected);
});

test.each<readonly [string, unknown, unknown]>([
  ["an absent input leaves its field out", { kept: 1, gone: t("inputs.absent") }, { kept: 1 }],
  ["an absent input leaves its item out", [t("inputs.absent"), "x"], ["x"]],
  ["an absent input is nothing in a text", `-${t("inputs.absent")}-${t("inputs.none")}-`, "--null-"],
  ["a string in a text is unchanged", `${t("inputs.repo")} has`, "openclaw/openclaw has"],
  ["other values in a text are JSON", `all of ${t("inputs.list")}`, 'all of ["a",{"b":"c"}]'],
  ["two templates that fill a text make a text", t("inputs.count").repeat(2), "33"],
  [
    "nested values are filled in",
    { a: [t("inputs.count"), { b: t("inputs.flag") }] },
    { a: [3, { b: false }] },
  ],
  ["other values stay", { n: 1, z: null, f: false }, { n: 1, z: null, f: false }],
  ["what looks like a template is not expanded", `T: ${t("inputs.title")}`, `T: ${t("inputs.secret")}`],
  ["nor is it as a whole text", t("inputs.title"), t("inputs.secret")],
  ["replacement patterns stay", `x ${t("inputs.money")} y`, "x $& $1 $$ $' y"],
  ["inputs.constructor is no input", { value: t("inputs.constructor") }, {}],
  ["inputs.__proto__ is no input", { value: t("inputs.__proto__") }, {}],
  ["inputs.toString is no input", { value: t("inputs.toString") }, {}],
  ["inputs.hasOwnProperty is no input", { value: t("inputs.hasOwnProperty") }, {}],
])("%s", (_, given, expected) => expect(fill(given)).toEqual(expected));

test.each([
  "inputs.list.constructor",
  "inputs.repo.length",
  "inputs.repo.0",
  "steps.issues.output.constructor",
  "steps.issues.output.__proto__",
  "steps.issues.output.toString.name",
  "steps.issues.output.items.-1",
  "steps.issues.output.items.2",
  "steps.issues.output.nothing.at.all",
  "steps.never.output",
])("the expression %s is refused", (expression) => {
  expect(() => fill(t(expression))).toThrow(expect.objectContaining({ code: "invalid_input" }));
});

test("many templates are refused before they fill the memory", () => {
  const refusal = expect.objectContaining({ code: "too_large" });
  expect(() => fill(t("inputs.big").repeat(11))).toThrow(refusal);
  expect(() => fill(Array(11).fill(t("inputs.big")))).toThrow(refusal);
  expect(fill(Array(10).fill(t("inputs.big")))).toHaveLength(10);
});

test("a member called __proto__ stays a plain member", () => {
  const filled = fill(JSON.parse(`{"__proto__": ${JSON.stringify(t("inputs.count"))}}`));
  expect(JSON.stringify(filled)).toBe('{"__proto__":3}');
  expect(Object.getPrototypeOf(filled)).toBe(Object.prototype);
});

test("any JSON value stays unchanged, as a text without templates and as what a whole text inserts", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(fill(t("steps.issues.output"), value)).toEqual(value);
      fc.pre(!JSON.stringify(value).includes(`\${{`));
      expect(fill(value)).toEqual(value);
    }),
  );
});
