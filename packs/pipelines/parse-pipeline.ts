/**
 * Parses a pipeline's YAML file into a checked pipeline, or refuses it with file and line.
 *
 * Threat: a copied file that is small on disk and huge in memory (aliases of aliases), nested until the stack overflows, or
 * that a person and the parser read differently (a repeated key, a second document). Defence: size and depth are limited,
 * aliases and tags are refused, only YAML 1.2's core schema is used, and parser warnings count as errors.
 */
import { type Document, isAlias, isNode, LineCounter, parseDocument, visit, type YAMLError } from "yaml";
import { HelmdeckError } from "../../engine/errors.ts";
import { harmlessLine } from "../../engine/facts/hostile-text.ts";
import type { Pipeline } from "./pipeline-contract.ts";
import { checkDefinition, type DefinitionProblem } from "./pipeline-definition.ts";

export const PIPELINE_FILE_BYTES = 64 * 1_024;

const SHOWN_PROBLEMS = 5;
const PROBLEM_CHARACTERS = 300;

/** A problem at a line of a file. */
interface Problem {
  readonly line: number;
  readonly text: string;
}

/** `packs`: the names that its steps may use. Throws `invalid_input`. */
export function parsePipeline(yaml: string, file: string, packs: ReadonlySet<string>): Pipeline {
  if (Buffer.byteLength(yaml) > PIPELINE_FILE_BYTES) {
    throw refuse(file, [{ line: 1, text: `has more than ${PIPELINE_FILE_BYTES} bytes` }]);
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
    if (trouble !== undefined) throw refuse(file, [problemOf(trouble, yaml, lines)]);
    const oddities = odditiesIn(document, lines);
    if (oddities.length > 0) throw refuse(file, oddities);
    const checked = checkDefinition(document.toJS(), packs);
    if (checked.ok) return checked.pipeline;
    throw refuse(
      file,
      checked.problems.map((problem) => placed(problem, document, lines)),
    );
  } catch (error) {
    if (error instanceof HelmdeckError) throw error;
    throw refuse(file, [{ line: 1, text: ruleOfCrash(error) }]);
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

function refuse(file: string, problems: readonly Problem[]): HelmdeckError {
  const [first] = problems;
  const shown = problems
    .slice(0, SHOWN_PROBLEMS)
    .map(({ line, text }) => `${file}:${line}: ${harmlessLine(text).slice(0, PROBLEM_CHARACTERS)}`);
  const more = problems.length > shown.length ? ` And ${problems.length - shown.length} more.` : "";
  return new HelmdeckError("invalid_input", `${shown.join(". ")}.${more}`, {
    details: { file, line: first?.line ?? 1 },
  });
}
