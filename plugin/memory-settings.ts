/** This host's storage location, key and embedding service, from OpenClaw's state folder and the configuration. */
import { homedir } from "node:os";
import { type EmbeddingSettings, unusable, withApiKey } from "../app/embedding/embedding-settings.ts";
import { findStorage } from "../app/storage-location.ts";
import type { RecallMode } from "../engine/answer-limits.ts";
import { defined } from "../engine/defined.ts";
import { type EmbeddingsConfig, nameOfEmbeddingSetting, type PluginConfig } from "./config.ts";
import type { HostApi, HostConfig } from "./openclaw-api.ts";
import {
  API_KEY_CONFIG_PATH,
  resolveConfiguredKey,
  resolveSecret,
  type SecretResolver,
} from "./resolve-secret.ts";

export interface MemorySettings {
  readonly databasePath: string;
  readonly keyPath: string;
  readonly configuredKey?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly embeddings: EmbeddingSettings;
  readonly recall: RecallMode;
  readonly lifetimeDays?: number;
}

/** Rejects with a HelmdeckError if a configured key cannot be read; other problems appear when memory is opened. */
export async function memorySettings(
  api: HostApi,
  config: PluginConfig,
  hostConfig: HostConfig,
): Promise<MemorySettings> {
  const { env } = process;
  const configuredKey = await resolveConfiguredKey(config.encryptionKey, hostConfig, env);
  const place = findStorage({
    env,
    homeDir: homedir(),
    stateDir: api.runtime.state.resolveStateDir(env),
    ...defined({ databasePath: config.databasePath }),
  });
  return {
    ...{ ...place, env, recall: config.recall },
    embeddings: await embeddingSettings(config.embeddings, hostConfig, env),
    ...defined({ configuredKey, lifetimeDays: config.lifetimeDays }),
  };
}

/**
 * The embedding service from the plugin's configuration, with its key resolved.
 *
 * If the key cannot be read, semantic search is off. Without the key, or with an unresolved reference in its place, requests
 * would go to the service under a different identity.
 *
 * Never rejects.
 */
export async function embeddingSettings(
  { settings, apiKey }: EmbeddingsConfig,
  config: HostConfig,
  env: NodeJS.ProcessEnv,
  loadResolver?: () => Promise<SecretResolver>,
): Promise<EmbeddingSettings> {
  if (!("url" in settings)) return settings;
  const secret = await resolveSecret({ value: apiKey, path: API_KEY_CONFIG_PATH }, config, env, loadResolver);
  if (secret.kind === "absent") return settings;
  if (secret.kind === "text") return withApiKey(settings, secret.text, nameOfEmbeddingSetting);
  return unusable(`${nameOfEmbeddingSetting("apiKey")} refers to ${secret.name}, which could not be read`);
}
