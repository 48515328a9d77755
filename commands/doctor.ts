/** Declares `doctor`. */
import type { Command } from "commander";
import type { DoctorReport } from "../app/memory.ts";
import { doctorText } from "../app/presenters/doctor-text.ts";
import { toWire } from "../app/wire/codec.ts";
import { isHelmdeckError } from "../engine/errors.ts";
import type { InspectOptions } from "../engine/store/memory-store.ts";
import { type CommandContext, present, type Runs, voiceOf } from "./command-line.ts";
import { EXIT_DONE, EXIT_FAILED } from "./exit-codes.ts";
import { withExamples } from "./option-parsers.ts";
import { withCount } from "./progress-bar.ts";
import { PATIENT, placeOf, refuseRemote } from "./with-memory.ts";

export function declareDoctor(program: Command, runs: Runs): void {
  const doctor = program
    .command("doctor")
    .summary("Find problems and their remedies.")
    .description(
      "Check everything that memory needs, and name problems and remedies. The exit code is 1 if there is an error.",
    )
    .option(
      "--compact",
      "First rewrite a database from an older version, so that forgotten facts return their space. Nobody can write meanwhile; twice its size must be free.",
    )
    .action((options: { readonly compact?: boolean }, command: Command) =>
      runs(command, async (context) => doctorCommand(context, options)),
    );
  withExamples(doctor, ["helmdeck-memory doctor", "helmdeck-memory doctor --json"]);
}

/** `doctor`: checks everything that memory needs, even if memory does not open. */
async function doctorCommand(
  context: CommandContext,
  { compact = false }: { readonly compact?: boolean } = {},
): Promise<number> {
  const { output, options } = context;
  if (compact) {
    await refuseRemote(context);
    const { compactMemory } = await import("../app/health/repair-memory.ts");
    const isDone = await compactMemory(await context.line.memoryOptions(context));
    await output.note(isDone ? "The database was rewritten." : "There was nothing to compact.");
  }
  const [memory, host] = await Promise.all([memoryReport(context), context.line.host?.findings()]);
  const report = { ...memory, findings: [...memory.findings, ...(host ?? [])] };
  if (options.json) await output.json(toWire(report));
  else await present(context, doctorText(report, voiceOf(context)));
  return report.findings.some(({ level }) => level === "error") ? EXIT_FAILED : EXIT_DONE;
}

async function memoryReport(context: CommandContext): Promise<DoctorReport> {
  const remote = await context.line.remote?.();
  if (remote !== undefined) return remote.doctor().finally(() => remote.close());
  const place = await placeOf(context);
  if (isHelmdeckError(place)) return { findings: [{ level: "error", check: "key", message: place.message }] };
  const { examineMemory } = await import("../app/open-memory.ts");
  return withCount(context.shell, ({ update }) => {
    const onProgress: InspectOptions["onProgress"] = ({ done, total }) => update(done, total);
    return examineMemory({ ...place, ...PATIENT }, { onProgress, mayBlock: true });
  });
}
