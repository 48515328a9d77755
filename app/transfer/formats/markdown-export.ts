/**
 * Our own Markdown, as written by `export --to markdown`, read back exactly: each line's prefix says what it is, so nothing is
 * guessed.
 */

import { HelmdeckError } from "../../../engine/errors.ts";
import { jsonOf } from "../../../engine/json.ts";
import { type ReadLine, readLines } from "../line-reader.ts";
import { MARKDOWN_FIELDS, MARKDOWN_MARK, unescapedKey } from "../markdown-marks.ts";
import type { ImportFile, ImportItem, ReadContext } from "./format.ts";
import { itemsOfLine, LINE_BYTES, lineProblem } from "./json-lines.ts";

const FIELD = /^- (\w+): (.*)$/;

/** Whether a file with this beginning is in this format. */
export function isMarkdownExport(start: Buffer): boolean {
  return start
    .toString("utf8")
    .replace(/^\uFEFF/, "")
    .startsWith(MARKDOWN_MARK);
}

/** The length of the mark with a byte order mark. */
export const MARK_BYTES = MARKDOWN_MARK.length + 3;

export async function* readMarkdownExport(
  { name, open }: ImportFile,
  context: ReadContext,
): AsyncGenerator<ImportItem, void, undefined> {
  const reader = new FactReader(name, context);
  for await (const line of readLines(open(), LINE_BYTES)) yield* reader.take(line);
  yield* reader.finish();
}

class FactReader {
  readonly #file: string;
  readonly #context: ReadContext;
  #category: string | undefined;
  #fact: OpenFact | undefined;

  constructor(file: string, context: ReadContext) {
    this.#file = file;
    this.#context = context;
  }

  *take(line: ReadLine): Generator<ImportItem> {
    const text = "text" in line ? line.text : "";
    if (/^###? /.test(text)) {
      yield* this.finish();
      this.#begin(line.number, text);
    } else if (this.#fact !== undefined) this.#fact.take(line);
    else if (!isPreamble(text)) yield { file: this.#file, line: line.number, problem: notOurs() };
  }

  *finish(): Generator<ImportItem> {
    if (this.#fact !== undefined) yield* this.#fact.items(this.#file, this.#context);
    this.#fact = undefined;
  }

  #begin(line: number, text: string): void {
    if (text.startsWith("## ")) this.#category = text.slice(3);
    else this.#fact = new OpenFact(line, unescapedKey(text.slice(4)), this.#category);
  }
}

function isPreamble(text: string): boolean {
  return text.startsWith(MARKDOWN_MARK) || text.startsWith("# ");
}

/** A fact whose lines are being read. */
class OpenFact {
  readonly line: number;
  readonly #fields: Record<string, unknown>;
  readonly #quoted: string[] = [];
  #isJson = false;
  #value: string | undefined;
  #problem: HelmdeckError | undefined;

  constructor(line: number, key: string, category: string | undefined) {
    this.line = line;
    this.#fields = { key, category };
  }

  take(line: ReadLine): void {
    if ("problem" in line) this.#problem ??= lineProblem(line.problem);
    else if (!this.#isTaken(line.text)) this.#problem ??= notOurs(line.number);
  }

  /** Validated like a line of JSON. */
  items(file: string, context: ReadContext): readonly ImportItem[] {
    const { line } = this;
    if (this.#problem !== undefined) return [{ file, line, problem: this.#problem }];
    const fact = { ...this.#fields, value: this.#value ?? this.#quoted.join("\n") };
    return itemsOfLine({ file, line }, JSON.stringify(fact), context);
  }

  #isTaken(text: string): boolean {
    if (text === ">" || text.startsWith("> ")) {
      this.#quoted.push(text.slice(2));
      return true;
    }
    if (text === "```json" || text === "```") {
      this.#isJson = text !== "```";
      return true;
    }
    if (this.#isJson) return this.#isValue(text);
    const [, name = "", said = ""] = FIELD.exec(text) ?? [];
    const known = MARKDOWN_FIELDS.find((one) => one.name === name);
    if (known === undefined) return false;
    this.#fields[known.field] = known.isJson ? (jsonOf(said) ?? null) : said;
    return true;
  }

  #isValue(text: string): boolean {
    const value = jsonOf(text);
    if (typeof value !== "string" || this.#value !== undefined) return false;
    this.#value = value;
    return true;
  }
}

function notOurs(line?: number): HelmdeckError {
  const which = line === undefined ? "This line" : `Line ${line}`;
  const names = MARKDOWN_FIELDS.map(({ name }) => `- ${name}:`);
  const fields = `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
  return new HelmdeckError(
    "invalid_input",
    `${which} is not in the format of the export: each line of a value begins with "> ", and ${fields} come before it.`,
  );
}
