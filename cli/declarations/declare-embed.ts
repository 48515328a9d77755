/** How `helmdeck-memory embed` is called. */
import type { Command } from "commander";
import { type Runs, withExamples } from "../../commands/index.ts";

export function declareEmbed(program: Command, runs: Runs): void {
  const embed = program
    .command("embed")
    .summary("Embed what has no vectors yet, for search by meaning.")
    .description(
      "Send what has no vectors yet to the embedding service (HELMDECK_EMBEDDINGS_URL), and keep the vectors. What is done is kept when it is interrupted; run it again to go on. Needed after a large import, where neither a gateway nor a server runs to do it in the background.",
    )
    .action((_options: unknown, command: Command) =>
      runs(command, async (context) => (await import("../commands/embed.ts")).embedCommand(context)),
    );
  withExamples(embed, [
    "HELMDECK_EMBEDDINGS_URL=http://127.0.0.1:11434 helmdeck-memory embed",
    "helmdeck-memory embed --caller work --json",
  ]);
}
