/** `doctor`: checks everything that memory needs, even if memory does not open. */
import { compactMemory } from "../../app/health/compact-memory.ts";
import type { DoctorReport } from "../../app/memory.ts";
import { examineMemory } from "../../app/open-memory.ts";
import { doctorText } from "../../app/presenters/doctor-text.ts";
import { doctorReply } from "../../app/wire/replies.ts";
import { isHelmdeckError } from "../../engine/errors.ts";
import type { InspectOptions } from "../../engine/store/memory-store.ts";
import type { CommandContext } from "../command-line.ts";
import { EXIT_DONE, EXIT_FAILED } from "../exit-codes.ts";
import { withCount } from "../progress-bar.ts";
import { present, voiceOf } from "../voice.ts";
import { placeOf, refuseRemote } from "../with-memory.ts";

export async function doctorCommand(
  context: CommandContext,
  { compact = false }: { readonly compact?: boolean } = {},
): Promise<number> {
  const { output, options } = context;
  if (compact) {
    await refuseRemote(context);
    const isDone = await compactMemory(await context.line.memoryOptions(context));
    await output.note(isDone ? "The database was rewritten." : "There was nothing to compact.");
  }
  const report = await examined(context);
  if (options.json) await output.json(doctorReply(report));
  else await present(context, doctorText(report, voiceOf(context)));
  return report.findings.some(({ level }) => level === "error") ? EXIT_FAILED : EXIT_DONE;
}

async function examined(context: CommandContext): Promise<DoctorReport> {
  const [memory, host] = await Promise.all([memoryReport(context), context.line.host?.findings()]);
  return { ...memory, findings: [...memory.findings, ...(host ?? [])] };
}

async function memoryReport(context: CommandContext): Promise<DoctorReport> {
  const remote = await context.line.remote?.();
  if (remote !== undefined) return remote.doctor().finally(() => remote.close());
  const place = await placeOf(context);
  if (isHelmdeckError(place)) return { findings: [{ level: "error", check: "key", message: place.message }] };
  return withCount(context.shell, ({ update }) => {
    const onProgress: InspectOptions["onProgress"] = ({ done, total }) => update(done, total);
    return examineMemory(place, { onProgress, mayBlock: true });
  });
}
