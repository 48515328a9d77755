/**
 * Loads all pipelines of a server: the shipped ones (YAML files, which the build includes in the bundle) and those in the
 * operator's folder. Each is checked completely when it is loaded, not when it runs.
 *
 * A definition is the operator's, but may be copied from anywhere. It can refer only to packs, inputs and earlier steps, and
 * every size is limited.
 */

import { readdirSync, readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { type Document, isAlias, isNode, LineCounter, parseDocument, visit, type YAMLError } from "yaml";
import * as z from "zod/mini";
import { defined } from "../../engine/defined.ts";
import { HelmdeckError } from "../../engine/errors.ts";
import { harmlessLine, problemOfName } from "../../engine/facts/hostile-text.ts";
import { readGivenFile } from "../../engine/given-file.ts";
import { ruleOf } from "../../engine/schema-issues.ts";
import type { Pipeline, PipelineInput } from "./pipeline-contract.ts";
import { nameOf, type Place, type Reference, referencesIn } from "./step-template.ts";

const MOST_FILES = 200;

/**
 * Throws `invalid_input` with file and line if a pipeline is invalid, an id is used twice, or the folder cannot be read,
 * because a server that silently skipped a pipeline would look complete.
 */
export async function loadPipelines(options: {
  readonly packs: ReadonlySet<string>;
  /** Reads its `.yaml` and `.yml` files, not those in subfolders. */
  readonly folder?: string;
}): Promise<readonly Pipeline[]> {
  const own = options.folder === undefined ? [] : await filesIn(options.folder);
  const pipelines = new Map<string, Pipeline>();
  for (const { name, text } of [...shippedPipelineFiles(), ...own]) {
    const pipeline = parsePipeline(text, name, options.packs);
    if (pipelines.has(pipeline.id))
      throw refuse(name, `has the id ${pipeline.id}, which another pipeline has`);
    pipelines.set(pipeline.id, pipeline);
  }
  return [...pipelines.values()];
}

async function filesIn(folder: string): Promise<readonly PipelineFile[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    throw refuse(folder, "is not a folder of pipelines that can be read", error);
  });
  const names = entries
    .filter((entry) => !entry.isDirectory() && /\.ya?ml$/.test(entry.name))
    .map(({ name }) => name);
  if (names.length > MOST_FILES)
    throw refuse(folder, `has ${names.length} pipelines; the limit is ${MOST_FILES}`);
  return Promise.all(
    names.sort().map(async (name) => {
      const path = join(folder, name);
      const read = await readGivenFile(path, PIPELINE_FILE_BYTES);
      if ("problem" in read) throw refuse(path, read.problem);
      return { name: path, text: read.text };
    }),
  );
}

function refuse(path: string, rule: string, cause?: unknown): HelmdeckError {
  return new HelmdeckError("invalid_input", `${path} ${rule}.`, { details: { file: path }, cause });
}

const PIPELINE_FILE_BYTES = 64 * 1_024;

const SHOWN_PROBLEMS = 5;
const PROBLEM_CHARACTERS = 300;

/** A problem at a line of a file. */
interface Problem {
  readonly line: number;
  readonly text: string;
}

/**
 * Parses a pipeline's YAML file into a checked pipeline, or refuses it with file and line.
 *
 * Threat: a copied file that is small on disk and huge in memory (aliases of aliases), nested until the stack overflows, or
 * that a person and the parser read differently (a repeated key, a second document). Defence: size and depth are limited,
 * aliases and tags are refused, only YAML 1.2's core schema is used, and parser warnings count as errors.
 *
 * `packs`: the names that its steps may use. Throws `invalid_input`.
 */
export function parsePipeline(yaml: string, file: string, packs: ReadonlySet<string>): Pipeline {
  if (Buffer.byteLength(yaml) > PIPELINE_FILE_BYTES) {
    throw refuseFile(file, [{ line: 1, text: `has more than ${PIPELINE_FILE_BYTES} bytes` }]);
  }
  try {
    const lines = new LineCounter();
    const document = parseDocument(yaml, {
      version: "1.2",
      schema: "core",
      strict: true,
      uniqueKeys: true,
      stringKeys: true,
      prettyErrors: false,
      lineCounter: lines,
    });
    const [trouble] = [...document.errors, ...document.warnings]; // later problems are mostly consequences of the first
    if (trouble !== undefined) throw refuseFile(file, [problemOf(trouble, yaml, lines)]);
    const oddities = odditiesIn(document, lines);
    if (oddities.length > 0) throw refuseFile(file, oddities);
    const checked = checkDefinition(document.toJS(), packs);
    if (checked.ok) return checked.pipeline;
    throw refuseFile(
      file,
      checked.problems.map((problem) => placed(problem, document, lines)),
    );
  } catch (error) {
    if (error instanceof HelmdeckError) throw error;
    throw refuseFile(file, [{ line: 1, text: ruleOfCrash(error) }]);
  }
}

