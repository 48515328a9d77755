/** The door to what moves a memory to another store; with it come the stores that OpenClaw's plugin does not load. */
export { type MovedMemory, type MovePlan, moveMemory, planMove, reopenMemory } from "./moving/move-memory.ts";
export {
  keyOfMove,
  type PlaceAddress,
  placeAddress,
  prepareStore,
  storePlace,
} from "./moving/store-place.ts";
