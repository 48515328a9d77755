/** `token`: makes, shows and revokes bearer tokens for clients of the server. The secret is never shown. */
import type { Command } from "commander";
import { isSubject } from "../../app/subject.ts";
import type { CommandContext, Runs } from "../../commands/command-line.ts";
import { EXIT_DONE, EXIT_FAILED } from "../../commands/exit-codes.ts";
import { inputSource, readText } from "../../commands/input.ts";
import {
  collect,
  nonEmpty,
  refusePlace,
  seconds,
  sinceTime,
  withExamples,
} from "../../commands/option-parsers.ts";
import { defined } from "../../engine/defined.ts";
import { HelmdeckError, invalidField } from "../../engine/errors.ts";
import { harmlessLine } from "../../engine/facts/hostile-text.ts";
import { rfc3339 } from "../../engine/rfc3339.ts";
import { SCOPES } from "../../server/caller.ts";
import type { TokenRules } from "../../server/token-files.ts";
import type { ExaminedToken, TokenRequest } from "../../server/tokens.ts";

const DEFAULT_TTL_SECONDS = 30 * 86_400;
/** A token has at most 8,192 characters. */
const MOST_TOKEN_BYTES = 16_384;

export function declareToken(program: Command, runs: Runs): void {
  const token = program
    .command("token")
    .summary("Make, show or revoke a token of a client of the server.")
    .description(
      "Make a bearer token for a server with the same secret; with --show, say what a token may do; with --revoke, revoke tokens. The secret is HELMDECK_JWT_SECRET, or in the file HELMDECK_JWT_SECRET_FILE. Of several lines there, each is a secret: all are accepted, the first one signs. Revoked tokens are listed in that file's name with .revoked, or in HELMDECK_JWT_REVOKED_FILE.",
    )
    .option("--subject <name>", "Whose memory the token opens, such as an agent's id.", nonEmpty)
    .option("--ttl <span>", "How long it is valid: 12h, 30d; at most 366d. (default: 30d)", seconds)
    .option("--scope <name>", `An additional right: ${SCOPES.join(", ")}; repeatable.`, collect)
    .option("--name <text>", "A note in the token: its owner.", nonEmpty)
    .option("--client <text>", "A note in the token: its program.", nonEmpty)
    .option(
      "--output <file>",
      "Write the token to this file, of mode 0600, in place of a former one.",
      nonEmpty,
    )
    .option("--show", "Read a token from standard input: what it may do, and whether it is accepted.")
    .option("--revoke", "Revoke the tokens of --subject or, without it, of everybody.")
    .option(
      "--until <time>",
      "With --revoke: only tokens that were made until then. (default: now)",
      sinceTime,
    )
    .action((_options: unknown, command: Command) => {
      refusePlace(command);
      const request = requestOf(command);
      const action = { show: undefined, revoke: "tokens_revoked", make: "token_made" } as const;
      return runs(
        command,
        (context) => {
          if (request.kind === "show") return showToken(context);
          return request.kind === "revoke" ? revoke(context, request) : makeToken(context, request);
        },
        action[request.kind],
      );
    });
  withExamples(token, [
    "export HELMDECK_JWT_SECRET_FILE=~/.helmdeck-jwt",
    "helmdeck-memory token --subject main",
    "helmdeck-memory token --subject main --scope record --output main.token",
    "helmdeck-memory token --subject prometheus --scope metrics --ttl 365d",
    "helmdeck-memory token --show < main.token",
    "helmdeck-memory token --revoke --subject main",
  ]);
}

interface TokenOptions {
  readonly subject?: string;
  readonly ttl?: number;
  readonly scope?: readonly string[];
  readonly name?: string;
  readonly client?: string;
  readonly output?: string;
  readonly show?: boolean;
  readonly revoke?: boolean;
  readonly until?: number;
}

interface RevokeRequest {
  readonly kind: "revoke";
  readonly subject?: string;
  /** Milliseconds since 1970. */
  readonly until?: number;
}

interface MakeRequest extends TokenRequest {
  readonly kind: "make";
  readonly file?: string;
}

type Request = { readonly kind: "show" } | RevokeRequest | MakeRequest;

function requestOf(command: Command): Request {
  const { show, revoke: isRevoking, until, ...made } = command.opts<TokenOptions>();
  const { ttl = DEFAULT_TTL_SECONDS, scope = [], subject, name, client, output: file } = made;
  if (show && (isRevoking || until !== undefined || Object.keys(made).length > 0)) {
    return command.error("--show takes no other option; the token comes from standard input.");
  }
  if (show) return { kind: "show" };
  if (isRevoking) {
    const others = Object.keys(made).filter((option) => option !== "subject");
    if (others.length > 0) return command.error("--revoke takes --subject and --until only.");
    return { kind: "revoke", ...defined({ subject, until }) };
  }
  if (until !== undefined) return command.error("--until needs --revoke.");
  if (subject === undefined) return command.error("required option '--subject <name>' not specified");
  return { kind: "make", subject, ttlSeconds: ttl, scopes: scope, ...defined({ name, client, file }) };
}

