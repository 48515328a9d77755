/** The shipped packs. */
import type { Memory } from "../../app/memory.ts";
import type { Pack } from "../engine/pack-contract.ts";
import { gitHubIssuesPack } from "./github-issues.ts";
import { memoryPacks } from "./memory-packs.ts";
import type { PackSettings } from "./pack-settings.ts";
import { solvePack } from "./solve.ts";

export interface ShippedPacksOptions extends PackSettings {
  readonly memory: Memory;
}

/** Throws `invalid_input` if a setting cannot be used. */
export function shippedPacks({ memory, github, solve }: ShippedPacksOptions): readonly Pack[] {
  return [...memoryPacks(memory), gitHubIssuesPack(github), solvePack(solve)];
}
