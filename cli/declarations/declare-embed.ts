/** Declares `embed`. */
import type { Command } from "commander";
import type { Runs } from "../../commands/command-line.ts";
import { withExamples } from "../../commands/option-parsers.ts";

export function declareEmbed(program: Command, runs: Runs): void {
  const embed = program
    .command("embed")
    .summary("Embed facts that have no vectors yet, for semantic search.")
    .description(
      "Send facts without vectors to the embedding service and keep the vectors. The service is that of the OpenClaw plugin, unless HELMDECK_EMBEDDINGS_URL names another. If interrupted, run it again to continue. You need it after a large import, if no gateway or server runs to do it in the background.",
    )
    .action((_options: unknown, command: Command) =>
      runs(command, async (context) => (await import("../commands/embed.ts")).embedCommand(context)),
    );
  withExamples(embed, [
    "HELMDECK_EMBEDDINGS_URL=http://127.0.0.1:11434 helmdeck-memory embed",
    "helmdeck-memory embed --caller work --json",
  ]);
}
