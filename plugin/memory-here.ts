/** The memory on this host, in a worker thread. Loaded only by processes that open memory. */
import { startWorkerMemory } from "../app/worker/worker-client.ts";
import { fileOfBuild } from "../engine/file-of-build.ts";
import type { PluginConfig } from "./config.ts";
import { memorySettings } from "./memory-settings.ts";
import type { HostApi, HostConfig } from "./openclaw-api.ts";
import { type Lease, leaseMemory } from "./shared-memory.ts";

export { memorySettings } from "./memory-settings.ts";

/** Rejects with a HelmdeckError if a configured key cannot be read; other problems appear at the first call. */
export async function startHere(api: HostApi, config: PluginConfig, hostConfig: HostConfig): Promise<Lease> {
  const settings = await memorySettings(api, config, hostConfig);
  // Of the same build, even after an upgrade replaced the installed files.
  const workerUrl = fileOfBuild("worker", import.meta.url);
  return leaseMemory(settings, () => startWorkerMemory({ ...settings, workerUrl }));
}
