/** `token`: a bearer token for a client of the server. The token is the answer; the secret is never shown. */

import type { CommandContext } from "../../commands/command-line.ts";
import { EXIT_DONE } from "../../commands/exit-codes.ts";
import { HelmdeckError } from "../../engine/errors.ts";
import { rfc3339 } from "../../engine/rfc3339.ts";
import { loadSecret, mintToken, type TokenRequest } from "../../server/tokens.ts";

export async function tokenCommand(context: CommandContext, request: TokenRequest): Promise<number> {
  const { shell, output, options } = context;
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
