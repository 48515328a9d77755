/** Starts the gateway's memory: in a worker thread, or on another server. Loads only the code that it needs. */
import type { PluginConfig } from "./config.ts";
import { openExternalMemory } from "./external-memory.ts";
import type { HostApi, HostConfig } from "./openclaw-api.ts";
import type { Lease } from "./shared-memory.ts";

/** Rejects with a HelmdeckError if a configured key cannot be read; other problems appear at the first call. */
export async function startMemory(
  api: HostApi,
  config: PluginConfig,
  hostConfig: () => HostConfig,
): Promise<Lease> {
  if (config.source.kind === "helmdeck") {
    const { leaseHelmdeckMemory } = await import("./helmdeck-source.ts");
    return leaseHelmdeckMemory(config.source, config.recall, hostConfig);
  }
  const elsewhere = await openExternalMemory(config, hostConfig);
  if (elsewhere !== undefined) return { memory: elsewhere, release: () => elsewhere.close() };
  const { startHere } = await import("./memory-here.ts");
  return startHere(api, config, hostConfig());
}
