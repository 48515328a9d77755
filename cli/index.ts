/** The command line's public surface, for its tests and the reference that is made from its help. */
export { HELMDECK_HERE } from "./here-program.ts";
export { runCommandLine } from "./run-program.ts";
