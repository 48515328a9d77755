/**
 * The embedding service from the plugin's configuration, with its key resolved.
 *
 * If the key cannot be read, semantic search is off. Without the key, or with an unresolved reference in its place, requests
 * would go to the service under a different identity.
 */
import { type EmbeddingSettings, unusable, withApiKey } from "../app/embedding/embedding-settings.ts";
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
