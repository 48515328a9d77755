/** The paraphrase set of test/data: facts asked for in other words, questions that none answers, and its two halves. */
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { readJsonLines } from "./conversations.ts";

/** A fact as people store it, and a question that it answers without sharing a word that says anything. */
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
  /** The key of the fact that it comes close to: one that answers something else about the same matter. */
  readonly near?: string;
}

export interface ParaphraseSet {
  readonly pairs: readonly Paraphrase[];
  readonly unanswerable: readonly Unanswerable[];
}

/** Rankings are tuned on `dev` alone. */
export type Half = "dev" | "held out";

const DATA = new URL("../../test/data/", import.meta.url);

export function readParaphraseSet(): ParaphraseSet {
  return {
    pairs: readJsonLines<Paraphrase>(fileURLToPath(new URL("paraphrase.jsonl", DATA))),
    unanswerable: readJsonLines<Unanswerable>(fileURLToPath(new URL("paraphrase-unanswerable.jsonl", DATA))),
  };
}

/** Decided by the id alone, so that a line added later moves no other one. */
export function halfOf({ id }: { readonly id: string }): Half {
  const [first = 0] = createHash("sha256").update(id).digest();
  return first % 2 === 0 ? "dev" : "held out";
}
