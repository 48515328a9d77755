/** `doctor`: everything memory needs, looked at; also when memory does not open. */
import { type DoctorReport, examineMemory, type Finding, harmlessLine } from "../../app/index.ts";
import { type CommandContext, memoryOptions } from "../command-context.ts";
import { EXIT_DONE, EXIT_FAILED } from "../exit-codes.ts";
import type { Output } from "../output.ts";

export async function doctorCommand(context: CommandContext): Promise<number> {
  const { output, options } = context;
  const report = await examineMemory(memoryOptions(context));
  if (options.json) await output.json(report);
  else await print(output, report);
  return report.findings.some(({ level }) => level === "error") ? EXIT_FAILED : EXIT_DONE;
}

async function print(output: Output, { findings, store }: DoctorReport): Promise<void> {
  for (const finding of findings) {
    await output.line(
      `${label(output, finding.level)}  ${harmlessLine(finding.check)}: ${harmlessLine(finding.message)}`,
    );
    if (finding.remedy !== undefined) await output.line(`         → ${harmlessLine(finding.remedy)}`);
  }
  if (store === undefined) return;
  const settings = Object.entries(store.settings).map(([name, value]) => `${name} ${value}`);
  await output.line(
    `store    ${store.backend}, schema ${store.schemaVersion}, ${store.entries} entries, ${store.expired} expired, ${store.unreadable} unreadable; ${settings.join(", ")}`,
  );
}

function label(output: Output, level: Finding["level"]): string {
  const colour = { ok: "green", warning: "yellow", error: "red" } as const;
  return output.styled(colour[level], level.padEnd(7));
}
