/**
 * The memory of a running helmdeck, for this host's agents: read and ranked in a worker thread, with tokens that are resolved
 * here. Loaded only if the configuration names one.
 */

import { NO_EMBEDDINGS } from "../app/embedding/embedding-settings.ts";
import { checkEngineAddress } from "../app/remote/engine/engine-address.ts";
import { notThere } from "../app/remote/helmdeck/helmdeck-texts.ts";
import { type RemoteMemory, remoteMemory } from "../app/remote/remote-memory.ts";
import { startHelmdeckWorker } from "../app/worker/helmdeck-client.ts";
import type { RecallMode } from "../engine/answer-limits.ts";
import { fileOfBuild } from "../engine/file-of-build.ts";
import type { HelmdeckSourceConfig } from "./config.ts";
import { helmdeckTokens } from "./helmdeck-tokens.ts";
import type { HostConfig } from "./openclaw-api.ts";
import { type Lease, leaseMemory } from "./shared-memory.ts";

/** For one command. Sends nothing before the first call. Throws `invalid_input` for an unusable address. */
export function openHelmdeckSource(
  source: HelmdeckSourceConfig,
  recall: RecallMode,
  hostConfig: () => HostConfig,
): RemoteMemory {
  const memory = startWorker(source, recall, hostConfig);
  const { url } = source.settings;
  return remoteMemory(memory, { now: Date.now, refusal: () => notThere(url, "cannot do this") });
}

/** For a gateway, whose registrations share one memory, because each token can have only one stream. */
export async function leaseHelmdeckMemory(
  source: HelmdeckSourceConfig,
  recall: RecallMode,
  hostConfig: () => HostConfig,
): Promise<Lease> {
  const { settings, tokens } = source;
  const place = { databasePath: settings.url, keyPath: "", embeddings: NO_EMBEDDINGS, recall };
  const configuredKey = JSON.stringify([settings, [...tokens]]);
  return leaseMemory({ ...place, configuredKey }, () => startWorker(source, recall, hostConfig));
}

function startWorker(source: HelmdeckSourceConfig, recall: RecallMode, hostConfig: () => HostConfig) {
  const address = checkEngineAddress(
    source.settings,
    (field) => `source.${field} in the plugin's configuration`,
  );
  const { agents, tokenOf } = helmdeckTokens(source, hostConfig);
  const workerUrl = fileOfBuild("helmdeck-worker", import.meta.url);
  return startHelmdeckWorker({ workerUrl, start: { address, agents, recall }, tokenOf });
}
