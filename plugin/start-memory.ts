/** Memory in a worker thread beside this file, at the place that OpenClaw's state folder and the configuration name. */
import { homedir } from "node:os";
import { defined, findStorage, startWorkerMemory } from "../app/index.ts";
import type { PluginConfig } from "./config.ts";
import type { HostApi, HostConfig } from "./openclaw-api.ts";
import { embeddingSettings } from "./plugin-embeddings.ts";
import { resolveConfiguredKey } from "./resolve-secret.ts";
import { type Lease, leaseMemory } from "./shared-memory.ts";

/** Set by the build: a fingerprint of the sources. */
declare const __HELMDECK_BUILD__: string | undefined;
const BUILD = typeof __HELMDECK_BUILD__ === "string" ? __HELMDECK_BUILD__ : "source";

/**
 * Rejects with a HelmdeckError when a configured key cannot be had; all other trouble shows with the first call. A command
 * is gone in a moment: it uses the vectors that are there and leaves the embedding of what is new to the gateway.
 */
export async function startMemory(
  api: HostApi,
  config: PluginConfig,
  hostConfig: HostConfig,
  purpose: "gateway" | "command",
): Promise<Lease> {
  const { env } = process;
  const configuredKey = await resolveConfiguredKey(config.encryptionKey, hostConfig, env);
  const place = findStorage({
    env,
    homeDir: homedir(),
    stateDir: api.runtime.state.resolveStateDir(env),
    ...defined({ databasePath: config.databasePath }),
  });
  const options = {
    ...{ ...place, env, embedsEntries: purpose === "gateway", recall: config.recall },
    embeddings: await embeddingSettings(config.embeddings, hostConfig, env),
    ...defined({ configuredKey }),
  };
  return leaseMemory({ ...options, build: BUILD }, () =>
    startWorkerMemory({ ...options, workerUrl: workerUrl() }),
  );
}

/** The worker of this very build, also after an upgrade has replaced the installed files: it lies beside this module. */
function workerUrl(): URL {
  const isSource = import.meta.url.endsWith(".ts");
  return new URL(isSource ? "./worker.ts" : "./worker.js", import.meta.url);
}
