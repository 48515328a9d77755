/**
 * The memory of an engine on another server, for this host's agents. Loaded only if the configuration names one, because
 * the code that validates its answers is large.
 */
import { checkEngineAddress } from "../app/remote/engine/engine-address.ts";
import { openEngineMemory } from "../app/remote/engine/engine-memory.ts";
import type { RemoteMemory } from "../app/remote/remote-memory.ts";
import type { RecallMode } from "../engine/answer-limits.ts";
import type { EngineSourceConfig } from "./config.ts";
import { makeTokenSource } from "./engine-tokens.ts";
import type { HostConfig } from "./openclaw-api.ts";
import { resolveSecret } from "./resolve-secret.ts";

/** Sends nothing before the first call. Throws `invalid_input` for an unusable address. */
export function openEngineSource(
  source: EngineSourceConfig,
  recall: RecallMode,
  hostConfig: () => HostConfig,
): RemoteMemory {
  const { settings, tokens } = source;
  return openEngineMemory({
    address: checkEngineAddress(settings, (field) => `source.${field} in the plugin's configuration`),
    agents: [...tokens.keys()],
    recall,
    tokenOf: makeTokenSource({
      tokens,
      resolve: (asked) => resolveSecret(asked, hostConfig(), process.env),
    }),
  });
}
