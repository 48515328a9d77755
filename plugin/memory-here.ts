/** The memory that this host keeps, in a worker thread beside this file: loaded by processes that open it, and by no other. */
import { startWorkerMemory } from "../app/index.ts";
import type { PluginConfig } from "./config.ts";
import { memorySettings } from "./memory-settings.ts";
import type { HostApi, HostConfig } from "./openclaw-api.ts";
import { type Lease, leaseMemory } from "./shared-memory.ts";

export { memorySettings } from "./memory-settings.ts";

/** Set by the build: a fingerprint of the sources. */
declare const __HELMDECK_BUILD__: string | undefined;
const BUILD = typeof __HELMDECK_BUILD__ === "string" ? __HELMDECK_BUILD__ : "source";

/** Rejects with a HelmdeckError when a configured key cannot be had; all other trouble shows with the first call. */
export async function startHere(api: HostApi, config: PluginConfig, hostConfig: HostConfig): Promise<Lease> {
  const settings = await memorySettings(api, config, hostConfig);
  return leaseMemory({ ...settings, build: BUILD }, () =>
    startWorkerMemory({ ...settings, workerUrl: workerUrl() }),
  );
}

/** The worker of this very build, also after an upgrade has replaced the installed files: it lies beside this module. */
function workerUrl(): URL {
  const isSource = import.meta.url.endsWith(".ts");
  return new URL(isSource ? "./worker.ts" : "./worker.js", import.meta.url);
}
