/** This host's storage location, key and embedding service, from OpenClaw's state folder and the configuration. */
import { homedir } from "node:os";
import type { EmbeddingSettings } from "../app/embedding/embedding-settings.ts";
import { findStorage } from "../app/storage-location.ts";
import type { RecallMode } from "../engine/answer-limits.ts";
import { defined } from "../engine/defined.ts";
import type { PluginConfig } from "./config.ts";
import type { HostApi, HostConfig } from "./openclaw-api.ts";
import { embeddingSettings } from "./plugin-embeddings.ts";
import { resolveConfiguredKey } from "./resolve-secret.ts";

export interface MemorySettings {
  readonly databasePath: string;
  readonly keyPath: string;
  readonly configuredKey?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly embeddings: EmbeddingSettings;
  readonly recall: RecallMode;
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
    ...defined({ configuredKey }),
  };
}
