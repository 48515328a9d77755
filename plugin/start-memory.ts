/** Opens the memory that the configuration names: here, in a worker thread, or a remote one. Loads only the code that it needs. */
import type { RemoteMemory } from "../app/remote/remote-memory.ts";
import type { PluginConfig } from "./config.ts";
import type { HostApi, HostConfig } from "./openclaw-api.ts";
import type { Lease } from "./shared-memory.ts";

/** For the gateway. Rejects with a HelmdeckError if a configured key cannot be read; other problems appear at the first call. */
export async function startMemory(
  api: HostApi,
  config: PluginConfig,
  hostConfig: () => HostConfig,
): Promise<Lease> {
  if (config.source.kind === "helmdeck") {
    const { leaseHelmdeckMemory } = await import("./helmdeck-source.ts");
    return leaseHelmdeckMemory(config.source, config.recall, hostConfig);
  }
  const remote = await openRemote(config, hostConfig);
  if (remote !== undefined) return { memory: remote, release: () => remote.close() };
  const { startHere } = await import("./memory-here.ts");
  return startHere(api, config, hostConfig());
}

/** Undefined if this host keeps the memory. Throws `invalid_input` for an unusable address. */
export async function openRemote(
  { source, recall }: PluginConfig,
  hostConfig: () => HostConfig,
): Promise<RemoteMemory | undefined> {
  switch (source.kind) {
    case "embedded":
      return undefined;
    case "engine":
      return (await import("./engine-source.ts")).openEngineSource(source, recall, hostConfig);
    case "helmdeck":
      return (await import("./helmdeck-source.ts")).openHelmdeckSource(source, recall, hostConfig);
  }
}
