/** `export`: every fact and audit row as JSON Lines, to standard output or to a new private file. */

import { escapeJson } from "../../app/presenters/safe-json.ts";
import { counted } from "../../app/presenters/words.ts";
import { type ExportOptions, type ExportProblem, exportLines } from "../../app/transfer/export-lines.ts";
import {
  countNotInMarkdown,
  exportMarkdown,
  type NotInMarkdown,
} from "../../app/transfer/export-markdown.ts";
import type { ExportFormat } from "../../app/transfer/formats/names.ts";
import { harmlessLine } from "../../engine/facts/hostile-text.ts";
import type { CommandContext } from "../command-line.ts";
import { EXIT_DONE, EXIT_FAILED } from "../exit-codes.ts";
import { type Append, writePrivateFile } from "../export-file.ts";
import { withCount } from "../progress-bar.ts";
import { refuseRemote, withStore } from "../with-memory.ts";

/** Lines are written in batches of about this size. */
const CHUNK_CHARACTERS = 64 * 1024;

interface Exported {
  readonly lines: number;
  readonly problems: readonly ExportProblem[];
  /** For Markdown: what only JSON Lines would include. */
  readonly leftOut?: NotInMarkdown;
}

export interface ExportRequest {
  /** A new file; default: standard output. */
  readonly output?: string;
  /** Include each fact's former values. */
  readonly withHistory: boolean;
  readonly to: ExportFormat;
}

/** To run where the memory is kept. */
const THERE = "export --caller SUBJECT";

export async function exportCommand(
  context: CommandContext,
  { output: path, ...how }: ExportRequest,
): Promise<number> {
  await refuseRemote(context, THERE);
  const write = (append: Append) => exportTo(context, append, how);
  const exported = path === undefined ? await toStdout(context, write) : await toFile(context, path, write);
  for (const note of leftOutNotes(exported.leftOut)) await context.output.note(note);
  for (const { key, code, reason } of exported.problems) {
    await context.output.note(`${code}: ${harmlessLine(key)} ${reason}; it was not exported.`);
  }
  return exported.problems.length === 0 ? EXIT_DONE : EXIT_FAILED;
}

type Write = (append: Append) => Promise<Exported>;

async function toStdout(context: CommandContext, write: Write): Promise<Exported> {
  const exported = await write((text) => context.output.text(text));
  await context.output.note(`${lineCount(exported)}, values in plain text.`);
  return exported;
}

async function toFile(context: CommandContext, path: string, write: Write): Promise<Exported> {
  const { output, options } = context;
  let exported: Exported = { lines: 0, problems: [] };
  await writePrivateFile(path, async (append) => {
    exported = await write(append);
  });
  const { leftOut, ...told } = exported;
  if (options.json) await output.json({ output: path, ...told, ...(leftOut && { left_out: leftOut }) });
  else await output.line(`Wrote ${lineCount(exported)} to ${harmlessLine(path)}`);
  await output.note(
    "The file holds every value in plain text, readable only for you (mode 0600). Delete it when you no longer need it.",
  );
  return exported;
}

function exportTo(
  context: CommandContext,
  append: Append,
  { withHistory, to }: Omit<ExportRequest, "output">,
): Promise<Exported> {
  return withStore(context, THERE, async (memory) => {
    const exported = await withCount(context.shell, async (progress) => {
      const problems: ExportProblem[] = [];
      const onProblem = (problem: ExportProblem) => void problems.push(problem);
      let lines = 0;
      let chunk = "";
      const subject = context.options.caller;
      const asked = { memory, subject, withHistory, onProblem, onProgress: progress.update };
      for await (const piece of to === "markdown" ? exportMarkdown(asked) : linesOf(asked)) {
        lines += piece.split("\n").length - 1;
        chunk += piece;
        if (chunk.length < CHUNK_CHARACTERS) continue;
        await append(chunk);
        chunk = "";
      }
      if (chunk !== "") await append(chunk);
      return { lines, problems };
    });
    if (to === "jsonl") return exported;
    return { ...exported, leftOut: await countNotInMarkdown({ memory, subject: context.options.caller }) };
  });
}

async function* linesOf(options: ExportOptions): AsyncGenerator<string> {
  for await (const line of exportLines(options)) yield `${escapeJson(line)}\n`;
}

function leftOutNotes({ runs, former }: NotInMarkdown = { runs: 0, former: 0 }): readonly string[] {
  const left = [
    ...(runs > 0 ? [counted(runs, "record of a run", "records of runs")] : []),
    ...(former > 0 ? [counted(former, "former value")] : []),
  ];
  return left.length === 0
    ? []
    : [`Not exported: ${left.join(", ")}. --to jsonl --with-history exports everything.`];
}

function lineCount({ lines }: Exported): string {
  return counted(lines, "line");
}
