/**
 * Validates a pipeline's definition completely when it is loaded, not when it runs.
 *
 * A definition is the operator's, but may be copied from anywhere. It can refer only to packs, inputs and earlier steps, and
 * every size is limited.
 */
import * as z from "zod/mini";
import { defined } from "../../engine/defined.ts";
import { problemOfName } from "../../engine/facts/hostile-text.ts";
import { ruleOf } from "../../engine/schema-issues.ts";
import type { Pipeline, PipelineInput } from "./pipeline-contract.ts";
import { nameOf, type Place, type Reference, referencesIn } from "./step-template.ts";

const PIPELINE_LIMITS = {
  idCharacters: 64,
  descriptionCharacters: 1_024,
  inputs: 32,
  steps: 50,
  /** Maximum nesting depth of values. */
  depth: 16,
} as const;

/** A problem in a definition, with the path of the affected member. */
export interface DefinitionProblem {
  readonly place: Place;
  /** Follows the path in a message: "names an unknown pack". */
  readonly rule: string;
}

export type CheckedDefinition =
  | { readonly ok: true; readonly pipeline: Pipeline }
  | { readonly ok: false; readonly problems: readonly DefinitionProblem[] };

const description = z.string().check(
  z.trim(),
  z.minLength(1, "must not be empty"),
  z.maxLength(
    PIPELINE_LIMITS.descriptionCharacters,
    `may have at most ${PIPELINE_LIMITS.descriptionCharacters} characters`,
  ),
  z.refine((text: string) => problemOfName(text) === undefined, { error: "must be one line of plain text" }),
);

const inputSchema = z.strictObject({
  description: z.exactOptional(description),
  required: z.exactOptional(z.boolean()),
  default: z.exactOptional(z.unknown()),
});

const stepSchema = z.strictObject({
  id: name(/^[a-z0-9][a-z0-9_-]*$/, "must be lower-case letters, digits, _ and -"),
  pack: z.string(),
  with: z.exactOptional(z.record(z.string(), z.unknown())),
});

const schema = z.strictObject({
  id: name(/^[a-z0-9][a-z0-9_.-]*$/, "must be lower-case letters, digits, dots, _ and -"),
  description,
  inputs: z.exactOptional(
    z.record(name(/^[A-Za-z_][\w-]*$/, "must be letters, digits, _ and -"), inputSchema),
  ),
  steps: z
    .array(stepSchema)
    .check(
      z.minLength(1, "must have at least one step"),
      z.maxLength(PIPELINE_LIMITS.steps, `may have at most ${PIPELINE_LIMITS.steps} steps`),
    ),
  output: z.exactOptional(z.unknown()),
});

type Definition = z.output<typeof schema>;

/** The checked pipeline, or all problems of the definition. `packs`: the known packs. */
export function checkDefinition(definition: unknown, packs: ReadonlySet<string>): CheckedDefinition {
  const strange = [...strangeValuesIn(definition)];
  if (strange.length > 0) return { ok: false, problems: strange };
  const parsed = schema.safeParse(definition, { reportInput: true });
  if (!parsed.success) return { ok: false, problems: parsed.error.issues.map(problemOf) };
  const problems = [
    ...inputProblems(parsed.data),
    ...stepProblems(parsed.data, packs),
    ...referenceProblems(parsed.data),
  ];
  return problems.length === 0 ? { ok: true, pipeline: pipelineOf(parsed.data) } : { ok: false, problems };
}

function pipelineOf({ id, description, inputs = {}, steps, output }: Definition): Pipeline {
  const declared = Object.entries(inputs).map(([name, input]): [string, PipelineInput] => [
    name,
    { ...input, required: input.required ?? input.default === undefined },
  ]);
  return {
    id,
    description,
    inputs: Object.fromEntries(declared),
    steps: steps.map((step) => ({ with: {}, ...step })),
    ...defined({ output }),
  };
}

