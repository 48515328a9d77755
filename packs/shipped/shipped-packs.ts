/** The packs that ship. */

import type { Memory } from "../../app/index.ts";
import type { Pack } from "../engine/pack-contract.ts";
import { gitHubIssuesPack } from "./github-issues.ts";
import {
  memoryCorpusPack,
  memoryForgetPack,
  memoryHistoryPack,
  memoryRenewPack,
  memoryStorePack,
} from "./memory-packs.ts";
import type { PackSettings } from "./pack-settings.ts";
import { solvePack } from "./solve.ts";

export interface ShippedPacksOptions extends PackSettings {
  readonly memory: Pick<Memory, "storeFact" | "forget" | "factHistory" | "renewFact" | "corpusPage">;
}

/** Throws `invalid_input` when a setting cannot be used. */
export function shippedPacks({ memory, github, solve }: ShippedPacksOptions): readonly Pack[] {
  const packs = [
    memoryStorePack(memory),
    memoryForgetPack(memory),
    memoryHistoryPack(memory),
    memoryRenewPack(memory),
    memoryCorpusPack(memory),
    gitHubIssuesPack(github),
    solvePack(solve),
  ];
  return packs;
}
