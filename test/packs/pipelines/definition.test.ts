/** Pipeline definitions: loading one reports all of its errors, with their positions. */
import { describe, expect, test } from "vitest";
import { checkDefinition } from "../../../packs/pipelines/load-pipelines.ts";

const PACKS = new Set(["github.list_issues", "helmdeck.memory_store"]);
const t = (expression: string) => `\${{ ${expression} }}`;

const GOOD = {
  id: "issues.digest",
  description: "Counts issues.",
  inputs: { repo: { description: "owner/name" }, label: { required: false }, most: { default: 5 } },
  steps: [
    { id: "list", pack: "github.list_issues", with: { repo: t("inputs.repo"), labels: [t("inputs.label")] } },
    { id: "keep", pack: "helmdeck.memory_store", with: { value: `n: ${t("steps.list.output.count")}` } },
  ],
  output: { count: t("steps.list.output.count") },
};

function problemsOf(definition: unknown): readonly string[] {
  const checked = checkDefinition(definition, PACKS);
  return checked.ok ? [] : checked.problems.map(({ place, rule }) => `${place.join(".")}: ${rule}`);
}

test("a valid definition becomes a pipeline; an input is required unless it is optional or has a default", () => {
  const checked = checkDefinition(GOOD, PACKS);
  expect(checked).toMatchObject({
    ok: true,
    pipeline: {
      id: "issues.digest",
      inputs: {
        repo: { description: "owner/name", required: true },
        label: { required: false },
        most: { required: false, default: 5 },
      },
      steps: [{ id: "list" }, { id: "keep" }],
      output: GOOD.output,
    },
  });
});

test("inputs, output and the field with of a step are optional", () => {
  const least = { id: "p", description: "d", steps: [{ id: "s", pack: "github.list_issues" }] };
  expect(checkDefinition(least, PACKS)).toEqual({
    ok: true,
    pipeline: {
      id: "p",
      description: "d",
      inputs: {},
      steps: [{ id: "s", pack: "github.list_issues", with: {} }],
    },
  });
});

const step = GOOD.steps[0];
const good = (more: object) => ({ ...GOOD, ...more });
const steps = (...more: readonly object[]) => ({ ...GOOD, steps: more, output: undefined });
const withValue = (value: unknown) => steps({ ...step, with: { x: value } });
const many = (count: number) => Array.from({ length: count }, (_, i) => ({ ...step, id: `s${i}` }));
const manyInputs = Object.fromEntries(many(30).map(({ id }) => [id, {}]));

const BAD: readonly (readonly [string, unknown, string])[] = [
  ["nothing", null, ": must be of type object"],
  ["a text", "id: x", ": must be of type object"],
  ["a list", [GOOD], ": must be of type object"],
  ["no id", good({ id: undefined }), "id: is missing"],
  ["an id of capitals", good({ id: "Issues" }), "id: must be lower-case"],
  ["an id that is a path", good({ id: "../x" }), "id: must be lower-case"],
  ["a long id", good({ id: "x".repeat(65) }), "id: may have at most 64"],
  ["no description", good({ description: " " }), "description: must not be empty"],
  ["a direction switch", good({ description: "a\u202eb" }), "description: must be one line"],
  ["an unknown key", good({ when: "always" }), "when: is not a known field"],
  ["an unknown key of a step", steps({ ...step, if: "x" }), "steps.0.if: is not a known field"],
  [
    "an unknown key of an input",
    good({ inputs: { repo: { type: "x" } } }),
    "inputs.repo.type: is not a known field",
  ],
  ["a strange input name", good({ inputs: { "a b": {} } }), "inputs.a b: must be letters"],
  ["an input that is not a mapping", good({ inputs: { repo: "x" } }), "inputs.repo: must be of type object"],
  [
    "a default that is never used",
    good({ inputs: { ...GOOD.inputs, repo: { required: true, default: "x" } } }),
    "inputs.repo.default: is never used",
  ],
  ["33 inputs", good({ inputs: { ...manyInputs, ...GOOD.inputs } }), "inputs: may be at most 32"],
  ["no steps", steps(), "steps: must have at least one step"],
  ["51 steps", steps(...many(51)), "steps: may have at most 50 steps"],
  ["an unknown pack", steps({ id: "s", pack: "rm.rf" }), "steps.0.pack: names an unknown pack"],
  ["a prototype's pack", steps({ id: "s", pack: "constructor" }), "steps.0.pack: names an unknown pack"],
  ["one step id twice", steps({ ...step }, { ...step }), "steps.1.id: is taken by an earlier step"],
  ["a step id with a dot", steps({ ...step, id: "a.b" }), "steps.0.id: must be lower-case"],
  ["with as a list", steps({ ...step, with: [] }), "steps.0.with: must be of type record"],
  [
    "an undeclared input",
    withValue([t("inputs.nope")]),
    "steps.0.with.x.0: names inputs.nope, which is not among the inputs",
  ],
  ["a prototype's input", withValue(t("inputs.constructor")), "steps.0.with.x: names inputs.constructor"],
  [
    "a step that comes later",
    steps({ ...step, id: "a", with: { x: t("steps.b.output") } }, { ...step, id: "b" }),
    "steps.0.with.x: names steps.b.output, and no earlier step has that id",
  ],
  ["a step that names itself", withValue(t("steps.list.output")), "steps.0.with.x: names steps.list.output"],
  ["an unknown step in output", good({ output: t("steps.nope.output") }), "output: names steps.nope.output"],
  ...["", "env.HOME", "inputs", "inputs.", "inputs['a']", "inputs.repo || 1", "steps.list", "process.exit()"]
    .concat("steps.list.outputs.b", "inputs.repo..b")
    .map(
      (code) =>
        [
          `the template ${code}`,
          good({ output: t(code) }),
          "output: has a template that names neither",
        ] as const,
    ),
  ["half a template", good({ output: `\${{ inputs.repo` }), "output: has a template that names neither"],
  ["one brace", good({ output: `\${{ inputs.repo }` }), "output: has a template that names neither"],
  ["an infinite number", withValue(Number.POSITIVE_INFINITY), "steps.0.with.x: must be a finite"],
  ["NaN as a number", withValue([Number.NaN]), "steps.0.with.x.0: must be a finite"],
  ["a huge integer", withValue(10n), "steps.0.with.x: must be text, a number"],
];

describe("a definition with", () => {
  test.each(BAD)("%s is refused, and the message names the place", (_, definition, problem) => {
    expect(problemsOf(definition)).toEqual([expect.stringContaining(problem)]);
  });

  test("values nested too deeply is refused", () => {
    let deep: unknown = "x";
    for (let i = 0; i < 10_000; i++) deep = [deep];
    expect(problemsOf(withValue(deep))).toEqual([expect.stringMatching(/nested more than 16 deep$/)]);
  });

  test("texts that only resemble templates is accepted", () => {
    const texts = ["$ {{ inputs.a }}", "{{ inputs.a }}", "$(inputs.a)", `\${a}`, "}}"];
    expect(problemsOf(withValue(texts))).toEqual([]);
  });

  test("several errors lists them all", () => {
    expect(
      problemsOf(steps({ id: "s", pack: "a", with: { x: t("inputs.b") } }, { id: "s", pack: "c" })),
    ).toHaveLength(4);
  });
});
