/** The process seam: what a dev-loop process may ask of memory. */

export type { MemoryHere } from "./memory-here.ts";
export { PHASES } from "./phases.ts";
export { isSlug } from "./project-keys.ts";
export { type RecallParts, type RecallRequest, type RecallText, recallProject } from "./recall-here.ts";
export { createSeam, type SeamOptions } from "./seam.ts";
export {
  type FactHere,
  type FactsHere,
  type FactsHerePage,
  type FactsHereQuery,
  type HereContext,
  type RankFacts,
  type RecallHereOptions,
  type SaveOffer,
  type SaveTarget,
  type Seam,
  STATE_FILES,
  type StateFile,
} from "./seam-contract.ts";
