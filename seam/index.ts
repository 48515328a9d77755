/** The process seam: what a dev-loop process may ask of memory. */
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
} from "./contract.ts";
export type { MemoryHere } from "./memory-here.ts";
export { PHASES } from "./phases.ts";
export { isSlug } from "./project-keys.ts";
export { type RecallParts, type RecallRequest, type RecallText, recallProject } from "./recall.ts";
export { createSeam, type SeamOptions } from "./seam.ts";
