/** Declares `helmdeck-memory install`, which takes the installer's own flags. */
import type { Command } from "commander";
import type { Runs } from "../../commands/command-line.ts";
import { withExamples } from "../../commands/declarations/option-parsers.ts";
import { refusePlace } from "../shared-options.ts";

export function declareInstall(program: Command, runs: Runs): void {
  const install = program
    .command("install")
    .summary("Install memory in OpenClaw, or uninstall it.")
    .description(
      "Install the plugin in OpenClaw, with an embedding service if you want one, and check that it works; or uninstall it. This runs install.sh and takes its options: helmdeck-memory install --help lists them. Exit codes are the installer's.",
    )
    .argument("[flags...]", "Options of install.sh.")
    .allowUnknownOption()
    .action((flags: readonly string[], _options: unknown, command: Command) => {
      refusePlace(command);
      return runs(command, async ({ options }) =>
        (await import("../commands/install.ts")).runInstaller([
          ...flags,
          ...(options.json ? ["--json"] : []),
        ]),
      );
    });
  withExamples(install, [
    "helmdeck-memory install --dry-run",
    "helmdeck-memory install --no-embeddings",
    "helmdeck-memory install --uninstall",
  ]);
}
