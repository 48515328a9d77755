/** `status`: shows where memory is, whether it works and how much it holds, even if it does not open. */

import type { MemoryStatus } from "../../app/memory.ts";
import { openMemory, unopenedStatus } from "../../app/open-memory.ts";
import type { OpenMemoryOptions } from "../../app/open-memory-options.ts";
import { statusText } from "../../app/presenters/status-text.ts";
import { statusReply } from "../../app/wire/replies.ts";
import { type HelmdeckError, isHelmdeckError } from "../../engine/errors.ts";
import { harmlessLine } from "../../engine/facts/hostile-text.ts";
import type { CommandContext } from "../command-line.ts";
import { EXIT_DONE, EXIT_FAILED } from "../exit-codes.ts";
import { voiceOf } from "../voice.ts";
import { placeOf } from "../with-memory.ts";

export async function statusCommand(context: CommandContext): Promise<number> {
  const { output, options, line } = context;
  const status = (await remoteStatus(context)) ?? (await statusHere(context));
  if (isHelmdeckError(status)) return unplaced(context, status);
  const warnings = line.host?.warnings() ?? [];
  if (options.json) await output.json(statusReply(status, warnings));
  else await output.line(statusText(status, voiceOf(context), warnings));
  return status.state === "failed" ? EXIT_FAILED : EXIT_DONE;
}

/** Undefined if this process opens the memory. */
async function remoteStatus({ line, options }: CommandContext): Promise<MemoryStatus | undefined> {
  const memory = await line.remote?.();
  return memory?.status(options.caller).finally(() => memory.close());
}

async function statusHere(context: CommandContext): Promise<MemoryStatus | HelmdeckError> {
  const place = await placeOf(context);
  return isHelmdeckError(place) ? place : statusNow(context, place);
}

/** The status if the configured key cannot be read. */
async function unplaced(
  { output, options }: CommandContext,
  { code, message }: HelmdeckError,
): Promise<number> {
  if (options.json) await output.json({ state: "failed", error: { code, message } });
  else await output.line(`helmdeck memory: failed (${code})\n  ${harmlessLine(message)}`);
  return EXIT_FAILED;
}

async function statusNow(context: CommandContext, place: OpenMemoryOptions): Promise<MemoryStatus> {
  try {
    const memory = await openMemory({ ...place, access: "read" });
    const status = await memory.status(context.options.caller);
    await memory.close();
    return status;
  } catch (error) {
    if (isHelmdeckError(error)) return unopenedStatus(place, error);
    throw error;
  }
}
