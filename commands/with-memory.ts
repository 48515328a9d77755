/** Memory for as long as a command works: opened where its command line says, closed whatever happens. */

import { type HelmdeckError, isHelmdeckError } from "../app/basics.ts";
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
  return withOpen({ ...(await context.line.memoryOptions(context)), access: "read" }, use);
}

async function withOpen<Answer>(
  options: OpenMemoryOptions,
  use: (memory: OpenMemory) => Promise<Answer>,
): Promise<Answer> {
  const { openMemory } = await import("./opening.ts"); // what only declares commands does not load it
  const memory = await openMemory(options);
  try {
    return await use(memory);
  } finally {
    await memory.close();
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
  return withOpen(await context.line.memoryOptions(context), async (memory) => {
    const answer = await use(memory);
    await memory.sweep().catch(() => {}); // What was asked for is done; the next writer sweeps.
    await afterwards(memory, answer);
    return answer;
  });
}
