/** The shipped packs. */
import type { Pack } from "../engine/pack-contract.ts";
import { gitHubIssuesPack } from "./github-issues.ts";
import { memoryPacks, type PackedMemory } from "./memory-packs.ts";
import type { PackSettings } from "./pack-settings.ts";
import { solvePack } from "./solve.ts";

export interface ShippedPacksOptions extends PackSettings {
  readonly memory: PackedMemory;
}

/** Throws `invalid_input` if a setting cannot be used. */
export function shippedPacks({ memory, github, solve }: ShippedPacksOptions): readonly Pack[] {
  return [...memoryPacks(memory), gitHubIssuesPack(github), solvePack(solve)];
}
