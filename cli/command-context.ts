/** What every command gets: the shell, the options that all commands share, and an open memory for as long as it works. */

import {
  betterSqliteDriver,
  defined,
  findStorage,
  type OpenMemory,
  type OpenMemoryOptions,
  openMemory,
} from "../app/index.ts";
import type { OpenServerContextOptions } from "../packs/index.ts";
import type { Output } from "./output.ts";
import type { Shell } from "./shell.ts";

/** The options that every command has. */
export interface SharedOptions {
  readonly json?: boolean;
  /** Whose memory: `--caller`. */
  readonly caller: string;
  /** Another database: `--db`. */
  readonly db?: string;
}

export interface CommandContext {
  readonly shell: Shell;
  readonly output: Output;
  readonly options: SharedOptions;
}

/**
 * Opens memory where the options and the environment say it is, and closes it whatever happens. For commands that read: also
 * where nothing can be written.
 */
export function withMemory<Answer>(
  context: CommandContext,
  use: (memory: OpenMemory) => Promise<Answer>,
): Promise<Answer> {
  return withOpen({ ...memoryOptions(context), access: "read" }, use);
}

async function withOpen<Answer>(
  options: OpenMemoryOptions,
  use: (memory: OpenMemory) => Promise<Answer>,
): Promise<Answer> {
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
export function withMemoryToWrite<Answer>(
  context: CommandContext,
  use: (memory: OpenMemory) => Promise<Answer>,
  afterwards: (memory: OpenMemory, answer: Answer) => Promise<void> = async () => {},
): Promise<Answer> {
  return withOpen(memoryOptions(context), async (memory) => {
    const answer = await use(memory);
    await memory.sweep().catch(() => {}); // What was asked for is done; the next writer sweeps.
    await afterwards(memory, answer);
    return answer;
  });
}

export function memoryOptions({ shell, options }: CommandContext): OpenMemoryOptions {
  const { env, homeDir, now } = shell;
  const place = findStorage({
    env,
    homeDir,
    ...defined({ databasePath: options.db }),
  });
  // A command is over before a timer would sweep, or a background embed what is new: it embeds when it asks for it.
  const driver = betterSqliteDriver;
  return { ...place, ...keyCommandOf(shell), env, driver, now, sweepEveryMs: 0, embedsEntries: false };
}

/** Loaded only when a command is to print the key. */
export function keyCommandOf(shell: Shell): Pick<OpenMemoryOptions, "runCommand"> {
  return { runCommand: async (argv) => (await import("./key-command.ts")).runKeyCommand(shell, argv) };
}

/** For commands that serve until they are stopped: they sweep, and finish what was begun. */
export function serverContextOptions(context: CommandContext): OpenServerContextOptions {
  const { sweepEveryMs: _, embedsEntries: __, ...memory } = memoryOptions(context);
  return { ...memory, withoutKey: "make" };
}
