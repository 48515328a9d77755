/**
 * All tuned numbers, with their units and the data that they were tuned on. Technical limits stand where they apply.
 *
 * Data (always the dev halves): `people` (test/data/facts-*), `everyday`, `natural` (of 58 and of 570 facts), `personal`, `pairs` and
 * `paraphrases` (test/data), embedded by all-MiniLM-L6-v2; `LoCoMo`: its conversations. Method: docs/howto/measure-recall.md.
 *
 * A candidate's merit, the sum of features times weights, determines its order. It is sure when merit plus its lead minus
 * doubts is high enough; see recall/scoring.ts.
 */

/** By words alone, and with meaning. */
type By<T> = Readonly<Record<"words" | "meaning", T>>;

/** The logarithm of the odds that a candidate answers: the sum of these, each times what it is named after. */
export interface ChanceWeights {
  readonly base: number;
  readonly merit: number;
  readonly lead: number;
  /** Per merit that it is behind the best. */
  readonly behind: number;
  readonly lacking: number;
}

/** How to score candidates of one kind. */
export interface KindWeights {
  /** Evidence: for the whole question, where word features are shares of it, and rarer words weigh more; `nearness` per deviation. */
  readonly merit: Readonly<Partial<Record<MeritFeature, number>>>;
  /** Evidence against being sure; does not affect the order. */
  readonly doubt: Readonly<Partial<Record<DoubtFeature, number>>>;
  /** How much the lead over the next document counts towards being sure, per merit: words alone tell nothing by it. */
  readonly lead: By<number>;
  /** Least merit plus lead minus doubts of a sure candidate: words alone reach less merit. */
  readonly sureFrom: By<number>;
  readonly chance: By<ChanceWeights>;
}

type MeritFeature = "coverage" | "synonyms" | "bm25" | "proximity" | "context" | "nearness" | "ofAsker";
type DoubtFeature = "unknown" | "unknownNames" | "fewWords" | "lacking" | "otherNoun" | "otherMatter";

export type PossibleWeights = Readonly<Record<"most" | "mostEager" | "few" | "least" | "beside", number>> & {
  readonly scores: { readonly least: number; readonly most: number };
};

const LINE_CHANCE: ChanceWeights = { base: -4.5, merit: 5, lead: 0, behind: 0, lacking: 0 };

const FACT: KindWeights = {
  // people, everyday, natural, paraphrases: the best order. `ofAsker` decides between near equals.
  merit: { synonyms: 0.7, bm25: 0.1, proximity: 0.1, nearness: 0.22, ofAsker: 0.01 },
  // people, everyday, natural, personal: the fewest wrong sure hits for as many right ones. `lacking`: more than merit and lead reach.
  doubt: { unknown: 0.35, unknownNames: 1, fewWords: 0.3, lacking: 5, otherNoun: 0.15, otherMatter: 0.5 },
  lead: { words: 0, meaning: 0.6 },
  sureFrom: { words: 0.525, meaning: 0.85 },
  // Printed by `node bench/fit-chances.ts`.
  chance: {
    words: { base: -2, merit: 1.31, lead: 10.83, behind: -13.2, lacking: -1.37 },
    meaning: { base: -1.27, merit: 1.51, lead: 3.85, behind: -6.72, lacking: -0.98 },
  },
};

const LINE: KindWeights = {
  // LoCoMo: the best order; then the fewest sure hits for the people set's unanswerable questions.
  merit: { coverage: 0.65, synonyms: 0.47, bm25: 0.18, proximity: 0.3, context: 1, nearness: 0.06 },
  doubt: { unknown: 0.78, unknownNames: 1.3, fewWords: 1 },
  lead: { words: 0, meaning: 0 },
  sureFrom: { words: -0.2, meaning: -0.2 },
  // A line with all words is as certain as such a fact.
  chance: { words: LINE_CHANCE, meaning: LINE_CHANCE },
};

const POSSIBLE: PossibleWeights = {
  /** The most possible hits, and of all hits beside sure ones: of more, none is possible. In eager mode, and in others below so few hits, one. */
  ...{ most: 3, mostEager: 5, few: 6 },
  /** The least chance, and beside a sure hit: worth their tokens. */
  ...{ least: 0.08, beside: 0.2 },
  /** For a chance of 0 and of 1: below every sure hit, and with a host's hits of the same worth. */
  scores: { least: 0.01, most: 0.34 },
};

