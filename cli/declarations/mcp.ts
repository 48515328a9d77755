/** How `helmdeck-memory mcp` is called. */
import type { Command } from "commander";
import { type Runs, withExamples } from "./shared.ts";

export function declareMcp(program: Command, runs: Runs): void {
  const mcp = program
    .command("mcp")
    .summary("Serve one caller over MCP on standard input and output.")
    .description(
      "Serve packs, pipelines and memory over MCP on standard input and output, for a client that starts this command itself. It ends when its input ends; everything that is not the protocol goes to standard error.",
    )
    .action((_options: unknown, command: Command) =>
      runs(command, async (context) => (await import("../commands/mcp.ts")).mcpCommand(context)),
    );
  withExamples(mcp, [
    "claude mcp add helmdeck -- helmdeck-memory mcp --caller main",
    "helmdeck-memory mcp --caller work --db ./work.sqlite",
  ]);
}
