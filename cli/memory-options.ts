/** Where the command `helmdeck-memory` finds memory: as its options and the environment say. */
import { betterSqliteDriver, defined, findStorage, type OpenMemoryOptions } from "../app/index.ts";
import type { CommandContext, Shell } from "../commands/index.ts";
import type { OpenServerContextOptions } from "../packs/index.ts";

type Asking = Pick<CommandContext, "shell" | "options">;

export function memoryOptions({ shell, options }: Asking): OpenMemoryOptions {
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
export function serverContextOptions(context: Asking): OpenServerContextOptions {
  const { sweepEveryMs: _, embedsEntries: __, ...memory } = memoryOptions(context);
  return { ...memory, withoutKey: "make" };
}
