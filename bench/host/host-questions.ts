/** The questions to the real gateway: 200 mixed ones about notes and memory. */
import { type FactLine, readTestData } from "../recall/conversations.ts";
import { linesOfHalf, type NaturalAnswer } from "../recall/natural.ts";
import { readNaturalSet } from "../recall/natural-set.ts";
import { lineOf } from "../recall/paraphrases.ts";
import { peopleQuestions } from "../recall/people-facts.ts";

export interface HostQuestion {
  readonly kind: NaturalAnswer["kind"];
  readonly question: string;
  /** The key of the fact that answers the question. */
  readonly wanted: string | undefined;
}

/** The host's notes, our facts, and questions about both. */
export interface Mixed {
  readonly notes: readonly FactLine[];
  readonly facts: readonly FactLine[];
  /** Questions that a note answers. */
  readonly aboutNotes: readonly HostQuestion[];
  /** Questions that a fact answers. */
  readonly aboutFacts: readonly HostQuestion[];
}

const ABOUT_EACH = 100;

function naturalQuestions(half: "dev" | "held-out"): readonly HostQuestion[] {
  return readNaturalSet()
    .questions.filter((one) => one.half === half)
    .map(({ kind, question, expect }) => ({ kind, question, wanted: expect }));
}

/** Notes: the facts of the dev half and the 20 everyday ones. Memory: the facts of the held-out half and the 187 facts that people store. */
export function mixedQuestions(): Mixed {
  const everyday = readTestData<{ key: string; value: string }>("everyday-facts");
  const asked = readTestData<{ question: string; expect?: string }>("everyday-questions");
  const people = peopleQuestions().filter(({ kind }) => kind === "partial");
  return {
    notes: [
      ...linesOfHalf("dev"),
      ...everyday.map(({ key, value }, place) => lineOf({ key: `note/${key}`, fact: value }, place)),
    ],
    facts: [
      ...linesOfHalf("held-out"),
      ...readTestData<FactLine>("facts-people-store").filter(({ key }) => key !== undefined),
    ],
    aboutNotes: [
      ...naturalQuestions("dev"),
      ...asked.flatMap(({ question, expect }) =>
        expect === undefined ? [] : [{ kind: "part" as const, question, wanted: `note/${expect}` }],
      ),
    ].slice(0, ABOUT_EACH),
    aboutFacts: [
      ...naturalQuestions("held-out"),
      ...people.map(({ question, expect }) => ({ kind: "part" as const, question, wanted: expect[0] })),
    ].slice(0, ABOUT_EACH),
  };
}
