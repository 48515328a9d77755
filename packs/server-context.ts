/** Everything a server serves, behind one interface: memory (or why there is none), packs, pipelines, artifacts. */

import type { Memory, MemoryState } from "../app/index.ts";
import type { ArtifactStore, PackEngine } from "./engine/pack-contract.ts";
import type { PipelineRunner } from "./pipelines/pipeline-contract.ts";

export interface ServerContext {
  /** When memory is unavailable every call throws `memory_unavailable` with the reason; packs run all the same. */
  readonly memory: Memory;
  readonly memoryState: MemoryState;
  readonly packs: PackEngine;
  readonly pipelines: PipelineRunner;
  readonly artifacts: ArtifactStore;
  /** Finishes what was accepted, then closes memory. Idempotent. */
  close(): Promise<void>;
}
