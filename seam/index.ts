/** The process seam: read-only memory access for dev-loop processes. */

export { findProject, isSlug, projectPrefix } from "./project.ts";
export { PHASES, type RecallRequest, recallProject } from "./recall-here.ts";
export { askReader, createSeam, type SeamOptions } from "./seam.ts";
export type {
  FactHere,
  HereContext,
  Seam,
  StateFile,
} from "./seam-contract.ts";
