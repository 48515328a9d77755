/** The command line's public surface, for its tests and the reference that is made from its help. */
export { HELMDECK_MEMORY } from "./helmdeck-memory-program.ts";
export { HELMDECK_HERE } from "./here-program.ts";
