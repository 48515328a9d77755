/**
 * All tuned numbers, with their units and the data that they were tuned on. Technical limits, such as batch sizes, are defined
 * where they apply.
 *
 * Data (always the dev halves): `people` (test/data/facts-*), `everyday` (everyday-*), `natural` (natural-*, of 58 and of 570
 * facts), `personal` (personal-*), `pairs` (pairs),
 * `paraphrases` (paraphrase*), embedded by all-MiniLM-L6-v2; `LoCoMo`: its conversations. Method:
 * docs/howto/measure-recall.md.
 *
 * A candidate's merit, the sum of features times weights, determines its order. It is sure when merit plus its lead minus
 * doubts is high enough; see recall/scoring.ts.
 */

/** Evidence for a candidate. */
interface MeritWeights {
  /** For the whole question; word features are shares of it, and rarer words weigh more. */
  readonly coverage: number;
  readonly synonyms: number;
  readonly bm25: number;
  readonly proximity: number;
  readonly context: number;
  /** Per deviation nearer to the question than chance. */
  readonly nearness: number;
  /** For being about the person who asks about themselves: decides between near equals. */
  readonly ofAsker: number;
}

/** Evidence against being sure; does not affect the order. */
interface DoubtWeights {
  /** Nothing if the model has read them. */
  readonly unknown: number;
  readonly unknownNames: number;
  /** For matching none of the words, or one of several. */
  readonly fewWords: number;
  /** For lacking whose matter is asked about, or the kind of answer. */
  readonly lacking: number;
  /** For lacking the noun that is asked for; and for having only the person or thing. */
  readonly otherNoun: number;
  readonly otherMatter: number;
}

/** How to score candidates of one kind. */
export interface KindWeights {
  readonly merit: Partial<MeritWeights>;
  readonly doubt: Partial<DoubtWeights>;
  /** How much the lead over the next document counts towards being sure, per merit: words alone tell nothing by it. */
  readonly lead: By<number>;
  /** Least merit plus lead minus doubts of a sure candidate, by words alone and with meaning: words alone reach less merit. */
  readonly sureFrom: By<number>;
  readonly chance: By<ChanceWeights>;
}

/** By words alone, and with meaning. */
interface By<T> {
  readonly words: T;
  readonly meaning: T;
}

/** The logarithm of the odds that a candidate answers: the sum of these, each times what it is named after. */
export interface ChanceWeights {
  readonly base: number;
  readonly merit: number;
  readonly lead: number;
  /** Per merit that it is behind the best. */
  readonly behind: number;
  readonly lacking: number;
}

export interface PossibleWeights {
  /** The most possible hits, and of all hits beside sure ones: of more, none is possible. */
  readonly most: number;
  /** The most in eager mode. */
  readonly mostEager: number;
  /** Below this limit of hits only one is shown, except in eager mode. */
  readonly few: number;
  /** The least chance, and beside a sure hit. */
  readonly least: number;
  readonly beside: number;
  /** Of a possible hit: for a chance of 0 and of 1. */
  readonly scores: { readonly least: number; readonly most: number };
}

export interface Weights {
  readonly fact: KindWeights;
  readonly line: KindWeights;
  readonly possible: PossibleWeights;

  readonly words: {
    /** Weight of everyday words that occur in any text, as a share of a content word's. */
    readonly everyday: number;
    /** Weight of another form of a word or a typing error, as a share of the word's own. */
    readonly related: number;
    /** The same for a match by creation date. */
    readonly date: number;
    /** Weight of a kind for its members, and of a member for its kind, as a share of a synonym's; its square if it has several kinds. */
    readonly kind: number;
    /** The least number of shared letters, and their least share of the longer word, for two forms of a word. */
    readonly sharedLetters: number;
    readonly sharedShare: number;
    /** In letters; shorter words are too close to each other to guess a correction. */
    readonly shortestTypo: number;
    /** A word distance that exceeds the query's by this many halves the closeness. */
    readonly halvingDetour: number;
  };

  readonly bm25: {
    /** BM25's k1, 0 or more. At 0, a repeated occurrence adds nothing. */
    readonly saturation: number;
    /** How much long texts are marked down, 0 (not at all) to 1. */
    readonly lengthNorm: number;
    /** Weight of an occurrence in a title or category; 1 in body, key and tags. */
    readonly lessField: number;
  };

  readonly thread: {
    /** Milliseconds between lines of a conversation that are read together. */
    readonly longestGapMs: number;
    /** The least number of lines of a conversation. */
    readonly leastLines: number;
    /** Lines to consider on each side. */
    readonly reach: number;
    /** Weight of the adjacent line's words. */
    readonly context: number;
    /** Factor for each further line. */
    readonly decay: number;
    /** The share of its similarity that the adjacent line lends, and the factor for each further line. */
    readonly lent: number;
    readonly lentDecay: number;
  };

  readonly meaning: {
    /** Deviations assumed for matching all words, when a candidate's meaning is unknown. */
    readonly ofAllWords: number;
    /**
     * With this share of the words, the assumption also applies when the meaning is known: the model may not know the language.
     */
    readonly enoughWords: number;
    /** Deviations subtracted when only the expanded question is near. */
    readonly inOtherWords: number;
  };