function name(pattern: RegExp, rule: string) {
  return z
    .string()
    .check(
      z.minLength(1, "must not be empty"),
      z.maxLength(
        PIPELINE_LIMITS.idCharacters,
        `may have at most ${PIPELINE_LIMITS.idCharacters} characters`,
      ),
      z.regex(pattern, rule),
    );
}

function problemOf(issue: z.core.$ZodIssue): DefinitionProblem {
  const place = issue.path.map((step) => (typeof step === "symbol" ? String(step) : step));
  if (issue.code === "unrecognized_keys")
    return { place: [...place, issue.keys[0] ?? ""], rule: ruleOf(issue) };
  const [inner] = issue.code === "invalid_key" ? issue.issues : [];
  return { place, rule: inner === undefined ? ruleOf(issue) : inner.message };
}

function* inputProblems({ inputs = {} }: Definition): Generator<DefinitionProblem> {
  const names = Object.entries(inputs);
  if (names.length > PIPELINE_LIMITS.inputs) {
    yield { place: ["inputs"], rule: `may be at most ${PIPELINE_LIMITS.inputs}` };
  }
  for (const [name, input] of names) {
    if (input.required !== true || input.default === undefined) continue;
    yield { place: ["inputs", name, "default"], rule: "is never used, because the input is required" };
  }
}

function* stepProblems({ steps }: Definition, packs: ReadonlySet<string>): Generator<DefinitionProblem> {
  const seen = new Set<string>();
  for (const [index, step] of steps.entries()) {
    if (seen.has(step.id)) yield { place: ["steps", index, "id"], rule: "is taken by an earlier step" };
    seen.add(step.id);
    if (!packs.has(step.pack)) yield { place: ["steps", index, "pack"], rule: "names an unknown pack" };
  }
}

function* referenceProblems({ inputs = {}, steps, output }: Definition): Generator<DefinitionProblem> {
  const declared = new Set(Object.keys(inputs));
  const before = new Set<string>();
  for (const [index, step] of steps.entries()) {
    yield* badReferences(step.with, ["steps", index, "with"], declared, before);
    before.add(step.id);
  }
  yield* badReferences(output, ["output"], declared, before);
}

function* badReferences(
  value: unknown,
  root: Place,
  declared: ReadonlySet<string>,
  before: ReadonlySet<string>,
): Generator<DefinitionProblem> {
  for (const { place, reference } of referencesIn(value, root)) {
    const rule = problemOfReference(reference, declared, before);
    if (rule !== undefined) yield { place, rule };
  }
}

function problemOfReference(
  reference: Reference | undefined,
  declared: ReadonlySet<string>,
  before: ReadonlySet<string>,
): string | undefined {
  if (reference === undefined) {
    return "has a template that names neither an input (inputs.NAME) nor an output (steps.ID.output.PATH)";
  }
  if (reference.kind === "input" && !declared.has(reference.name)) {
    return `names ${nameOf(reference)}, which is not among the inputs`;
  }
  if (reference.kind === "step" && !before.has(reference.id)) {
    return `names ${nameOf(reference)}, and no earlier step has that id`;
  }
  return undefined;
}

/** Values that JSON cannot express, or that are nested too deeply. */
function* strangeValuesIn(value: unknown, place: Place = []): Generator<DefinitionProblem> {
  if (place.length > PIPELINE_LIMITS.depth) {
    yield { place, rule: `is nested more than ${PIPELINE_LIMITS.depth} deep` };
    return;
  }
  if (typeof value === "number" && !Number.isFinite(value)) yield { place, rule: "must be a finite number" };
  if (typeof value === "bigint" || typeof value === "symbol" || typeof value === "function") {
    yield { place, rule: "must be text, a number, true, false, null, a list or a mapping" };
  }
  if (typeof value !== "object" || value === null) return;
  const members = Array.isArray(value) ? value.entries() : Object.entries(value);
  for (const [name, member] of members) yield* strangeValuesIn(member, [...place, name]);
}
