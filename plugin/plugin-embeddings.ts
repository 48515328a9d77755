/**
 * The embedding service from the plugin's configuration, with its key resolved.
 *
 * A key that cannot be had turns search by meaning off: without it, or with half of a reference in its place, the service
 * would be asked as somebody else.
 */
import { type EmbeddingSettings, unusable, withApiKey } from "../app/index.ts";
import { type EmbeddingsConfig, nameOfEmbeddingSetting } from "./config.ts";
import type { HostConfig } from "./openclaw-api.ts";
import { API_KEY_CONFIG_PATH, resolveSecret, type SecretResolver } from "./resolve-secret.ts";

/** Never rejects. */
export async function embeddingSettings(
  { settings, apiKey }: EmbeddingsConfig,
  config: HostConfig,
  env: NodeJS.ProcessEnv,
  loadResolver?: () => Promise<SecretResolver>,
): Promise<EmbeddingSettings> {
  if (settings.provider === "none" || settings.provider === "unusable") return settings;
  const secret = await resolveSecret({ value: apiKey, path: API_KEY_CONFIG_PATH }, config, env, loadResolver);
  if (secret.kind === "absent") return settings;
  if (secret.kind === "text") return withApiKey(settings, secret.text, nameOfEmbeddingSetting);
  return unusable(`${nameOfEmbeddingSetting("apiKey")} refers to ${secret.name}, which could not be read`);
}
