/** `token`: a bearer token for a client of the server. The token is the answer; the secret is never shown. */
import type { Command } from "commander";
import type { CommandContext, Runs } from "../../commands/command-line.ts";
import { EXIT_DONE } from "../../commands/exit-codes.ts";
import { collect, nonEmpty, refusePlace, seconds, withExamples } from "../../commands/option-parsers.ts";
import { defined } from "../../engine/defined.ts";
import { HelmdeckError } from "../../engine/errors.ts";
import { rfc3339 } from "../../engine/rfc3339.ts";
import type { TokenRequest } from "../../server/tokens.ts";

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
      return runs(command, (context) =>
        tokenCommand(context, {
          subject,
          ttlSeconds: ttl,
          scopes: scope,
          ...defined({ name, client }),
        }),
      );
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

async function tokenCommand(context: CommandContext, request: TokenRequest): Promise<number> {
  const { shell, output, options } = context;
  const { loadSecret, mintToken } = await import("../../server/tokens.ts");
  const secret = await loadSecret(shell.env);
  if (secret === undefined) {
    throw new HelmdeckError(
      "key_missing",
      "There is no secret to sign with. Set HELMDECK_JWT_SECRET to the server's secret (make one with: openssl rand -hex 32), or HELMDECK_JWT_SECRET_FILE to its file.",
    );
  }
  const { token, subject, scopes, expiresAt } = await mintToken(secret.bytes, request, shell.now());
  if (options.json) await output.json({ token, subject, scopes, expires_at: rfc3339(expiresAt) });
  else await output.line(token);
  return EXIT_DONE;
}
