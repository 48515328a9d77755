/**
 * The engine's read-only API for the process seam: it offers no way to write.
 *
 * The list is frozen: test/seam/reader-surface.test.ts compares it name by name, and `npm run check:modules` lets seam/ import
 * this file only. Adding a name needs a decision record (docs/decisions/0022-the-engines-reader-surface.md).
 */
export { HelmdeckError, isHelmdeckError } from "./errors.ts";
export { DEFAULT_CATEGORY, FACT_LIMITS, isReservedCategory } from "./facts/facts-policy.ts";
export { harmlessBlock, harmlessLine } from "./facts/hostile-text.ts";
export { findKey, type KeyPlaces } from "./store/find-key.ts";
export type { Entry, MemoryReader } from "./store/memory-store.ts";
export { type Namespace, namespaceOf, type Subject } from "./store/namespace.ts";
export { openSqliteReader } from "./store/sqlite/open-sqlite.ts";
export type { SqliteDriver } from "./store/sqlite/sqlite-driver.ts";
