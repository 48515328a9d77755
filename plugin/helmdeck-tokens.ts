/**
 * Each agent's token for a running helmdeck: its own, from a file or a secret reference. OpenClaw's main agent can also use
 * the token of OpenClaw's entry `mcp.servers.helmdeck`, which helmdeck's own script writes and renews.
 *
 * Threat: somebody changes `source.url` to receive the token. So the entry's token is sent only to the entry's own address.
 * No other agent gets it, because agents with the same token share one memory.
 */

import type { TokenSource } from "../app/remote/engine/engine-client.ts";
import { HelmdeckError } from "../engine/errors.ts";
import { type HelmdeckSourceConfig, MCP_ENTRY_AGENT } from "./config.ts";
import { makeTokenSource } from "./engine-tokens.ts";
import type { HostConfig } from "./openclaw-api.ts";
import { resolveSecret } from "./resolve-secret.ts";
import { fieldOf, fieldsOf } from "./unchecked.ts";

const ENTRY = "mcp.servers.helmdeck";
const BEARER = /^bearer\s+/i;

export interface HelmdeckTokens {
  /** Agents with a token. */
  readonly agents: readonly string[];
  readonly tokenOf: TokenSource;
}

export function helmdeckTokens(
  { settings, tokens }: HelmdeckSourceConfig,
  hostConfig: () => HostConfig,
): HelmdeckTokens {
  const own = makeTokenSource({
    tokens,
    resolve: (asked) => resolveSecret(asked, hostConfig(), process.env),
  });
  const isEntryMeant = tokens.size === 0 || entryOf(hostConfig()) !== undefined;
  return {
    agents: [...new Set([...tokens.keys(), ...(isEntryMeant ? [MCP_ENTRY_AGENT] : [])])],
    tokenOf: async (agent, how) =>
      tokens.has(agent) || agent !== MCP_ENTRY_AGENT
        ? own(agent, how)
        : entryToken(settings.url, hostConfig()),
  };
}

/** The entry's current token. */
async function entryToken(url: string, config: HostConfig): Promise<string> {
  const entry = entryOf(config);
  if (entry === undefined) throw noEntry(`there is no ${ENTRY} in OpenClaw's configuration`);
  const its = originOf(fieldOf(entry, "url"));
  if (its === undefined || its !== originOf(url))
    throw noEntry(`${ENTRY} is for another address (${its ?? "none"}) than source.url`);
  const headers = Object.entries(fieldsOf(fieldOf(entry, "headers")));
  const value = headers.find(([name]) => name.toLowerCase() === "authorization")?.[1];
  const secret = await resolveSecret({ value, path: `${ENTRY}.headers.authorization` }, config, process.env);
  if (secret.kind !== "text" || !BEARER.test(secret.text.trim()))
    throw noEntry(`${ENTRY} has no readable bearer token in its authorization header`);
  return secret.text.trim().replace(BEARER, "");
}

function entryOf(config: HostConfig): unknown {
  return fieldOf(fieldOf(fieldOf(config, "mcp"), "servers"), "helmdeck") ?? undefined;
}

function originOf(url: unknown): string | undefined {
  return typeof url === "string" ? URL.parse(url)?.origin : undefined;
}

function noEntry(what: string): HelmdeckError {
  return new HelmdeckError(
    "invalid_token",
    `Agent ${MCP_ENTRY_AGENT} has no token for helmdeck: ${what}. Run helmdeck's scripts/configure-openclaw.sh, or name a file in source.tokens.${MCP_ENTRY_AGENT}.`,
  );
}