/** The parser's message may quote the file, which is the operator's own. Its first line is enough. */
function problemOf(trouble: YAMLError, yaml: string, lines: LineCounter): Problem {
  const [text = ""] = trouble.message.split("\n");
  const { line } = lines.linePos(trouble.pos[0]);
  const hint = yaml.split("\n")[line - 1]?.includes("{{")
    ? "; inside { } or [ ] a template needs quotes"
    : "";
  return { line, text: `is not valid here: ${text}${hint}` };
}

/**
 * YAML features that no pipeline needs. Nested or recursive aliases can grow without limit, and a tag changes a text into a
 * different value than a reader sees.
 */
function odditiesIn(document: Document, lines: LineCounter): readonly Problem[] {
  const found: Problem[] = [];
  visit(document, {
    Node: (_, node) => {
      const { line } = lines.linePos(node.range?.[0] ?? 0);
      if (isAlias(node)) found.push({ line, text: `has the alias *${node.source}; write its value instead` });
      else if (node.tag !== undefined)
        found.push({ line, text: "has a tag (!…); write the value without it" });
    },
  });
  return found;
}

function placed({ place, rule }: DefinitionProblem, document: Document, lines: LineCounter): Problem {
  const name = place.length === 0 ? "the file" : place.join(".");
  return { line: lineOf(place, document, lines), text: `${name} ${rule}` };
}

/** The line of the member, or of its parent if it is missing. */
function lineOf(place: DefinitionProblem["place"], document: Document, lines: LineCounter): number {
  for (let length = place.length; length >= 0; length--) {
    const node = document.getIn(place.slice(0, length), true);
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
  }
  return 1;
}

function ruleOfCrash(error: unknown): string {
  if (error instanceof RangeError) return "is nested too deeply";
  return "cannot be read as YAML";
}

function refuseFile(file: string, problems: readonly Problem[]): HelmdeckError {
  const [first] = problems;
  const shown = problems
    .slice(0, SHOWN_PROBLEMS)
    .map(({ line, text }) => `${file}:${line}: ${harmlessLine(text).slice(0, PROBLEM_CHARACTERS)}`);
  const more = problems.length > shown.length ? ` And ${problems.length - shown.length} more.` : "";
  return new HelmdeckError("invalid_input", `${shown.join(". ")}.${more}`, {
    details: { file, line: first?.line ?? 1 },
  });
}

const PIPELINE_LIMITS = {
  idCharacters: 64,
  descriptionCharacters: 1_024,
  inputs: 32,
  steps: 50,
  /** Maximum nesting depth of values. */
  depth: 16,
} as const;

/** A problem in a definition, with the path of the affected member. */
interface DefinitionProblem {
  readonly place: Place;
  /** Follows the path in a message: "names an unknown pack". */
  readonly rule: string;
}

type CheckedDefinition =
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

const definitionSchema = z.strictObject({
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

type Definition = z.output<typeof definitionSchema>;

/** The checked pipeline, or all problems of the definition. `packs`: the known packs. */
export function checkDefinition(definition: unknown, packs: ReadonlySet<string>): CheckedDefinition {
  const strange = [...strangeValuesIn(definition)];
  if (strange.length > 0) return { ok: false, problems: strange };
  const parsed = definitionSchema.safeParse(definition, { reportInput: true });
  if (!parsed.success) return { ok: false, problems: parsed.error.issues.map(definitionProblem) };
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

function definitionProblem(issue: z.core.$ZodIssue): DefinitionProblem {
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

interface PipelineFile {
  readonly name: string;
  readonly text: string;
}

/** Set by the build; absent when running from source. */
declare const __HELMDECK_PIPELINES__: readonly PipelineFile[] | undefined;

export function shippedPipelineFiles(): readonly PipelineFile[] {
  if (typeof __HELMDECK_PIPELINES__ !== "undefined") return __HELMDECK_PIPELINES__;
  const folder = new URL("./shipped/", import.meta.url);
  return readdirSync(folder)
    .filter((name) => name.endsWith(".yaml"))
    .sort()
    .map((name) => ({ name, text: readFileSync(new URL(name, folder), "utf8") }));
}
