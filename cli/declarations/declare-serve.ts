/** Declares `serve`. */

import { type Command, InvalidArgumentError, Option } from "commander";
import type { Runs } from "../../commands/command-line.ts";
import { collect, nonEmpty, withExamples } from "../../commands/option-parsers.ts";
import { defined } from "../../engine/defined.ts";

const DEFAULT_HOST = "127.0.0.1";
const DEFAULT_PORT = 3_848;
const DEFAULT_RATE = 6_000;
const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"];

export function declareServe(program: Command, runs: Runs): void {
  const serve = program
    .command("serve")
    .summary("Serve memory, packs and pipelines over REST and MCP, and pages to browse memory.")
    .description(
      'Serve memory, packs and pipelines over REST and, at /api/v1/mcp, over MCP, and at / the "Agent memory" pages for a browser, until SIGTERM or Ctrl-C. With HELMDECK_JWT_SECRET (or HELMDECK_JWT_SECRET_FILE) every caller needs a token. Without it, every caller is "unknown" and only this machine can connect.',
    )
    .option("--host <address>", "The address to listen on.", nonEmpty, DEFAULT_HOST)
    .option("--port <number>", "The port; 0 means any free one.", port, DEFAULT_PORT)
    .option("--allow-host <name>", "Another host name that clients use; repeatable.", collect)
    .option("--allow-origin <origin>", "A browser origin that may send requests; repeatable.", collect)
    .option(
      "--public-origin <origin>",
      "The pages' address behind a TLS proxy: https://deck.example.",
      origin,
    )
    .option("--no-pages", "Do not serve the pages at /.")
    .option("--rate-limit <count>", "Requests a minute for each caller; 0: no limit.", rate, DEFAULT_RATE)
    .option(
      "--index-memory <MiB>",
      "Memory for search indexes, all callers together; default: 256.",
      mebibytes,
    )
    .option("--require-memory", "Refuse to start if memory is not on disk or does not work.")
    .option("--packs-from <folder>", "A folder with your own packs (ES modules).", nonEmpty)
    .option("--pipelines <folder>", "A folder with your own pipelines.", nonEmpty)
    .addOption(
      new Option("--log-level <level>", "How much to log on stderr.").choices(LOG_LEVELS).default("info"),
    )
    .action((_options: unknown, command: Command) => {
      const { host, port, allowHost, allowOrigin, publicOrigin, pages, rateLimit, ...more } =
        command.opts<ServeOptions>();
      const { requireMemory, packsFrom, pipelines, logLevel, indexMemory: indexMemoryMib } = more;
      return runs(command, async (context) => {
        const { serveCommand } = await import("../commands/serve.ts");
        return serveCommand(context, {
          host,
          port,
          allowedHosts: allowHost ?? [],
          allowedOrigins: allowOrigin ?? [],
          ...(pages && { pages: defined({ publicOrigin }) }),
          requestsPerMinute: rateLimit,
          requiresMemory: requireMemory === true,
          ...defined({ indexMemoryMib }),
          folders: defined({ packsFolder: packsFrom, pipelinesFolder: pipelines }),
          logLevel,
        });
      });
    });
  withExamples(serve, [
    "helmdeck-memory serve",
    "HELMDECK_JWT_SECRET_FILE=~/.helmdeck-jwt helmdeck-memory serve --host 0.0.0.0 --allow-host deck",
    "helmdeck-memory serve --require-memory --pipelines ./pipelines",
  ]);
}

interface ServeOptions {
  readonly host: string;
  readonly port: number;
  readonly allowHost?: readonly string[];
  readonly allowOrigin?: readonly string[];
  readonly publicOrigin?: string;
  readonly pages: boolean;
  readonly rateLimit: number;
  readonly indexMemory?: number;
  readonly requireMemory?: boolean;
  readonly packsFrom?: string;
  readonly pipelines?: string;
  readonly logLevel: string;
}

function port(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw new InvalidArgumentError("It must be a number from 0 to 65535.");
  return Number(text);
}

/** In a browser's form: lower case, without the default port and without a path. */
function origin(text: string): string {
  const url = URL.parse(text);
  if (url?.origin === text.replace(/\/$/, "").toLowerCase() && /^https?:$/.test(url.protocol))
    return url.origin;
  throw new InvalidArgumentError("It must be of the form https://deck.example.");
}

function mebibytes(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text))
    throw new InvalidArgumentError("It must be a whole number of MiB from 1.");
  return Number(text);
}

function rate(text: string): number {
  if (!/^\d{1,7}$/.test(text)) throw new InvalidArgumentError("It must be a whole number from 0.");
  return Number(text);
}
