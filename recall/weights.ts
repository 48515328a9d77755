/**
 * Every number that was chosen by looking at answers, with its unit and what it was chosen on. Technical limits, such as batch sizes,
 * stand where they apply.
 *
 * Data, all of it on the halves called dev: `people` (test/data/facts-*), `everyday` (everyday-*), `natural` (natural-*, of 58 and of
 * 570 facts), `paraphrases` (paraphrase*), embedded by all-MiniLM-L6-v2; `LoCoMo`: its conversations. How: docs/howto/measure-recall.md.
 *
 * A candidate's features times its weights are its merit, which orders, and its doubts. It is sure where the merit less the doubts is
 * enough; see recall/judge.ts.
 */

/** What speaks for a candidate. */
interface MeritWeights {
  /** For the whole question; features of words are shares of it, rarer words weighing more. */
  readonly coverage: number;
  readonly synonyms: number;
  readonly bm25: number;
  readonly proximity: number;
  readonly context: number;
  /** For each deviation that it lies nearer to the question than chance. */
  readonly nearness: number;
}

/** What speaks against being sure of it; it moves no order. */
interface DoubtWeights {
  readonly unknown: number;
  readonly unknownNames: number;
  /** For having none of the words, or one of several. */
  readonly fewWords: number;
}

/** How candidates of one kind are judged. */
export interface KindWeights {
  readonly merit: Partial<MeritWeights>;
  readonly doubt: DoubtWeights;
  /** Merit less doubts from which one is sure. */
  readonly sureFrom: number;
  /** Merit that a sure one may have less than the best. */
  readonly gap: number;
  /** Whether one that is sure makes all of them so, as in a conversation. */
  readonly together: boolean;
  /** The merit at which certainty, 0 to 1, is a half. */
  readonly even: number;
}

export interface PossibleWeights {
  /** At most so many, … */
  readonly most: number;
  /** … where recall is eager so many, … */
  readonly mostEager: number;
  /** … and one where fewer hits than this are asked for, unless recall is eager. */
  readonly few: number;
  /** The least certainty, 0 to 1, … */
  readonly floor: number;
  /** … and the least share of the best candidate's. */
  readonly ratio: number;
  /** What a certainty of 1 scores: every possible hit stays below it. */
  readonly scale: number;
}

export interface Weights {
  readonly fact: KindWeights;
  readonly line: KindWeights;
  /** Merit for being named by its key, docid or path. */
  readonly named: number;
  /** How steeply certainty rises there, per merit. */
  readonly steepness: number;
  readonly possible: PossibleWeights;

  readonly words: {
    /** Of a content word's weight; for words of everyday speech that stand in any text. */
    readonly everyday: number;
    /** Of the asked word's own value, what another form of it or a slip of the keyboard is worth, … */
    readonly related: number;
    /** … and that an entry was made on the date that was asked for. */
    readonly date: number;
    /** Other forms share so many letters, and this share of the longer word. */
    readonly sharedLetters: number;
    readonly sharedShare: number;
    /** Letters; shorter words are too close to one another to guess which was meant. */
    readonly shortestTypo: number;
    /** Words farther apart than asked by this many are half as close. */
    readonly halvingDetour: number;
  };

  readonly bm25: {
    /** How little a second occurrence adds, 0 (nothing) and up. */
    readonly saturation: number;
    /** How much long texts are marked down, 0 (not at all) to 1. */
    readonly lengthNorm: number;
    /** What one occurrence in a title or category counts; in body, key and tags it counts 1. */
    readonly lessField: number;
  };

  readonly thread: {
    /** Milliseconds between lines of a conversation. What is written faster comes from an import, whose order says nothing. */
    readonly shortestGapMs: number;
    readonly longestGapMs: number;
    /** Fewer lines around than this are no conversation. */
    readonly leastLines: number;
    /** Lines looked at to each side, … */
    readonly reach: number;
    /** … what the next one's words are worth, … */
    readonly context: number;
    /** … what is left of that one place farther, … */
    readonly decay: number;
    /** … the share of its nearness that the next one lends, and what is left of that one place farther. */
    readonly lent: number;
    readonly lentDecay: number;
  };

  readonly meaning: {
    /** Deviations that all words of the question stand for, where a candidate's meaning is not known. */
    readonly ofAllWords: number;
    /** With this share of the words they stand for as many also where it is: a model may not know the language. */
    readonly enoughWords: number;
    /** Deviations taken off what is near only to the question in other words. */
    readonly inOtherWords: number;
  };

  readonly similar: {
    /** The least score with which a fact found by another one's value is about the same matter. */
    readonly from: number;
  };

  readonly calls: {
    /** Records of tool calls behind the facts, where the question does not ask what was done, … */
    readonly mostBehind: number;
    /** … and how much lower than the last fact they score. */
    readonly step: number;
  };

  readonly copies: {
    /** Near-copies share so much of their words, counted with repetitions. */
    readonly shared: number;
  };
}

export const WEIGHTS: Weights = {
  fact: {
    // people, everyday, natural, paraphrases: the most right sure hits of which 95 % are right, then the best order.
    merit: { synonyms: 0.7, bm25: 0.1, proximity: 0.1, nearness: 0.22 },
    doubt: { unknown: 0.55, unknownNames: 1, fewWords: 0.3 },
    sureFrom: 0.5,
    gap: 0.07,
    together: false,
    even: 0.65, // people: a fact asked for in its own words scores about 0.9
  },
  line: {
    // LoCoMo: the best order; then as few of the people's unanswerable questions with a sure hit as can be had for it.
    merit: { coverage: 0.65, synonyms: 0.47, bm25: 0.18, proximity: 0.3, context: 1, nearness: 0.06 },
    doubt: { unknown: 0.78, unknownNames: 1.3, fewWords: 1 },
    sureFrom: -0.2,
    gap: Number.POSITIVE_INFINITY,
    together: true,
    even: 0.9, // a line with all words is as certain as such a fact
  },
  named: 3, // more than words and meaning can give
  steepness: 5, // people, as above
  possible: { most: 2, mostEager: 3, few: 6, floor: 0.02, ratio: 0.8, scale: 0.35 }, // people, natural, paraphrases: the curve
  words: {
    ...{ everyday: 0.6, related: 0.7, date: 0.7 }, // people, LoCoMo
    ...{ sharedLetters: 4, sharedShare: 0.65, shortestTypo: 6 }, // people
    halvingDetour: 3, // LoCoMo
  },
  bm25: { saturation: 0.5, lengthNorm: 0.3, lessField: 0.5 }, // LoCoMo
  thread: {
    ...{ shortestGapMs: 1_000, longestGapMs: 15 * 60_000, leastLines: 2 }, // how people write; LoCoMo
    ...{ reach: 4, context: 0.7, decay: 0.8, lent: 0.5, lentDecay: 0.5 }, // LoCoMo
  },
  meaning: { ofAllWords: 3.4, enoughWords: 0.75, inOtherWords: 0.5 }, // people, natural, paraphrases
  similar: { from: 0.028 }, // natural, and the corrections of test/app/similar-facts.test.ts: all of these, and three of 58 facts that are about something else
  calls: { mostBehind: 1, step: 0.001 }, // that facts are found as if there were no calls: bench:recall with --tool-calls
  copies: { shared: 0.8 }, // room 12 and room 13
};
