/** Declares `serve`. */
import type { Command } from "commander";
import type { Runs } from "../../commands/command-line.ts";
import { nonEmpty, withExamples } from "../../commands/option-parsers.ts";
import { CONFIG_VARIABLE, declareSettings } from "../serve-settings.ts";

export function declareServe(program: Command, runs: Runs): void {
  const serve = program
    .command("serve")
    .summary("Serve memory, packs and pipelines over REST and MCP, and pages to browse memory.")
    .description(
      'Serve memory, packs and pipelines over REST and, at /api/v1/mcp, over MCP, and at / the "Agent memory" pages for a browser, until SIGTERM or Ctrl-C. With HELMDECK_JWT_SECRET (or HELMDECK_JWT_SECRET_FILE) every caller needs a token. Without it, every caller is "unknown" and only this machine can connect.',
    );
  declareSettings(serve);
  serve
    .option(
      "--config <file>",
      `A file with settings: a line such as port: 3848 for each (${CONFIG_VARIABLE}). Options and variables override it.`,
      nonEmpty,
    )
    .option("--check-config", "Say what is set, where, and what is wrong, and start nothing.")
    .action((_options: unknown, command: Command) =>
      runs(command, async (context) => {
        if (command.opts().checkConfig !== true) {
          const { serveCommand } = await import("../commands/serve.ts");
          return serveCommand(context, command);
        }
        const { checkConfigCommand } = await import("../commands/check-config.ts");
        return checkConfigCommand(context, command);
      }),
    );
  withExamples(serve, [
    "helmdeck-memory serve",
    "HELMDECK_JWT_SECRET_FILE=~/.helmdeck-jwt helmdeck-memory serve --host 0.0.0.0 --allow-host deck",
    "helmdeck-memory serve --config /etc/helmdeck/serve.yml --check-config",
  ]);
}
