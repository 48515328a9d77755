/** Loaded when a memory is opened. A dynamic import of a whole index module would bundle everything in it. */
export { openMemory } from "../app/open-memory.ts";
