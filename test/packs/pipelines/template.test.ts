/** Templates: inserted values keep their type, and nothing is evaluated, inherited or replaced twice. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fillIn, referencesIn } from "../../../packs/pipelines/step-template.ts";

const SCOPE = {
  inputs: { repo: "openclaw/openclaw", count: 3, none: null, flag: false, list: ["a", { b: "c" }] },
  outputs: new Map<string, unknown>([
    ["issues", { items: [{ title: "First" }, { title: "Second" }], open: 2, "odd-name": 1 }],
    ["text", "plain"],
  ]),
};

const fill = (value: unknown) => fillIn(value, SCOPE);
const t = (expression: string) => `\${{ ${expression} }}`;

describe("a template that is the whole text", () => {
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
    ["steps.text.output", "plain"],
  ])("%s keeps the type of the value", (expression, expected) => {
    expect(fill(t(expression))).toEqual(expected);
    expect(fill(`  \${{${expression}}}\n`)).toEqual(expected);
  });

  test("removes its field if the input was not given", () => {
    expect(fill({ kept: 1, gone: t("inputs.absent"), list: [t("inputs.absent"), "x"] })).toEqual({
      kept: 1,
      list: ["x"],
    });
  });
});

describe("a template inside a text", () => {
  test("inserts strings unchanged and other values as JSON", () => {
    expect(fill(`${t("inputs.repo")} has ${t("steps.issues.output.open")} of ${t("inputs.list")}`)).toBe(
      'openclaw/openclaw has 2 of ["a",{"b":"c"}]',
    );
    expect(fill(`-${t("inputs.absent")}-${t("inputs.none")}-`)).toBe("--null-");
  });

  test("is not mistaken for a whole template if two fill the text", () => {
    expect(fill(`${t("inputs.count")}${t("inputs.count")}`)).toBe("33");
  });
});

test("templates in nested values are filled in, and values that are not strings stay", () => {
  const given = { a: [t("inputs.count"), { b: t("inputs.flag") }], n: 1, z: null, f: false };
  expect(fill(given)).toEqual({ a: [3, { b: false }], n: 1, z: null, f: false });
});

describe("hostile content", () => {
  test("that looks like a template is not expanded again", () => {
    const scope = { inputs: { title: t("inputs.secret"), secret: "s3cret" }, outputs: new Map() };
    expect(fillIn(`Title: ${t("inputs.title")}`, scope)).toBe(`Title: ${t("inputs.secret")}`);
    expect(fillIn(t("inputs.title"), scope)).toBe(t("inputs.secret"));
  });

  test("with replacement patterns is inserted unchanged", () => {
    const scope = { inputs: { title: "$& $1 $$ $'" }, outputs: new Map() };
    expect(fillIn(`x ${t("inputs.title")} y`, scope)).toBe("x $& $1 $$ $' y");
  });

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
  ])("in the expression %s is refused", (expression) => {
    expect(() => fill(t(expression))).toThrow(expect.objectContaining({ code: "invalid_input" }));
  });

  test.each(["constructor", "__proto__", "toString", "hasOwnProperty"])(
    "inputs.%s counts as an input that was not given",
    (name) => {
      expect(fill({ value: t(`inputs.${name}`) })).toEqual({});
    },
  );

  test("in many templates is refused before it fills the memory", () => {
    const scope = { inputs: { big: "x".repeat(100_000) }, outputs: new Map() };
    const refusal = expect.objectContaining({ code: "too_large" });
    expect(() => fillIn(t("inputs.big").repeat(11), scope)).toThrow(refusal);
    expect(() => fillIn(Array(11).fill(t("inputs.big")), scope)).toThrow(refusal);
    expect(fillIn(Array(10).fill(t("inputs.big")), scope)).toHaveLength(10);
  });

  test("in a member called __proto__ stays a plain member", () => {
    const given = JSON.parse(`{"__proto__": ${JSON.stringify(t("inputs.count"))}}`);
    const filled = fill(given);
    expect(JSON.stringify(filled)).toBe('{"__proto__":3}');
    expect(Object.getPrototypeOf(filled)).toBe(Object.prototype);
  });
});

describe("references", () => {
  const found = (value: unknown) =>
    [...referencesIn(value)].map(({ place, reference }) => [place.join("."), reference?.kind]);

  test("are found at any place", () => {
    expect(found({ a: [`x ${t("inputs.a")} ${t("steps.b.output.c")}`], d: t("inputs.e") })).toEqual([
      ["a.0", "input"],
      ["a.0", "step"],
      ["d", "input"],
    ]);
  });

  test.each([
    `\${{ }}`,
    `\${{ env.HOME }}`,
    `\${{ inputs }}`,
    `\${{ inputs. }}`,
    `\${{ inputs['a'] }}`,
    `\${{ inputs.a || 1 }}`,
    `\${{ steps.a }}`,
    `\${{ steps.a.outputs.b }}`,
    `\${{ inputs.a`,
    `\${{ inputs.a }`,
    `\${{ process.exit() }}`,
    `\${{ inputs.a..b }}`,
  ])("%s is invalid", (text) => {
    expect(found(text)).toContainEqual(["", undefined]);
  });

  test("are not found in texts that only resemble them", () => {
    expect(found(["$ {{ inputs.a }}", "{{ inputs.a }}", "$(inputs.a)", `\${a}`, "}}"])).toEqual([]);
  });
});

test("any JSON value without templates stays unchanged", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      fc.pre(!JSON.stringify(value).includes(`\${{`));
      expect(fill(value)).toEqual(value);
    }),
  );
});

test("any JSON value is inserted unchanged by a template that is the whole text", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(fillIn(t("steps.s.output"), { inputs: {}, outputs: new Map([["s", value]]) })).toEqual(value);
    }),
  );
});
