/** `import`: JSON Lines from a file or standard input, with progress on a terminal and every refused line named. */
import { stat } from "node:fs/promises";
import {
  type ConflictRule,
  harmlessLine,
  type ImportResult,
  importLines,
  type OpenMemory,
  type RefusedLine,
} from "../../app/index.ts";
import type { CommandContext } from "../command-line.ts";
import { embedImported } from "../embed-afterwards.ts";
import { EXIT_DONE, EXIT_FAILED } from "../exit-codes.ts";
import { bytesOf, inputSource } from "../input.ts";
import { showProgress } from "../progress-bar.ts";
import { withMemoryToWrite } from "../with-memory.ts";

export interface ImportRequest {
  readonly file: string;
  /** What looks like a credential goes in all the same. */
  readonly allowSecrets: boolean;
  readonly onConflict: ConflictRule;
}

export async function importCommand(
  context: CommandContext,
  { file, allowSecrets, onConflict }: ImportRequest,
): Promise<number> {
  const { shell, output, options } = context;
  const source = inputSource(shell, file);
  const read = async (memory: OpenMemory): Promise<ImportResult> => {
    const progress = await showProgress(shell, file === "-" ? undefined : await sizeOf(file));
    try {
      const input = progress.counted(bytesOf(source));
      const { caller: subject } = options;
      return await importLines({
        memory,
        subject,
        input,
        allowSecrets,
        onConflict,
        onProgress: progress.lines,
      });
    } finally {
      progress.stop();
    }
  };
  const result = await withMemoryToWrite(context, read, async (memory, imported) => {
    if (options.json) await output.json(importReply(imported));
    else await print(context, imported);
    await embed(context, memory);
  });
  return result.refusedCount === 0 ? EXIT_DONE : EXIT_FAILED;
}

/** A large import is not waited for: the note says how to have the rest embedded. */
async function embed({ output, options }: CommandContext, memory: OpenMemory): Promise<void> {
  const report = await embedImported(memory, options.caller);
  if (report === undefined || report.embedded + report.refused >= report.total) return;
  const { embedded, total } = report;
  await output.note(
    `Note: meaning is known of ${embedded} of ${total} entries so far. helmdeck-memory embed does the rest now; a gateway or server that runs does it in the background.`,
  );
}

/** Only for the bar; whatever is wrong with the file is said when it is read. */
function sizeOf(file: string): Promise<number | undefined> {
  return stat(file).then(
    (stats) => stats.size,
    () => undefined,
  );
}

async function print({ output, options }: CommandContext, result: ImportResult): Promise<void> {
  const { stored, replaced, refreshed, kept, retired, audit, refused, refusedCount } = result;
  for (const line of refused) await output.note(refusal(line));
  if (refusedCount > refused.length) await output.note(`… and ${refusedCount - refused.length} more.`);
  const imported = stored + replaced + refreshed + audit;
  if (retired > 0) {
    const left = `Left out ${retired} that other facts superseded here since.`;
    await output.note(`${left} Undo those, or store what holds again.`);
  }
  if (imported + kept + retired + refusedCount === 0) await output.note("There was no line to import.");
  const stays = kept === 0 ? "" : `Kept as they were: ${kept}. `;
  await output.line(
    `Imported ${imported} for ${harmlessLine(options.caller)}: ${stored} new, ${replaced} replaced, ${refreshed} refreshed, ${audit} audit rows. ${stays}Refused: ${refusedCount}.`,
  );
}

function refusal({ line, code, reason }: RefusedLine): string {
  return `line ${line}: ${code}: ${harmlessLine(reason)}`;
}

function importReply({ refusedCount, refused, ...counts }: ImportResult) {
  return { ...counts, refused_count: refusedCount, refused };
}
