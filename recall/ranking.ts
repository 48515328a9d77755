/** The numbers that ranking turns on, with the values the plugin uses. They are general: fitted to no data set's words. */

export interface Ranking {
  /** BM25's saturation: how little a second occurrence adds. */
  readonly saturation: number;
  /** BM25's length normalisation, 0 (none) to 1. */
  readonly lengthNorm: number;
  /** What one occurrence in a short field counts, where one in the body counts 1. */
  readonly keyWeight: number;
  readonly tagWeight: number;
  readonly titleWeight: number;
  readonly categoryWeight: number;
  /** Share of the rank that comes from BM25; the rest is how much of the query is covered at all. */
  readonly bm25Share: number;
  /** Most that words standing together, as in the query, add. */
  readonly proximity: number;
  /** Most that neighbours (same key prefix, near in time) add to a chunk that matches by itself. */
  readonly neighbour: number;
  readonly neighbourWithinMs: number;
  /** Hits below this are noise and not returned. */
  readonly cutOff: number;
  /** How many chunks are looked at closely. */
  readonly candidates: number;
}

export const DEFAULT_RANKING: Ranking = {
  saturation: 0.8,
  lengthNorm: 0.3,
  keyWeight: 1,
  tagWeight: 1,
  titleWeight: 0.5,
  categoryWeight: 0.5,
  bm25Share: 0.6,
  proximity: 0.15,
  neighbour: 0.2,
  neighbourWithinMs: 15 * 60 * 1000,
  cutOff: 0.3,
  candidates: 300,
};
