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
  /** Share of BM25 in the rank; the rest of the words' part is how much of the query is covered at all. */
  readonly bm25Share: number;
  /** Most that words standing together, as in the query, add. */
  readonly proximity: number;
  /** Most that neighbours add to a chunk that matches by itself: in a thread, and merely near. */
  readonly threadContext: number;
  readonly nearContext: number;
  /** Places to each side that are looked at, and what one place more takes from the influence. */
  readonly reach: number;
  readonly decay: number;
  /** How many chunks are looked at closely. */
  readonly candidates: number;
  /** False: nothing is cut off, and everything counts as an answer. For measuring what the cut-off costs. */
  readonly cutOff: CutOff | false;
  readonly possible: PossibleRule;
}

/** Which candidates are shown, as possible hits, where the cut-off leaves nothing. Chosen in decision 31. */
export interface PossibleRule {
  /** At most so many, … */
  readonly most: number;
  /** … where eager recall is asked for so many, … */
  readonly mostEager: number;
  /** … and one where fewer hits than this are asked for, unless recall is eager. */
  readonly few: number;
  /** The least score before the cut-off … */
  readonly floor: number;
  /** … and the least share of the best candidate's. */
  readonly ratio: number;
  /** What is left of that score: whatever it was, a possible hit stays below 0.35. */
  readonly scale: number;
}

/** When a match is noise. Shares are of the query's weight, rare words weighing more. */
export interface CutOff {
  /** A fact that stands alone must answer this share of the query … */
  readonly coverage: number;
  /** … and more when the namespace has never heard of some of it: this much of the unknown share is taken off. */
  readonly unknownPenalty: number;
  /** With a single word of several matched, it must be nearly all of the query. */
  readonly singleWordCoverage: number;
  /** A larger share of names and numbers missing means that another thing is meant. */
  readonly missingNames: number;
  /**
   * A line of a thread rarely repeats what was asked, so it is judged with half of what the lines around it answer. Some
   * line with more than one word of the question must reach `threadBest`; then each that reaches `threadLine` counts.
   */
  readonly threadBest: number;
  readonly threadLine: number;
  /** A thread that has never heard of this share of names and numbers speaks of something else. */
  readonly threadUnknownNames: number;
}

export const DEFAULT_RANKING: Ranking = {
  saturation: 0.5,
  lengthNorm: 0.3,
  keyWeight: 1,
  tagWeight: 1,
  titleWeight: 0.5,
  categoryWeight: 0.5,
  bm25Share: 0.35,
  proximity: 0.25,
  threadContext: 0.7,
  nearContext: 0.2,
  reach: 4,
  decay: 0.8,
  candidates: 150,
  cutOff: {
    coverage: 0.5,
    unknownPenalty: 0.55,
    singleWordCoverage: 0.75,
    missingNames: 0.15,
    threadBest: 0.27,
    threadLine: 0.1,
    threadUnknownNames: 0.3,
  },
  possible: { most: 2, mostEager: 3, few: 6, floor: 0.1, ratio: 0.5, scale: 0.35 },
};
