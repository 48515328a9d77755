/** The process seam: what a dev-loop process may ask of memory. */

export { PHASES } from "./phases.ts";
export { isSlug } from "./project-keys.ts";
export { type RecallRequest, recallProject } from "./recall-here.ts";
export { createSeam, type SeamOptions } from "./seam.ts";
export type {
  FactHere,
  HereContext,
  Seam,
  StateFile,
} from "./seam-contract.ts";
