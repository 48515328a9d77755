/** Entry point for moving a memory to another store. It loads stores that the OpenClaw plugin does not contain. */
export { addressAs } from "./database-server/store-address.ts";
export { type MovedMemory, type MovePlan, moveMemory, planMove, reopenMemory } from "./moving/move-memory.ts";
export {
  keyOfMove,
  type PlaceAddress,
  placeAddress,
  prepareStore,
  storePlace,
} from "./moving/store-place.ts";
