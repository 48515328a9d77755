/** `completion`: prints the script for a shell. `complete`: called by the script at each Tab; it never reports errors. */

import { access } from "node:fs/promises";
import { Argument, type Command } from "commander";
import type { CommandContext, Runs } from "../../commands/command-line.ts";
import { EXIT_DONE } from "../../commands/exit-codes.ts";
import { withExamples } from "../../commands/option-parsers.ts";
import type { Output } from "../../commands/output.ts";
import { defined } from "../../engine/defined.ts";
import { candidatesFor } from "../completion/candidates.ts";
import { COMPLETION_SCRIPTS, type CompletingShell, SHELLS } from "../completion/scripts.ts";
import { memoryOptions } from "../memory-options.ts";
import { refusePlace } from "../shared-options.ts";

/** Declares `completion`, and `complete`, which the shells call. */
export function declareCompletion(program: Command, runs: Runs): void {
  const completion = program
    .command("completion")
    .summary("Print a shell completion script.")
    .description(
      "Print a completion script for commands, options and keys of facts. Add the line for your shell to its start-up file: ~/.bashrc, ~/.zshrc (after compinit), ~/.config/fish/config.fish.",
    )
    .addArgument(new Argument("<shell>", "Which shell.").choices(SHELLS))
    .action((shell: CompletingShell, _options: unknown, command: Command) => {
      refusePlace(command);
      return runs(command, async ({ output }) => completionCommand(output, shell));
    });
  withExamples(completion, [
    'eval "$(helmdeck-memory completion bash)"',
    'eval "$(helmdeck-memory completion zsh)"',
    "helmdeck-memory completion fish | source",
  ]);
  program
    .command("complete", { hidden: true })
    .argument("[words...]")
    .action((words: string[], _options: unknown, command: Command) =>
      runs(command, async (context) => completeCommand(context, program, words)),
    );
}

const MOST_KEYS = 100;

async function completionCommand(output: Output, shell: CompletingShell): Promise<number> {
  await output.text(COMPLETION_SCRIPTS[shell]);
  return EXIT_DONE;
}

async function completeCommand(
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
  const { openMemory } = await import("../../app/open-memory.ts");
  const memory = await openMemory({ ...place, access: "read" });
  try {
    const { facts } = await memory.listFacts(context.options.caller, { prefix, limit: MOST_KEYS });
    return facts.map(({ key }) => key);
  } finally {
    await memory.close();
  }
}
