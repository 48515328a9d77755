/** How `helmdeck-memory install` is called: with the installer's own flags, which are not named twice. */
import type { Command } from "commander";
import { type Runs, withExamples } from "../../commands/index.ts";

export function declareInstall(program: Command, runs: Runs): void {
  const install = program
    .command("install")
    .summary("Put memory into OpenClaw; take it out again.")
    .description(
      "Put the plugin into OpenClaw, with an embedding service where that is wanted, and check that it works; or take all of it back. It is install.sh, and takes its flags: helmdeck-memory install --help lists them. Exit codes are the installer's, too.",
    )
    .argument("[flags...]", "Those of install.sh.")
    .allowUnknownOption()
    .action((flags: readonly string[], _options: unknown, command: Command) =>
      runs(command, async ({ options }) =>
        (await import("../commands/install.ts")).runInstaller([
          ...flags,
          ...(options.json ? ["--json"] : []),
        ]),
      ),
    );
  withExamples(install, [
    "helmdeck-memory install --dry-run",
    "helmdeck-memory install --no-embeddings",
    "helmdeck-memory install --uninstall",
  ]);
}
