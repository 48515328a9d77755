/** How `helmdeck-memory mcp` is called. */
import type { Command } from "commander";
import { nonEmpty, type Runs, withExamples } from "../../commands/index.ts";

export function declareMcp(program: Command, runs: Runs): void {
  const mcp = program
    .command("mcp")
    .summary("Serve one caller over MCP on standard input and output.")
    .description(
      "Serve packs, pipelines and memory over MCP on standard input and output, for a client that starts this command itself. It ends when its input ends; everything that is not the protocol goes to standard error.",
    )
    .option("--pipelines <folder>", "Your own pipelines, beside those that ship.", nonEmpty)
    .action((_options: unknown, command: Command) => {
      const { pipelines } = command.opts<{ readonly pipelines?: string }>();
      return runs(command, async (context) => {
        const { mcpCommand } = await import("../commands/mcp.ts");
        return mcpCommand(context, pipelines === undefined ? {} : { pipelinesFolder: pipelines });
      });
    });
  withExamples(mcp, [
    "claude mcp add helmdeck -- helmdeck-memory mcp --caller main",
    "helmdeck-memory mcp --caller work --db ./work.sqlite",
  ]);
}
