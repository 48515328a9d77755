/** Declares `hook`. */
import type { Command } from "commander";
import type { Runs } from "../../commands/command-line.ts";
import { EXIT_DONE } from "../../commands/exit-codes.ts";
import { withExamples } from "../../commands/option-parsers.ts";

export function declareHook(program: Command, runs: Runs): void {
  const hook = program
    .command("hook")
    .summary("Give a coding agent the facts that matter, at one of its events.")
    .description(
      "What the package of a coding agent runs at an event (see install): reads the client's JSON from standard input, and prints one line of its JSON with facts, or nothing. Only reads. The exit code is always 0, and after half a second it ends without an answer.",
    )
    .argument("<client>", "claude.")
    .argument("<event>", "session-start or prompt; headers prints what the tools of a served engine send.")
    .option("--client-settings <file>", "What install recorded: whose memory, and what may be shown.")
    .action(
      (client: string, event: string, { clientSettings }: { clientSettings?: string }, command: Command) =>
        runs(command, async ({ shell }) => {
          const { runHook } = await import("../clients/hook.ts");
          await runHook({ client, event, settingsFile: clientSettings }, shell);
          return EXIT_DONE;
        }),
    );
  withExamples(hook, [
    "helmdeck-memory hook claude session-start --client-settings settings.json < event.json",
  ]);
}
