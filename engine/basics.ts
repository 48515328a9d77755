/**
 * The part of the engine that needs no open store: errors, limits, deadlines, text escaping. A second entry point beside index.ts
 * for code that must load quickly or must not see the rest; nothing here reaches a database.
 */

export {
  ANSWER_LIMITS,
  countWithin,
  limitsText,
  RECALL_MODES,
  RECALL_TEXT,
  type RecallMode,
  requireCount,
} from "./answer-limits.ts";
export { asHelmdeckError } from "./as-helmdeck-error.ts";
export { BoundedMap } from "./bounded-map.ts";
export { defined } from "./defined.ts";
export {
  ERROR_CODES,
  type ErrorCode,
  type ErrorDetails,
  HelmdeckError,
  invalidField,
  isHelmdeckError,
  systemCodeOf,
} from "./errors.ts";
export { harmlessBlock, harmlessLine, problemOfName } from "./facts/hostile-text.ts";
export { CONFLICT_RULES, type ConflictRule } from "./store/memory-store.ts";
export {
  type Backoff,
  backgroundTimer,
  type Clock,
  type Limits,
  nextTurn,
  onAbort,
  openLimits,
  orAborted,
  pauseAfter,
  processTimer,
  retryAfterMsOf,
  sleep,
  systemClock,
  type Timer,
  within,
} from "./timing.ts";
