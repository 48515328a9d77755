/** `doctor`: everything memory needs, looked at; also when memory does not open. */
import {
  compactMemory,
  type DoctorReport,
  doctorReply,
  doctorText,
  examineMemory,
  type InspectOptions,
} from "../../app/index.ts";
import { type CommandContext, memoryOptions } from "../command-context.ts";
import { EXIT_DONE, EXIT_FAILED } from "../exit-codes.ts";
import { withCount } from "../progress-bar.ts";
import { present, voiceOf } from "../voice.ts";

export async function doctorCommand(
  context: CommandContext,
  { compact = false }: { readonly compact?: boolean } = {},
): Promise<number> {
  const { output, options } = context;
  if (compact) {
    const isDone = await compactMemory(memoryOptions(context));
    await output.note(isDone ? "The database was written anew." : "There was nothing to compact.");
  }
  const report = await examined(context);
  if (options.json) await output.json(doctorReply(report));
  else await present(context, doctorText(report, voiceOf(context)));
  return report.findings.some(({ level }) => level === "error") ? EXIT_FAILED : EXIT_DONE;
}

function examined(context: CommandContext): Promise<DoctorReport> {
  return withCount(context.shell, ({ update }) => {
    const onProgress: InspectOptions["onProgress"] = ({ done, total }) => update(done, total);
    return examineMemory(memoryOptions(context), { onProgress, mayBlock: true });
  });
}
