/** Everything that a server serves: memory (or the reason for its absence), packs, pipelines, artifacts. */

import type { OpenMemory } from "../app/compose.ts";
import type { Memory } from "../app/memory.ts";
import type { MemoryState } from "../app/memory-state.ts";
import type { ArtifactStore, PackEngine } from "./engine/pack-contract.ts";
import type { PipelineRunner } from "./pipelines/pipeline-contract.ts";

export interface ServerContext {
  /** If memory is unavailable, every call throws `memory_unavailable` with the reason; packs still run. */
  readonly memory: Memory;
  readonly memoryState: MemoryState;
  readonly watch?: OpenMemory["watch"];
  readonly packs: PackEngine;
  readonly pipelines: PipelineRunner;
  readonly artifacts: ArtifactStore;
  /** Finishes accepted work, then closes memory. Idempotent. */
  close(): Promise<void>;
}
