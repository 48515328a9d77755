/** The packs that ship, and what an operator can set for them by the environment. */
import type { Pack } from "../../engine/index.ts";
import type { Memory } from "../memory.ts";
import type { GitHubOptions } from "./github-client.ts";
import { gitHubIssuesPack } from "./github-issues.ts";
import { memoryCorpusPack, memoryForgetPack, memoryStorePack } from "./memory-packs.ts";

export interface PackSettings {
  readonly github: GitHubOptions;
}

export interface ShippedPacksOptions extends PackSettings {
  readonly memory: Pick<Memory, "storeFact" | "forget" | "corpusPage">;
}

/** Throws `invalid_input` when a setting cannot be used. */
export function shippedPacks({ memory, github }: ShippedPacksOptions): readonly Pack[] {
  const packs = [
    memoryStorePack(memory),
    memoryForgetPack(memory),
    memoryCorpusPack(memory),
    gitHubIssuesPack(github),
  ];
  return packs;
}

/** `GITHUB_TOKEN`, `GITHUB_API_URL`. An empty variable counts as absent. */
export function packSettings(env: Readonly<Record<string, string | undefined>>): PackSettings {
  const { GITHUB_TOKEN: token, GITHUB_API_URL: baseUrl } = env;
  return { github: { ...(token && { token }), ...(baseUrl && { baseUrl }) } };
}
