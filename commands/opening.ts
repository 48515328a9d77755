/** Loaded when a memory is opened: a dynamic import of a whole door would bundle all that is behind it. */
export { openMemory } from "../app/index.ts";
