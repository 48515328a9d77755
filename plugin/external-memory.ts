/** A memory that another system keeps. */
import type { OpenMemory } from "../app/index.ts";
import type { PluginConfig } from "./config.ts";
import type { HostConfig } from "./openclaw-api.ts";

/** Undefined if this host keeps the memory. Throws `invalid_input` for an unusable address. */
export async function openExternalMemory(
  { source, recall }: PluginConfig,
  hostConfig: () => HostConfig,
): Promise<OpenMemory | undefined> {
  switch (source.kind) {
    case "embedded":
      return undefined;
    case "engine":
      return (await import("./engine-source.ts")).openEngineMemory(source, recall, hostConfig);
    case "helmdeck":
      return (await import("./helmdeck-source.ts")).openHelmdeckMemory(source, recall, hostConfig);
  }
}
