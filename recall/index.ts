/** Recall's public surface. */
export type {
  CorpusChanges,
  CorpusSource,
  Recall,
  RecallAnswer,
  RecallHit,
  RecallQuery,
} from "./contract.ts";
