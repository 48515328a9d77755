/** Entry point for moving a store to another place. Only the move command imports it. */
export {
  type MovableStore,
  movedError,
  type StoreHead,
} from "./store/moving/movable-store.ts";
export {
  copyRows,
  countRows,
  type MovedRows,
  type RowCounts,
  verifyRows,
} from "./store/moving/move-store.ts";
export { openMovableSqlite } from "./store/sqlite/movable-sqlite.ts";