  /** When two facts are about the same thing (recall/topic.ts). */
  readonly similar: {
    /** The least common share of the shorter one's words; less if both begin with the same word. */
    readonly share: number;
    readonly subject: number;
    /** The least weight of the common words; 1 is one content word. */
    readonly word: number;
    /** Deviations that are enough without a common word. */
    readonly meaning: number;
  };

  /** When two facts contradict each other (recall/conflicts.ts). */
  readonly conflicts: {
    /** By what differs: the least share of words in common, of the one that has less of the other, and of the one that has more. */
    readonly least: Readonly<
      Record<
        "value" | "name" | "member" | "negation" | "change",
        { readonly share: number; readonly most: number }
      >
    >;
    /** The most words of a fact that is compared. */
    readonly words: number;
    /** The most new facts that a search waits for until they are compared: more are compared in the background. */
    readonly most: number;
    /** Among hits: the most that one of them names. */
    readonly named: number;
    /** Among hits: the most newer ones that are merely similar. */
    readonly similar: number;
    /** Among hits: how far the score of the older fact is below the newer one's, for hosts that sort by it. */
    readonly step: number;
    /** The least share of the same words in other order or notation. */
    readonly same: number;
    /** The least share of what is merely near. */
    readonly near: number;
    /** Deviations from which a model vouches for the same subject, the factor of `least` then, and below which it denies it. */
    readonly close: number;
    readonly closer: number;
    readonly apart: number;
  };

  readonly calls: {
    /** The most records of tool calls after the facts, when the question is not about past actions. */
    readonly mostBehind: number;
    /** How far their score is below the last fact's. */
    readonly step: number;
  };

  readonly copies: {
    /** The least share of common words, counted with repetitions, of near-copies. */
    readonly shared: number;
    /** The least number of words of near-copies that somebody is asked about. */
    readonly words: number;
  };
}

const LINE_CHANCE: ChanceWeights = { base: -4.5, merit: 5, lead: 0, behind: 0, lacking: 0 };

export const WEIGHTS: Weights = {
  fact: {
    // people, everyday, natural, paraphrases: the best order.
    merit: { synonyms: 0.7, bm25: 0.1, proximity: 0.1, nearness: 0.22, ofAsker: 0.01 },
    // people, everyday, natural, personal: the fewest wrong sure hits for as many right ones.
    doubt: {
      unknown: 0.35,
      unknownNames: 1,
      fewWords: 0.3,
      lacking: 5, // more than merit and lead can reach
      otherNoun: 0.15,
      otherMatter: 0.5,
    },
    lead: { words: 0, meaning: 0.6 },
    sureFrom: { words: 0.525, meaning: 0.85 },
    // Printed by `node bench/fit-chances.ts`.
    chance: {
      words: { base: -2.01, merit: 1.29, lead: 10.87, behind: -13.26, lacking: -1.36 },
      meaning: { base: -1.26, merit: 1.51, lead: 3.84, behind: -6.76, lacking: -0.99 },
    },
  },
  line: {
    // LoCoMo: the best order; then the fewest sure hits for the people set's unanswerable questions.
    merit: { coverage: 0.65, synonyms: 0.47, bm25: 0.18, proximity: 0.3, context: 1, nearness: 0.06 },
    doubt: { unknown: 0.78, unknownNames: 1.3, fewWords: 1 },
    lead: { words: 0, meaning: 0 },
    sureFrom: { words: -0.2, meaning: -0.2 },
    // A line with all words is as certain as such a fact.
    chance: { words: LINE_CHANCE, meaning: LINE_CHANCE },
  },
  possible: {
    ...{ most: 3, mostEager: 5, few: 6 },
    ...{ least: 0.08, beside: 0.2 }, // worth their tokens
    scores: { least: 0.01, most: 0.34 }, // below every sure hit, and with a host's hits of the same worth
  },
  words: {
    ...{ everyday: 0.6, related: 0.7, date: 0.7 }, // people, LoCoMo
    kind: 0.7, // everyday, natural
    ...{ sharedLetters: 4, sharedShare: 0.65, shortestTypo: 6 }, // people
    halvingDetour: 3, // LoCoMo
  },
  bm25: { saturation: 0.5, lengthNorm: 0.3, lessField: 0.5 }, // LoCoMo
  thread: {
    ...{ longestGapMs: 15 * 60_000, leastLines: 2 }, // how people write; LoCoMo
    ...{ reach: 4, context: 0.7, decay: 0.8, lent: 0.5, lentDecay: 0.5 }, // LoCoMo
  },
  meaning: { ofAllWords: 3.4, enoughWords: 0.75, inOtherWords: 0.5 }, // people, natural, paraphrases
  similar: { share: 0.5, subject: 0.25, word: 0.7, meaning: 6 }, // pairs, natural
  conflicts: {
    least: {
      value: { share: 0.33, most: 0.5 },
      name: { share: 0.6, most: 0.65 },
      member: { share: 0, most: 0.5 },
      negation: { share: 0.5, most: 0.6 },
      change: { share: 0.25, most: 0.35 },
    },
    ...{
      words: 24,
      most: 32,
      similar: 1,
      named: 3,
      step: 0.001,
      same: 0.6,
      near: 0.3,
      close: 7.5,
      closer: 0.4,
      apart: 2,
    }, // pairs
  },
  calls: { mostBehind: 1, step: 0.001 }, // facts are found as if there were no calls: bench:recall with --tool-calls
  copies: { shared: 0.8, words: 3 }, // room 12 and room 13
};
