/**
 * The engine's reader surface: all that the process seam may have of the engine, and nothing by which it could write.
 *
 * The list is frozen: test/seam/reader-surface.test.ts compares it name by name, and `npm run check:rooms` lets seam/ import
 * this file only. A name more is a change of the engine with a decision record (docs/decisions/0022-…), not a convenience.
 */
export { HelmdeckError, isHelmdeckError } from "./errors.ts";
export { harmlessBlock, harmlessLine } from "./facts/hostile-text.ts";
export { DEFAULT_CATEGORY, FACT_LIMITS, isReservedCategory } from "./facts/policy.ts";
export type { Entry, ListQuery, MemoryReader } from "./memory/contract.ts";
export { findKey, type KeyPlaces } from "./memory/keys.ts";
export { type Namespace, namespaceOf, type Subject } from "./memory/namespace.ts";
export type { SqliteDriver } from "./memory/sqlite/driver.ts";
export { openSqliteReader } from "./memory/sqlite/open.ts";
