/** Opens the command line's memory for one command, and always closes it. */

import { HelmdeckError, isHelmdeckError } from "../app/basics.ts";
import type { OpenMemory, OpenMemoryOptions } from "../app/index.ts";
import type { CommandContext } from "./command-line.ts";

/** For commands that report a failure to find the location or key as part of their answer. */
export async function placeOf(context: CommandContext): Promise<OpenMemoryOptions | HelmdeckError> {
  try {
    return await context.line.memoryOptions(context);
  } catch (error) {
    if (isHelmdeckError(error)) return error;
    throw error;
  }
}

/** For commands that read; works even if nothing can be written. */
export async function withMemory<Answer>(
  context: CommandContext,
  use: (memory: OpenMemory) => Promise<Answer>,
): Promise<Answer> {
  return withOpen(context, { access: "read" }, use);
}

async function withOpen<Answer>(
  context: CommandContext,
  how: Pick<OpenMemoryOptions, "access">,
  use: (memory: OpenMemory) => Promise<Answer>,
): Promise<Answer> {
  const memory = (await context.line.elsewhere?.()) ?? (await openHere(context, how));
  try {
    const answer = await use(memory);
    await noteNewKey(context, memory);
    return answer;
  } finally {
    await memory.close();
  }
}

/** For a person: a script has nobody who could keep a copy. */
async function noteNewKey({ shell, output }: CommandContext, { newKey }: OpenMemory): Promise<void> {
  if (newKey === undefined || shell.stderr.isTTY !== true) return;
  await output.note(
    `Created the encryption key ${newKey}. Keep a copy in a safe place: without it nothing can be read. Then run: helmdeck-memory key saved`,
  );
}

async function openHere(context: CommandContext, how: Pick<OpenMemoryOptions, "access">) {
  const options = await context.line.memoryOptions(context);
  const { openMemory } = await import("./opening.ts"); // not loaded by code that only declares commands
  return openMemory({ ...options, ...how });
}

/** For work that needs the database itself. Throws `memory_unavailable` if another process keeps it. `command`: to run there. */
export async function refuseElsewhere({ line }: CommandContext, command = ""): Promise<void> {
  const memory = await line.elsewhere?.();
  if (memory === undefined) return;
  const refusal = refusalOf(memory);
  await memory.close();
  if (isHelmdeckError(refusal, "method_not_allowed")) throw refusal; // a helmdeck server does not run our commands
  throw new HelmdeckError(
    "memory_unavailable",
    `A server keeps this memory. Run ${command === "" ? "this command" : `helmdeck-memory ${command}`} on the engine's machine.`,
  );
}

/** The refusal of a memory without a local store. */
function refusalOf(memory: OpenMemory): unknown {
  try {
    return void memory.store;
  } catch (error) {
    return error;
  }
}

/**
 * Like {@link withMemory}, for commands that write. Also deletes expired entries, so that they leave the disk even if no
 * gateway runs a sweeper. `afterwards` starts when that is done.
 */
export async function withMemoryToWrite<Answer>(
  context: CommandContext,
  use: (memory: OpenMemory) => Promise<Answer>,
  afterwards: (memory: OpenMemory, answer: Answer) => Promise<void> = async () => {},
): Promise<Answer> {
  return withOpen(context, {}, async (memory) => {
    const answer = await use(memory);
    await memory.sweep().catch(() => {}); // The command itself succeeded; the next writer sweeps.
    await afterwards(memory, answer);
    return answer;
  });
}
