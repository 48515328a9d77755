/** Declares `status`. */
import type { Command } from "commander";
import type { MemoryStatus } from "../app/memory.ts";
import type { OpenMemoryOptions } from "../app/open-memory-options.ts";
import { statusText } from "../app/presenters/status-text.ts";
import { statusReply } from "../app/wire/replies.ts";
import { defined } from "../engine/defined.ts";
import { isHelmdeckError } from "../engine/errors.ts";
import { harmlessLine } from "../engine/facts/hostile-text.ts";
import { type CommandContext, type Runs, voiceOf } from "./command-line.ts";
import { EXIT_DONE, EXIT_FAILED } from "./exit-codes.ts";
import { withExamples } from "./option-parsers.ts";
import { otherCallersNotice, PATIENT, placeOf, sayingThatItWaits } from "./with-memory.ts";

export function declareStatus(program: Command, runs: Runs): void {
  const status = program
    .command("status")
    .summary("Show where memory is and how much it holds.")
    .description(
      "Show where memory is, whether it works and how much it holds. The exit code is 1 if it does not work; doctor checks more.",
    )
    .action((_options: unknown, command: Command) =>
      runs(command, async (context) => statusCommand(context)),
    );
  withExamples(status, ["helmdeck-memory status", "helmdeck-memory status --json"]);
}

/** `status`: shows where memory is, whether it works and how much it holds, even if it does not open. */
async function statusCommand(context: CommandContext): Promise<number> {
  const { output, options, line } = context;
  const remote = await line.remote?.(); // absent if this process opens the memory
  const place = await (remote ?? placeOf(context));
  if (isHelmdeckError(place)) {
    const { code, message } = place; // the configured key cannot be read
    if (options.json) await output.json({ state: "failed", error: { code, message } });
    else await output.line(`helmdeck memory: failed (${code})\n  ${harmlessLine(message)}`);
    return EXIT_FAILED;
  }
  const status = await ("status" in place
    ? place.status(options.caller).finally(() => place.close())
    : statusNow(context, place));
  const warnings = line.host?.warnings() ?? [];
  if (options.json) await output.json(statusReply(status, warnings));
  else await output.line(statusText(status, voiceOf(context), warnings));
  return status.state === "failed" ? EXIT_FAILED : EXIT_DONE;
}

async function statusNow(context: CommandContext, place: OpenMemoryOptions): Promise<MemoryStatus> {
  const { openMemory, unopenedStatus } = await import("../app/open-memory.ts");
  try {
    const memory = await openMemory({ ...place, ...PATIENT, access: "read" });
    const status = await sayingThatItWaits(context, memory.status(context.options.caller));
    const notice = status.notice ?? (await otherCallersNotice(context.options.caller, memory, place));
    await memory.close();
    return { ...status, ...defined({ notice }) };
  } catch (error) {
    if (isHelmdeckError(error)) return unopenedStatus(place, error);
    throw error;
  }
}
