/** Declares `forget`. */
import type { Command } from "commander";
import type { Runs } from "./command-line.ts";
import { withExamples } from "./option-parsers.ts";

export function declareForget(program: Command, runs: Runs): void {
  const forget = program
    .command("forget")
    .alias("rm")
    .summary("Delete facts and records.")
    .description(
      "Delete facts and records for good. On a terminal it shows a preview and asks first; elsewhere it needs --yes.",
    )
    .argument(
      "<scope>",
      "A fact's exact key (key:<exact key> if that is ambiguous), a hit's path, docid or citation, category:<name>, import:<id> (facts from an import), packs, pipelines, tools, pack:<id>, pipeline:<id>, tool:<name>, all (facts and records of runs), or everything (also caches, notes and sessions).",
    )
    .option("--dry-run", "Only show what would be deleted.")
    .option("--yes", "Do not ask.")
    .option("--everyone", "For an import: in the memory of every caller.")
    .option(
      "--traces",
      "Then show where else it stands, as traces does, with a receipt. On a terminal, one line says so without it.",
    )
    .action((scope: string, _options: unknown, command: Command) => {
      const { dryRun = false, yes = false, everyone = false, traces = false } = command.opts<ForgetOptions>();
      return runs(
        command,
        async (context) => {
          const { forgetCommand, forgetEveryone, problemOf } = await import("./forget-scope.ts");
          if (everyone && !scope.startsWith("import:")) command.error("--everyone is only for import:<id>.");
          const order = { scope, dryRun, yes, everyone, traces };
          const problem = problemOf(context, order);
          if (problem !== undefined) return command.error(problem);
          return (everyone ? forgetEveryone : forgetCommand)(context, order);
        },
        dryRun ? undefined : "memory_forgotten",
      );
    });
  withExamples(forget, [
    "helmdeck-memory forget deploy/konflux",
    "helmdeck-memory forget category:team --dry-run",
    "helmdeck-memory forget helmdeck/user_facts/deploy/konflux.md --yes",
    "helmdeck-memory forget import:helmdeck-2026-03-02-1c9a --everyone",
  ]);
}

interface ForgetOptions {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly everyone?: boolean;
  readonly traces?: boolean;
}
