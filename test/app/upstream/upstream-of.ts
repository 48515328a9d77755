/** The memory of a helmdeck, for callers named after their agents. */

import { checkEngineAddress } from "../../../app/remote/engine-address.ts";
import type { RemoteMemory } from "../../../app/remote/partial-memory.ts";
import { openUpstreamMemory, type UpstreamMemoryOptions } from "../../../app/upstream/upstream-memory.ts";

interface Helmdeck {
  readonly url: string;
  tokenOf(sub: string): string;
}

export function upstreamOf(
  helmdeck: Helmdeck,
  options: Partial<Omit<UpstreamMemoryOptions, "address">> & { readonly url?: string } = {},
): RemoteMemory {
  const tokens = new Map<string, string>();
  const { url = helmdeck.url, ...others } = options;
  return openUpstreamMemory({
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
