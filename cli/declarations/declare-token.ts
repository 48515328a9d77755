/** Declares `token`. */

import type { Command } from "commander";
import type { Runs } from "../../commands/command-line.ts";
import { collect, nonEmpty, seconds, withExamples } from "../../commands/option-parsers.ts";
import { defined } from "../../engine/defined.ts";
import { refusePlace } from "../shared-options.ts";

const DEFAULT_TTL_SECONDS = 30 * 86_400;

export function declareToken(program: Command, runs: Runs): void {
  const token = program
    .command("token")
    .summary("Make a token for a client of the server.")
    .description(
      "Make a bearer token for a server with the same secret. The secret is read from HELMDECK_JWT_SECRET, or from the file that HELMDECK_JWT_SECRET_FILE names.",
    )
    .requiredOption("--subject <name>", "The subject whose memory the token opens.", nonEmpty)
    .option("--ttl <span>", "How long it is valid: 12h, 30d; at most 366d. (default: 30d)", seconds)
    .option("--scope <name>", "An additional right: record, admin, metrics; repeatable.", collect)
    .option("--name <text>", "A note in the token: its owner.", nonEmpty)
    .option("--client <text>", "A note in the token: its program.", nonEmpty)
    .action((_options: unknown, command: Command) => {
      refusePlace(command);
      const { ttl = DEFAULT_TTL_SECONDS, scope = [], subject, name, client } = command.opts<TokenOptions>();
      return runs(command, async (context) => {
        const { tokenCommand } = await import("../commands/token.ts");
        return tokenCommand(context, {
          subject,
          ttlSeconds: ttl,
          scopes: scope,
          ...defined({ name, client }),
        });
      });
    });
  withExamples(token, [
    "export HELMDECK_JWT_SECRET=$(openssl rand -hex 32)",
    "helmdeck-memory token --subject main",
    "helmdeck-memory token --subject main --scope record > main.token",
    "helmdeck-memory token --subject prometheus --scope metrics --ttl 365d",
  ]);
}

interface TokenOptions {
  readonly subject: string;
  readonly ttl?: number;
  readonly scope?: readonly string[];
  readonly name?: string;
  readonly client?: string;
}
