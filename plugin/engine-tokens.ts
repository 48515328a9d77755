/**
 * Each agent's token for the engine that keeps its memory: from a file or a secret reference, never from the configuration
 * itself.
 *
 * Each token belongs to one agent; an agent without a token gets nothing. A file is read for each request, so a renewed token
 * takes effect at once. A reference is resolved once, and again when the engine refuses the resolved token.
 */

import type { TokenSource } from "../app/remote/engine/engine-client.ts";
import { readSecretFile } from "../app/secret-file.ts";
import { HelmdeckError, isHelmdeckError } from "../engine/errors.ts";
import { systemClock } from "../engine/timing.ts";
import type { Secret } from "./resolve-secret.ts";
import { fieldOf, isRecord } from "./unchecked.ts";

export interface TokenParts {
  /** By agent id in lower case. */
  readonly tokens: ReadonlyMap<string, unknown>;
  readonly resolve: (asked: { readonly value: unknown; readonly path: string }) => Promise<Secret>;
  /** Monotonic milliseconds. */
  readonly clock?: () => number;
}

interface Followed {
  readonly token: Promise<string>;
  readonly at: number;
}

const TOKENS_PATH = "plugins.entries.helmdeck-memory.config.source.tokens";
/** A secret provider may be a program that asks a person, so a token that stays refused must not start it for each request. */
const FOLLOWED_AGAIN_AFTER_MS = 10_000;

export function makeTokenSource({ tokens, resolve, clock = systemClock.now }: TokenParts): TokenSource {
  const followed = new Map<string, Followed>();
  const follow = (agent: string, value: unknown): Followed => {
    const token = resolve({ value, path: `${TOKENS_PATH}.${agent}` }).then((secret) => textOf(secret, agent));
    const known = { token, at: clock() };
    followed.set(agent, known);
    token.catch(() => followed.delete(agent));
    return known;
  };
  return async (agent, { refused }) => {
    const given = tokens.get(agent);
    const file = fieldOf(given, "file");
    if (typeof file === "string") return tokenInFile(file, agent);
    if (!isRecord(given)) throw noToken(agent, tokens.has(agent));
    const known = followed.get(agent);
    const isStale = known === undefined || (refused && clock() - known.at >= FOLLOWED_AGAIN_AFTER_MS);
    return (isStale ? follow(agent, given) : known).token;
  };
}

async function tokenInFile(file: string, agent: string): Promise<string> {
  try {
    return Buffer.from(await readSecretFile(file))
      .toString()
      .trim();
  } catch (error) {
    if (!isHelmdeckError(error)) throw error;
    throw new HelmdeckError("invalid_token", `The token of agent ${agent}: ${error.message}`);
  }
}

function textOf(secret: Secret, agent: string): string {
  if (secret.kind === "text") return secret.text.trim();
  const what = secret.kind === "unreadable" ? secret.name : "nothing";
  const message = `The token of agent ${agent} refers to ${what}, which could not be read. Make that secret available, or change ${TOKENS_PATH}.${agent}.`;
  throw new HelmdeckError("invalid_token", message);
}

/** A value that is neither a file nor a reference may be a literal token: it is not used, and not repeated in messages. */
function noToken(agent: string, isMalformed: boolean): HelmdeckError {
  if (!isMalformed)
    return new HelmdeckError(
      "identity_refused",
      `Agent ${agent} has no token for the server that keeps its memory.`,
    );
  const message = `The token of agent ${agent} must be a reference to a secret or {"file": "/path"}; a literal token in the configuration is not used.`;
  return new HelmdeckError("identity_refused", message);
}
