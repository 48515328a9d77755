/** `completion`: prints the script for a shell. `complete`: called by the script at each Tab; it never reports errors. */

import { access } from "node:fs/promises";
import type { Command } from "commander";
import { openMemory } from "../../app/open-memory.ts";
import type { CommandContext } from "../../commands/command-line.ts";
import { EXIT_DONE } from "../../commands/exit-codes.ts";
import type { Output } from "../../commands/output.ts";
import { defined } from "../../engine/defined.ts";
import { candidatesFor } from "../completion/candidates.ts";
import { COMPLETION_SCRIPTS, type CompletingShell } from "../completion/scripts.ts";
import { memoryOptions } from "../memory-options.ts";

const MOST_KEYS = 100;

export async function completionCommand(output: Output, shell: CompletingShell): Promise<number> {
  await output.text(COMPLETION_SCRIPTS[shell]);
  return EXIT_DONE;
}

export async function completeCommand(
  context: CommandContext,
  root: Command,
  words: readonly string[],
): Promise<number> {
  const keysWith = (
    prefix: string,
    { caller = context.options.caller, db, store }: Readonly<Record<string, string>>,
  ) => keysOf({ ...context, options: { caller, ...defined({ db, store }) } }, prefix);
  const candidates = await candidatesFor(root, words, keysWith).catch(() => []);
  for (const { text, about } of candidates) {
    await context.output.line(about === undefined ? text : `${text}\t${about}`);
  }
  return EXIT_DONE;
}

/** Only from an existing memory: pressing Tab must not create one. */
async function keysOf(context: CommandContext, prefix: string): Promise<readonly string[]> {
  const place = await memoryOptions(context);
  if (place.server === undefined) await access(place.databasePath);
  const memory = await openMemory({ ...place, access: "read" });
  try {
    const { facts } = await memory.listFacts(context.options.caller, { prefix, limit: MOST_KEYS });
    return facts.map(({ key }) => key);
  } finally {
    await memory.close();
  }
}
