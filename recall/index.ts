/** Recall's public API. */

export { substringsOf } from "./analysis/substrings.ts";
export type { Embedder, Embeddings, EmbedOptions } from "./embedder.ts";
export type { IndexLimits } from "./index-cache.ts";
export { type ReferenceCache, ReferenceVectors } from "./meaning/reference-vectors.ts";
export { createRecall, type RecallOptions } from "./recall.ts";
export type {
  CorpusChanges,
  CorpusSource,
  Recall,
  RecallAnswer,
  RecallHit,
  RecallQuery,
} from "./search-contract.ts";
export type {
  Coverage,
  EmbeddingStatus,
  SemanticHit,
  SemanticIndex,
  VectorCache,
  VectorFollower,
} from "./vectors/semantic-contract.ts";
export { createSemanticIndex, type SemanticIndexOptions } from "./vectors/semantic-index.ts";
export { type PossibleWeights, WEIGHTS } from "./weights.ts";