async function makeToken(context: CommandContext, request: MakeRequest): Promise<number> {
  const { shell, output, options } = context;
  const { mintToken } = await import("../../server/tokens.ts");
  const { secrets, revocations } = await requireRules(context);
  const now = shell.now();
  if (isSubject(request.subject)) context.found?.({ subject: request.subject });
  if (request.scopes?.every((scope) => SCOPES.includes(scope)) === false)
    throw invalidField("scope", `must be one of ${SCOPES.join(", ")}`);
  const { token, subject, scopes, expiresAt } = await mintToken(secrets[0], request, now);
  context.found?.({ scopes, issued_at: rfc3339(now), expires_at: rfc3339(expiresAt) });
  if (revocations.cover({ subject, issued: now }))
    throw invalidField(
      "subject",
      "has its tokens revoked until a time to come; remove that line from the list of revoked tokens, and start the servers again",
    );
  const { file } = request;
  if (file !== undefined) {
    const { writePrivateFile } = await import("../../commands/export.ts");
    await writePrivateFile(file, (append) => append(`${token}\n`), { replaces: true });
  }
  const about = { subject, scopes, expires_at: rfc3339(expiresAt) };
  if (options.json) await output.json(file === undefined ? { token, ...about } : { output: file, ...about });
  else if (file === undefined) await output.line(token);
  else
    await output.line(
      `Wrote a token of ${harmlessLine(subject)}, valid until ${about.expires_at}, to ${harmlessLine(file)}`,
    );
  return EXIT_DONE;
}

async function revoke(
  { shell, output, options, found }: CommandContext,
  request: RevokeRequest,
): Promise<number> {
  const { revokeTokens } = await import("../../server/token-files.ts");
  const { subject, until = shell.now() } = request;
  found?.({ ...defined({ subject }), until: rfc3339(until) });
  const path = await revokeTokens(shell.env, until, subject);
  const time = rfc3339(until);
  if (options.json) {
    await output.json({ revoked: subject ?? null, until: time, file: path });
    return EXIT_DONE;
  }
  const whose = subject === undefined ? "everybody" : harmlessLine(subject);
  await output.line(`Tokens of ${whose} that were made until ${time} are revoked in ${harmlessLine(path)}.`);
  await output.note(
    "Servers that read this file refuse them within a second. Copy it to the machines of the others.",
  );
  return EXIT_DONE;
}

/** Fails for a token that is not accepted, after it was shown. */
async function showToken(context: CommandContext): Promise<number> {
  const { shell, output, options } = context;
  const { examineToken } = await import("../../server/tokens.ts");
  const rules = await requireRules(context);
  const token = await readText(inputSource(shell, "-"), MOST_TOKEN_BYTES);
  const examined = await examineToken(rules, token.trim(), shell.now());
  if (options.json) await output.json(shownAsJson(examined));
  else for (const line of linesOf(examined)) await output.line(line);
  return examined.refused === undefined ? EXIT_DONE : EXIT_FAILED;
}

function shownAsJson({ subject, scopes, issuedAt, expiresAt, secret, revoked, refused }: ExaminedToken) {
  const time = (at: number | undefined) => (at === undefined ? null : rfc3339(at));
  return {
    ...{ subject: subject ?? null, scopes, issued_at: time(issuedAt), expires_at: time(expiresAt) },
    ...{ secret: secret ?? null, revoked, accepted: refused === undefined },
    ...defined({ refused }),
  };
}

function linesOf({ subject, scopes, issuedAt, expiresAt, secret, revoked, refused }: ExaminedToken) {
  const time = (at: number | undefined) => (at === undefined ? "not said" : rfc3339(at));
  const place = secret === 1 ? "the first secret" : `secret ${secret}, not the first one: make a new token`;
  return [
    `subject   ${subject === undefined ? "none" : harmlessLine(subject)}`,
    `scopes    ${scopes.length === 0 ? "none: only the subject's own memory" : harmlessLine(scopes.join(", "))}`,
    `issued    ${time(issuedAt)}`,
    `expires   ${time(expiresAt)}`,
    `signed by ${secret === undefined ? "none of the secrets here" : place}`,
    `revoked   ${revoked ? "yes" : "no"}`,
    `accepted  ${refused === undefined ? "yes" : `no. ${refused}`}`,
  ];
}

async function requireRules({ shell }: CommandContext): Promise<TokenRules> {
  const { loadTokenRules } = await import("../../server/token-files.ts");
  const rules = await loadTokenRules(shell.env);
  if (rules !== undefined) return rules;
  throw new HelmdeckError(
    "key_missing",
    "There is no secret of tokens. Set HELMDECK_JWT_SECRET to the server's secret (make one with: openssl rand -hex 32), or HELMDECK_JWT_SECRET_FILE to its file.",
  );
}
