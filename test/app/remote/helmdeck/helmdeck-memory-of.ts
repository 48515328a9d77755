/** The memory of a helmdeck, for callers named after their agents. */

import { checkEngineAddress } from "../../../../app/remote/engine/engine-address.ts";
import {
  type HelmdeckMemoryOptions,
  openHelmdeckMemory,
} from "../../../../app/remote/helmdeck/helmdeck-memory.ts";
import type { RemoteMemory } from "../../../../app/remote/remote-memory.ts";

interface Helmdeck {
  readonly url: string;
  tokenOf(sub: string): string;
}

export function helmdeckMemoryOf(
  helmdeck: Helmdeck,
  options: Partial<Omit<HelmdeckMemoryOptions, "address">> & { readonly url?: string } = {},
): Promise<RemoteMemory> {
  const tokens = new Map<string, string>();
  const { url = helmdeck.url, ...others } = options;
  return openHelmdeckMemory({
    address: checkEngineAddress({ url }, (field) => field),
    agents: ["main", "work"],
    tokenOf: async (agent) => {
      const token = tokens.get(agent) ?? helmdeck.tokenOf(agent);
      tokens.set(agent, token);
      return token;
    },
    ...others,
  });
}
