/**
 * The memory of a served engine, for this host's agents. Loaded only where the configuration names one: what checks the engine's
 * answers is no small thing.
 */
import { checkEngineAddress, type OpenMemory, openRemoteMemory, type RecallMode } from "../app/index.ts";
import type { EngineSourceConfig } from "./config.ts";
import { makeTokenSource } from "./engine-tokens.ts";
import type { HostConfig } from "./openclaw-api.ts";
import { resolveSecret } from "./resolve-secret.ts";

/** Asks nothing before the first call. Throws `invalid_input` for an address that cannot be used. */
export function openEngineMemory(
  source: EngineSourceConfig,
  recall: RecallMode,
  hostConfig: () => HostConfig,
): OpenMemory {
  const { settings, tokens } = source;
  return openRemoteMemory({
    address: checkEngineAddress(settings, (field) => `source.${field} in the plugin's configuration`),
    agents: [...tokens.keys()],
    recall,
    tokenOf: makeTokenSource({
      tokens,
      resolve: (asked) => resolveSecret(asked, hostConfig(), process.env),
    }),
  });
}
