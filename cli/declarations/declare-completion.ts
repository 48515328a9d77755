/** Declares `completion`, and `complete`, which the shells call. */
import { Argument, type Command } from "commander";
import type { Runs } from "../../commands/command-line.ts";
import { withExamples } from "../../commands/declarations/option-parsers.ts";
import { type CompletingShell, SHELLS } from "../completion/scripts.ts";
import { refusePlace } from "../shared-options.ts";

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
      return runs(command, async ({ output }) =>
        (await import("../commands/completion.ts")).completionCommand(output, shell),
      );
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
      runs(command, async (context) =>
        (await import("../commands/completion.ts")).completeCommand(context, program, words),
      ),
    );
}
