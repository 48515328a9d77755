/** Everything a server serves, behind one interface: memory (or why there is none), packs, pipelines, artifacts. */
import type { ArtifactStore, HelmdeckError, PackEngine, PipelineRunner } from "../../engine/index.ts";
import type { Memory } from "../memory.ts";

/** `ephemeral`: no key and no data were found, so memory lives in this process only and is gone with it. */
export type MemoryState =
  | { readonly state: "ready"; readonly databasePath: string; readonly keySource: string }
  | { readonly state: "ephemeral"; readonly warning: string }
  | { readonly state: "unavailable"; readonly error: HelmdeckError };

export interface Deck {
  /** When memory is unavailable every call throws `memory_unavailable` with the reason; packs run all the same. */
  readonly memory: Memory;
  readonly memoryState: MemoryState;
  readonly packs: PackEngine;
  readonly pipelines: PipelineRunner;
  readonly artifacts: ArtifactStore;
  /** Finishes what was accepted, then closes memory. Idempotent. */
  close(): Promise<void>;
}