export const WEIGHTS = {
  fact: FACT,
  line: LINE,
  possible: POSSIBLE,
  words: {
    /** Of everyday words that occur in any text, as a share of a content word's: people, LoCoMo. */
    everyday: 0.6,
    /** Of another form of a word or a typing error, and of a match by creation date, as a share of the word's own: people, LoCoMo. */
    ...{ related: 0.7, date: 0.7 },
    /** Of a kind for its members, and of a member for its kind, as a share of a synonym's; its square if it has several kinds: everyday, natural. */
    kind: 0.7,
    /** The least number of shared letters, and their least share of the longer word, for two forms of a word: people. */
    ...{ sharedLetters: 4, sharedShare: 0.65 },
    /** In letters; shorter words are too close to each other to guess a correction: people. */
    shortestTypo: 6,
    /** A word distance that exceeds the query's by this many halves the closeness: LoCoMo. */
    halvingDetour: 3,
  },
  bm25: {
    /** BM25's k1, 0 or more (at 0, a repeated occurrence adds nothing), and how much long texts are marked down, 0 to 1: LoCoMo. */
    ...{ saturation: 0.5, lengthNorm: 0.3 },
    /** Of an occurrence in a title or category; 1 in body, key and tags: LoCoMo. */
    lessField: 0.5,
  },
  thread: {
    /** Milliseconds between lines of a conversation that are read together, and the least number of them: how people write; LoCoMo. */
    ...{ longestGapMs: 15 * 60_000, leastLines: 2 },
    /** Lines to consider on each side, the weight of the adjacent line's words, and the factor for each further line: LoCoMo. */
    ...{ reach: 4, context: 0.7, decay: 0.8 },
    /** The share of its similarity that the adjacent line lends, and the factor for each further line: LoCoMo. */
    ...{ lent: 0.5, lentDecay: 0.5 },
  },
  meaning: {
    /** Deviations assumed for matching all words, when a candidate's meaning is unknown: people, natural, paraphrases. */
    ofAllWords: 3.4,
    /** With this share of the words, also when the meaning is known: the model may not know the language. */
    enoughWords: 0.75,
    /** Deviations subtracted when only the expanded question is near. */
    inOtherWords: 0.5,
  },
  /** When two facts are about the same thing (recall/topic.ts): pairs, natural. */
  similar: {
    /** The least common share of the shorter one's words; less if both begin with the same word. */
    ...{ share: 0.5, subject: 0.25 },
    /** The least weight of the common words; 1 is one content word. */
    word: 0.7,
    /** Deviations that are enough without a common word. */
    meaning: 6,
  },
  /** When two facts contradict each other (recall/conflicts.ts): pairs. */
  conflicts: {
    /** By what differs: the least share of words in common, of the one that has less of the other, and of the one that has more. */
    least: {
      value: { share: 0.33, most: 0.5 },
      name: { share: 0.6, most: 0.65 },
      member: { share: 0, most: 0.5 },
      negation: { share: 0.5, most: 0.6 },
      change: { share: 0.25, most: 0.35 },
    },
    /** The most words of a fact that is compared, and new facts that a search waits for until they are: more, in the background. */
    ...{ words: 24, most: 32 },
    /** Among hits: the most that one of them names, and the most newer ones that are merely similar. */
    ...{ named: 3, similar: 1 },
    /** Among hits: how far the score of the older fact is below the newer one's, for hosts that sort by it. */
    step: 0.001,
    /** The least share of the same words in other order or notation, and of what is merely near. */
    ...{ same: 0.6, near: 0.3 },
    /** Deviations from which a model vouches for the same subject, the factor of `least` then, and below which it denies it. */
    ...{ close: 7.5, closer: 0.4, apart: 2 },
  },
  /** The most records of tool calls after facts, when the question is not about past actions, and how far below the last one's score. */
  calls: { mostBehind: 1, step: 0.001 }, // facts are found as if there were no calls: bench:recall with --tool-calls
  /** The least share of common words, counted with repetitions, of near-copies, and their least number that somebody is asked about. */
  copies: { shared: 0.8, words: 3 }, // room 12 and room 13
} as const;
