/**
 * The engine's reader surface: all that the process seam may have of the engine, and nothing by which it could write.
 *
 * The list is frozen: test/seam/reader-surface.test.ts compares it name by name, and `npm run check:modules` lets seam/ import
 * this file only. A name more is a change of the engine with a decision record (docs/decisions/0022-…), not a convenience.
 */
export { HelmdeckError, isHelmdeckError } from "./errors.ts";
export { DEFAULT_CATEGORY, FACT_LIMITS, isReservedCategory } from "./facts/facts-policy.ts";
export { harmlessBlock, harmlessLine } from "./facts/hostile-text.ts";
export { findKey, type KeyPlaces } from "./store/find-key.ts";
export type { Entry, MemoryReader } from "./store/memory-store.ts";
export { type Namespace, namespaceOf, type Subject } from "./store/namespace.ts";
export { openSqliteReader } from "./store/sqlite/open-sqlite.ts";
export type { SqliteDriver } from "./store/sqlite/sqlite-driver.ts";
