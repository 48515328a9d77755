/** Memory for as long as a command works: opened where its command line says, closed whatever happens. */

import { HelmdeckError, isHelmdeckError } from "../app/basics.ts";
import type { OpenMemory, OpenMemoryOptions } from "../app/index.ts";
import type { CommandContext } from "./command-line.ts";

/** For commands that have something to say also where the place or its key cannot be told: that failure is their answer. */
export async function placeOf(context: CommandContext): Promise<OpenMemoryOptions | HelmdeckError> {
  try {
    return await context.line.memoryOptions(context);
  } catch (error) {
    if (isHelmdeckError(error)) return error;
    throw error;
  }
}

/** For commands that read: also where nothing can be written. */
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
    return await use(memory);
  } finally {
    await memory.close();
  }
}

async function openHere(context: CommandContext, how: Pick<OpenMemoryOptions, "access">) {
  const options = await context.line.memoryOptions(context);
  const { openMemory } = await import("./opening.ts"); // what only declares commands does not load it
  return openMemory({ ...options, ...how });
}

/** What only the process that opens a database can do. Throws `memory_unavailable` where another one does. `command`: what to run there. */
export async function refuseElsewhere({ line }: CommandContext, command = ""): Promise<void> {
  const memory = await line.elsewhere?.();
  if (memory === undefined) return;
  const refusal = refusalOf(memory);
  await memory.close();
  if (isHelmdeckError(refusal, "method_not_allowed")) throw refusal; // of a helmdeck, where no command of ours runs
  throw new HelmdeckError(
    "memory_unavailable",
    `A served engine keeps this memory, so this must be done there: run helmdeck-memory ${command === "" ? "" : `${command} `}on the engine's machine.`,
  );
}

/** What a memory says whose store is not here. */
function refusalOf(memory: OpenMemory): unknown {
  try {
    return void memory.store;
  } catch (error) {
    return error;
  }
}

/**
 * As {@link withMemory}, for commands that write: what has expired is deleted on the way, so that it goes from the disk also
 * where no gateway runs a sweeper. `afterwards` begins when that is done.
 */
export async function withMemoryToWrite<Answer>(
  context: CommandContext,
  use: (memory: OpenMemory) => Promise<Answer>,
  afterwards: (memory: OpenMemory, answer: Answer) => Promise<void> = async () => {},
): Promise<Answer> {
  return withOpen(context, {}, async (memory) => {
    const answer = await use(memory);
    await memory.sweep().catch(() => {}); // What was asked for is done; the next writer sweeps.
    await afterwards(memory, answer);
    return answer;
  });
}
