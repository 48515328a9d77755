/** The process seam: read-only memory access for dev-loop processes. */

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
