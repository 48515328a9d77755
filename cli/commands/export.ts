/** `export`: every fact and audit row as JSON Lines, to standard output or to a new private file. */
import { type ExportProblem, escapeJson, exportLines, harmlessLine } from "../../app/index.ts";
import { type CommandContext, withMemory } from "../command-context.ts";
import { EXIT_DONE, EXIT_FAILED } from "../exit-codes.ts";
import { type Append, writePrivateFile } from "../export-file.ts";
import { withCount } from "../progress-bar.ts";

/** Lines are written together up to about this size. */
const CHUNK_CHARACTERS = 64 * 1024;

interface Exported {
  readonly lines: number;
  readonly problems: readonly ExportProblem[];
}

export async function exportCommand(context: CommandContext, path: string | undefined): Promise<number> {
  const exported = path === undefined ? await toStdout(context) : await toFile(context, path);
  for (const { key, code, reason } of exported.problems) {
    await context.output.note(`${code}: ${harmlessLine(key)} ${reason}; it is not in the export.`);
  }
  return exported.problems.length === 0 ? EXIT_DONE : EXIT_FAILED;
}

async function toStdout(context: CommandContext): Promise<Exported> {
  const exported = await exportTo(context, (text) => context.output.text(text));
  await context.output.note(`${lineCount(exported)}, values in plain text.`);
  return exported;
}

async function toFile(context: CommandContext, path: string): Promise<Exported> {
  const { output, options } = context;
  let exported: Exported = { lines: 0, problems: [] };
  await writePrivateFile(path, async (append) => {
    exported = await exportTo(context, append);
  });
  if (options.json) await output.json({ output: path, ...exported });
  else await output.line(`Wrote ${lineCount(exported)} to ${harmlessLine(path)}`);
  await output.note(
    "The file holds every value in plain text, readable for you alone (mode 0600). Remove it when it has served.",
  );
  return exported;
}

function exportTo(context: CommandContext, append: Append): Promise<Exported> {
  return withMemory(context, (memory) =>
    withCount(context.shell, async (progress) => {
      const problems: ExportProblem[] = [];
      const onProblem = (problem: ExportProblem) => void problems.push(problem);
      let lines = 0;
      let chunk = "";
      const subject = context.options.caller;
      for await (const line of exportLines({ memory, subject, onProblem, onProgress: progress.update })) {
        lines += 1;
        chunk += `${escapeJson(line)}\n`;
        if (chunk.length < CHUNK_CHARACTERS) continue;
        await append(chunk);
        chunk = "";
      }
      if (chunk !== "") await append(chunk);
      return { lines, problems };
    }),
  );
}

function lineCount({ lines }: Exported): string {
  return lines === 1 ? "1 line" : `${lines} lines`;
}
