/** Loads all pipelines of a server: the shipped ones and those in the operator's folder. Each is checked when loaded. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { type Document, isAlias, isNode, LineCounter, parseDocument, visit, type YAMLError } from "yaml";
import { HelmdeckError } from "../../engine/errors.ts";
import { harmlessLine } from "../../engine/facts/hostile-text.ts";
import { readGivenFile } from "../../engine/given-file.ts";
import type { Pipeline } from "./pipeline-contract.ts";
import { checkDefinition, type DefinitionProblem } from "./pipeline-definition.ts";
import { type PipelineFile, shippedPipelineFiles } from "./shipped/shipped-pipelines.ts";

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
