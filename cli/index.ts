/** The command line's public API, for its tests and the generated reference. */
export { HELMDECK_MEMORY } from "./helmdeck-memory-program.ts";
export { HELMDECK_HERE } from "./here-program.ts";
