/** The context of every use case: one open store, its recall, and the clock. */

import type { RunClock } from "../engine/audit/audit-keys.ts";
import type { MemoryStore, UnixMs } from "../engine/store/memory-store.ts";
import type { Timer } from "../engine/timing.ts";
import type { Recall } from "../recall/search-contract.ts";

import type { KeysInUse } from "./keys-in-use.ts";
import type { PinnedKeys } from "./pinned-keys.ts";
import type { ToolHistory } from "./tool-history.ts";

export interface UseCaseContext {
  readonly store: MemoryStore;
  readonly recall: Recall;
  readonly keys: KeysInUse;
  readonly pinned: PinnedKeys;
  readonly now: () => UnixMs;
  /** The life of a fact whose writer names none. */
  readonly defaultTtlSeconds: number;
  readonly runClock: RunClock;
  readonly toolHistory: ToolHistory;
  readonly timer: Timer;
}
