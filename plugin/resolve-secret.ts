/**
 * Secrets from the plugin's configuration, above all the memory key: a string, or a reference that the host resolves.
 *
 * The host may pass a reference unresolved: always on the command line, and in a gateway that could not resolve it. Treating
 * this as "no key configured" would create a new key and make the existing data unreadable. So it fails closed. The message
 * names the reference, never the secret.
 */
import { HelmdeckError } from "../engine/errors.ts";
import type { HostConfig } from "./openclaw-api.ts";
import { fieldOf } from "./unchecked.ts";

export const KEY_CONFIG_PATH = "plugins.entries.helmdeck-memory.config.encryptionKey";
export const API_KEY_CONFIG_PATH = "plugins.entries.helmdeck-memory.config.embeddings.apiKey";

/** The host's resolver, as openclaw/plugin-sdk/secret-input-runtime has it. */
export type SecretResolver = (request: {
  config: HostConfig;
  env: NodeJS.ProcessEnv;
  value: unknown;
  path: string;
}) => Promise<{ value?: string }>;

/** The configured key; undefined if none is configured. Throws `key_unreadable` if it is configured but cannot be read. */
export async function resolveConfiguredKey(
  value: unknown,
  config: HostConfig,
  env: NodeJS.ProcessEnv,
  loadResolver: () => Promise<SecretResolver> = loadHostResolver,
): Promise<string | undefined> {
  const secret = await resolveSecret({ value, path: KEY_CONFIG_PATH }, config, env, loadResolver);
  if (secret.kind === "absent") return undefined;
  if (secret.kind === "text") return secret.text;
  throw new HelmdeckError(
    "key_unreadable",
    `encryptionKey in the plugin's configuration refers to ${secret.name}, which could not be read. ` +
      `Make that secret available, or change ${KEY_CONFIG_PATH}; memory stays closed until then.`,
    { details: { field: "encryptionKey" } },
  );
}

export type Secret =
  | { readonly kind: "absent" }
  | { readonly kind: "text"; readonly text: string }
  /** A reference that could not be followed, by a name that may be shown. */
  | { readonly kind: "unreadable"; readonly name: string };

/** Resolves the configured value at this path: a text, or a reference. Never rejects. */
export async function resolveSecret(
  { value, path }: { readonly value: unknown; readonly path: string },
  config: HostConfig,
  env: NodeJS.ProcessEnv,
  loadResolver: () => Promise<SecretResolver> = loadHostResolver,
): Promise<Secret> {
  if (value === undefined || value === null) return { kind: "absent" };
  if (typeof value === "string") return { kind: "text", text: value };
  const resolving = loadResolver().then((resolver) => resolver({ config, env, value, path }));
  const text: unknown = await resolving.then(
    (resolved) => resolved.value,
    () => undefined,
  );
  if (typeof text === "string" && text !== "") return { kind: "text", text };
  return { kind: "unreadable", name: nameOf(value) };
}

/** Loaded on demand: loading the resolver takes a third of a second, and a key file does not need it. */
async function loadHostResolver(): Promise<SecretResolver> {
  return (await import("openclaw/plugin-sdk/secret-input-runtime")).resolveConfiguredSecretInputString;
}

/** `the secret env:default:NAME`. A reference of another shape could itself be a misplaced secret, so it is not repeated. */
function nameOf(reference: unknown): string {
  const parts = ["source", "provider", "id"].map((field) => fieldOf(reference, field));
  const isPlain = parts.every((part) => typeof part === "string" && /^[\w./-]{1,128}$/.test(part));
  const looksSecret = parts.some((part) => typeof part === "string" && /^[0-9a-f]{32,}$/i.test(part));
  return isPlain && !looksSecret ? `the secret ${parts.join(":")}` : "a secret";
}
