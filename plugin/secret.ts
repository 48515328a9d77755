/**
 * The memory key from the plugin's configuration: a string, or a reference to a secret that the host resolves.
 *
 * The host may hand over a reference unresolved: always on the command line, and in a gateway that could not resolve it.
 * Treating that as "no key configured" would make a new key and hide everything stored so far, so it fails closed, and the
 * message names the reference, never what it refers to.
 */
import { HelmdeckError } from "../app/index.ts";
import type { HostConfig } from "./host.ts";

export const KEY_CONFIG_PATH = "plugins.entries.helmdeck-memory.config.encryptionKey";

/** The host's resolver, as openclaw/plugin-sdk/secret-input-runtime has it. */
export type SecretResolver = (request: {
  config: HostConfig;
  env: NodeJS.ProcessEnv;
  value: unknown;
  path: string;
}) => Promise<{ value?: string }>;

/** The configured key, undefined when none is configured; `key_unreadable` when it is configured but cannot be had. */
export async function resolveConfiguredKey(
  value: unknown,
  config: HostConfig,
  env: NodeJS.ProcessEnv,
  loadResolver: () => Promise<SecretResolver> = loadHostResolver,
): Promise<string | undefined> {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string") return value;
  const resolved = await resolve(value, config, env, loadResolver).catch(() => undefined);
  if (typeof resolved === "string" && resolved !== "") return resolved;
  throw new HelmdeckError(
    "key_unreadable",
    `encryptionKey in the plugin's configuration refers to ${nameOf(value)}, which could not be read. ` +
      `Make that secret available, or set ${KEY_CONFIG_PATH} anew; memory stays closed until then.`,
    { details: { field: "encryptionKey" } },
  );
}

async function resolve(
  value: unknown,
  config: HostConfig,
  env: NodeJS.ProcessEnv,
  loadResolver: () => Promise<SecretResolver>,
): Promise<string | undefined> {
  const resolver = await loadResolver();
  return (await resolver({ config, env, value, path: KEY_CONFIG_PATH })).value;
}

/** Loaded at need: the resolver takes a third of a second to load, and a key file needs none of it. */
async function loadHostResolver(): Promise<SecretResolver> {
  return (await import("openclaw/plugin-sdk/secret-input-runtime")).resolveConfiguredSecretInputString;
}

/** `the secret env:default:NAME`; a reference of another shape could be a misplaced secret itself, so it is not repeated. */
function nameOf(reference: unknown): string {
  const parts = ["source", "provider", "id"].map((field) => fieldOf(reference, field));
  const isPlain = parts.every((part) => typeof part === "string" && /^[\w./-]{1,128}$/.test(part));
  const looksSecret = parts.some((part) => typeof part === "string" && /^[0-9a-f]{32,}$/i.test(part));
  return isPlain && !looksSecret ? `the secret ${parts.join(":")}` : "a secret";
}

function fieldOf(value: unknown, field: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, field) : undefined;
}
