/** The paraphrase set of test/data: facts, questions about them in other words, questions without an answer, and its two halves. */
import { createHash } from "node:crypto";
import { readTestData } from "./conversations.ts";

/** A fact as people store it, and a question that it answers although they share no content word. */
export interface Paraphrase {
  readonly id: string;
  readonly kind: string;
  readonly key: string;
  readonly fact: string;
  readonly question: string;
}

/** A question that no fact of the set answers. */
interface Unanswerable {
  readonly id: string;
  readonly kind: string;
  readonly question: string;
  /** The key of the closest fact: one that answers another question about the same subject. */
  readonly near?: string;
}

export interface ParaphraseSet {
  readonly pairs: readonly Paraphrase[];
  readonly unanswerable: readonly Unanswerable[];
}

/** Rankings are tuned only on `dev`. */
export type Half = "dev" | "held out";

export function readParaphraseSet(): ParaphraseSet {
  return {
    pairs: readTestData<Paraphrase>("paraphrase"),
    unanswerable: readTestData<Unanswerable>("paraphrase-unanswerable"),
  };
}

/** Depends only on the id, so that a new line does not move any other line to the other half. */
export function halfOf({ id }: { readonly id: string }): Half {
  const [first = 0] = createHash("sha256").update(id).digest();
  return first % 2 === 0 ? "dev" : "held out";
}
