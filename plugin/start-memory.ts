/** The gateway's memory: in a worker thread beside this file, or an engine's that is served elsewhere. */
import { startWorkerMemory } from "../app/index.ts";
import type { PluginConfig } from "./config.ts";
import { openElsewhere } from "./elsewhere.ts";
import { memorySettings } from "./memory-settings.ts";
import type { HostApi, HostConfig } from "./openclaw-api.ts";
import { type Lease, leaseMemory } from "./shared-memory.ts";

/** Set by the build: a fingerprint of the sources. */
declare const __HELMDECK_BUILD__: string | undefined;
const BUILD = typeof __HELMDECK_BUILD__ === "string" ? __HELMDECK_BUILD__ : "source";

/** Rejects with a HelmdeckError when a configured key cannot be had; all other trouble shows with the first call. */
export async function startMemory(
  api: HostApi,
  config: PluginConfig,
  hostConfig: HostConfig,
): Promise<Lease> {
  const elsewhere = await openElsewhere(config, () => hostConfig);
  if (elsewhere !== undefined) return { memory: elsewhere, release: () => elsewhere.close() };
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
