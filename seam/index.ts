/** The process seam: read-only memory access for dev-loop processes. */

export { askReader } from "./memory-here.ts";
export { PHASES } from "./phases.ts";
export { findProject } from "./project.ts";
export { isSlug, projectPrefix } from "./project-keys.ts";
export { type RecallRequest, recallProject } from "./recall-here.ts";
export { createSeam, type SeamOptions } from "./seam.ts";
export type {
  FactHere,
  HereContext,
  Seam,
  StateFile,
} from "./seam-contract.ts";
