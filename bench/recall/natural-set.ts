/** The natural set of test/data: everyday facts, questions as people ask them, and its two halves. */
import { readTestData } from "./conversations.ts";

/** Rankings are tuned only on `dev`. The other half is only for measuring. */
export type NaturalHalf = "dev" | "held-out";

export interface NaturalFact {
  readonly half: NaturalHalf;
  readonly key: string;
  readonly value: string;
  /** If absent, English. */
  readonly language?: string;
}

/** `own`: in the fact's words; `part`: shares at least one word; `paraphrase`: shares no content word. */
export type NaturalKind = "own" | "part" | "paraphrase";

interface NaturalQuestion {
  readonly half: NaturalHalf;
  readonly kind: NaturalKind;
  readonly question: string;
  /** The key of the fact that answers. */
  readonly expect: string;
  /** If absent, English. */
  readonly language?: string;
}

interface NaturalUnanswerable {
  readonly half: NaturalHalf;
  readonly question: string;
  /** The key of the closest fact, which does not answer the question. */
  readonly near?: string;
}

export interface NaturalSet {
  readonly facts: readonly NaturalFact[];
  readonly questions: readonly NaturalQuestion[];
  /** Questions about the same facts in languages other than English. */
  readonly languages: readonly NaturalQuestion[];
  readonly unanswerable: readonly NaturalUnanswerable[];
}

export function readNaturalSet(): NaturalSet {
  return {
    facts: readTestData("natural-facts"),
    questions: readTestData("natural-questions"),
    languages: readTestData("natural-languages"),
    unanswerable: readTestData("natural-unanswerable"),
  };
}
