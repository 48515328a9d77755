/** Declares `mcp`. */
import type { Command } from "commander";
import type { Runs } from "../../commands/command-line.ts";
import { nonEmpty, withExamples } from "../../commands/option-parsers.ts";
import { defined } from "../../engine/defined.ts";

export function declareMcp(program: Command, runs: Runs): void {
  const mcp = program
    .command("mcp")
    .summary("Serve one caller's memory over MCP on standard input and output.")
    .description(
      "Serve one caller's memory over MCP on standard input and output, for a client that starts this command itself. It ends when its input ends.",
    )
    .option("--packs", "Also list packs and pipelines.")
    .option(
      "--packs-from <folder>",
      "Like --packs, plus your own packs: ES modules in this folder.",
      nonEmpty,
    )
    .option("--pipelines <folder>", "Like --packs, plus your own pipelines in this folder.", nonEmpty)
    .option("--client-settings <file>", "The file of install claude that says whose memory.", nonEmpty)
    .action((_options: unknown, command: Command) => {
      const { packs, packsFrom, pipelines, clientSettings } = command.opts<McpOptions>();
      return runs(command, async (context) => {
        const { mcpCommand } = await import("../commands/mcp.ts");
        return mcpCommand(context, {
          withPacks: packs === true || packsFrom !== undefined || pipelines !== undefined,
          folders: defined({ packsFolder: packsFrom, pipelinesFolder: pipelines }),
          ...defined({ clientSettings }),
        });
      });
    });
  withExamples(mcp, [
    "claude mcp add helmdeck -- helmdeck-memory mcp --caller main",
    "helmdeck-memory mcp --caller work --db ./work.sqlite",
    "helmdeck-memory mcp --packs-from ~/.config/helmdeck/packs",
  ]);
}

interface McpOptions {
  readonly packs?: boolean;
  readonly packsFrom?: string;
  readonly pipelines?: string;
  readonly clientSettings?: string;
}
