/** The natural set of test/data: everyday facts, questions as people ask them, and its two halves. */
import { fileURLToPath } from "node:url";
import { readJsonLines } from "./conversations.ts";

/** Rankings are tuned on `dev` alone; the other half is only measured. */
export type NaturalHalf = "dev" | "held-out";

export interface NaturalFact {
  readonly half: NaturalHalf;
  readonly key: string;
  readonly value: string;
  /** Absent: English. */
  readonly language?: string;
}

/** `own`: in the fact's words; `part`: at least one of them; `paraphrase`: none that says anything. */
export type NaturalKind = "own" | "part" | "paraphrase";

interface NaturalQuestion {
  readonly half: NaturalHalf;
  readonly kind: NaturalKind;
  readonly question: string;
  /** The key of the fact that answers. */
  readonly expect: string;
  /** Absent: English. */
  readonly language?: string;
}

interface NaturalUnanswerable {
  readonly half: NaturalHalf;
  readonly question: string;
  /** The key of the fact that it comes close to. */
  readonly near?: string;
}

export interface NaturalSet {
  readonly facts: readonly NaturalFact[];
  readonly questions: readonly NaturalQuestion[];
  /** Questions in other languages than English, about the same facts. */
  readonly languages: readonly NaturalQuestion[];
  readonly unanswerable: readonly NaturalUnanswerable[];
}

export function readNaturalSet(): NaturalSet {
  return {
    facts: linesOf("facts"),
    questions: linesOf("questions"),
    languages: linesOf("languages"),
    unanswerable: linesOf("unanswerable"),
  };
}

function linesOf<T>(name: string): readonly T[] {
  return readJsonLines<T>(fileURLToPath(new URL(`../../test/data/natural-${name}.jsonl`, import.meta.url)));
}
