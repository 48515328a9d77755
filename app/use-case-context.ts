/** What every use case works with: one open store, the recall over it, and the clock. */
import type { MemoryStore, RunClock, UnixMs } from "../engine/index.ts";
import type { Recall } from "../recall/index.ts";

export interface UseCaseContext {
  readonly store: MemoryStore;
  readonly recall: Recall;
  readonly now: () => UnixMs;
  readonly runClock: RunClock;
}
