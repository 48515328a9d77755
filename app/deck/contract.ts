/** Everything a server serves, behind one interface: memory (or why there is none), packs, pipelines, artifacts. */
import type { ArtifactStore, PackEngine, PipelineRunner } from "../../engine/index.ts";
import type { Memory } from "../memory.ts";
import type { MemoryState } from "./memory-state.ts";

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
