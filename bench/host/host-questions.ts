/** The questions to the real gateway: the held-out half of the everyday questions, and 200 mixed questions about notes and memory. */
import { fileURLToPath } from "node:url";
import { type FactLine, readJsonLines } from "../recall/conversations.ts";
import { linesOfHalf, type NaturalAnswer } from "../recall/natural.ts";
import { readNaturalSet } from "../recall/natural-set.ts";
import { lineOf } from "../recall/paraphrases.ts";
import { peopleQuestions } from "../recall/people-facts.ts";
import { unrelatedFact } from "../recall/unrelated-facts.ts";

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

/** The facts of the held-out half, filled up with unrelated ones. */
export function factsOfSize(size: number): readonly FactLine[] {
  const own = linesOfHalf("held-out");
  return [...own, ...Array.from({ length: size - own.length }, (_none, number) => unrelatedFact(number))];
}

/** The English questions of the held-out half, including those without an answer. */
export function heldOutQuestions(): readonly HostQuestion[] {
  return naturalQuestions("held-out", true);
}

function naturalQuestions(half: "dev" | "held-out", withUnanswerable: boolean): readonly HostQuestion[] {
  const { questions, unanswerable } = readNaturalSet();
  const answerable = questions
    .filter((one) => one.half === half)
    .map(({ kind, question, expect }) => ({ kind, question, wanted: expect }));
  if (!withUnanswerable) return answerable;
  const others = unanswerable.filter((one) => one.half === half);
  return [
    ...answerable,
    ...others.map(({ question }) => ({ kind: "unanswerable" as const, question, wanted: undefined })),
  ];
}

/** Notes: the facts of the dev half and the 20 everyday ones. Memory: the facts of the held-out half and the 187 facts that people store. */
export function mixedQuestions(): Mixed {
  const everyday = linesAt<{ key: string; value: string }>("everyday-facts.jsonl");
  const asked = linesAt<{ question: string; expect?: string }>("everyday-questions.jsonl");
  const people = peopleQuestions().filter(({ kind }) => kind === "partial");
  return {
    notes: [
      ...linesOfHalf("dev"),
      ...everyday.map(({ key, value }, place) => lineOf({ key: `note/${key}`, fact: value }, place)),
    ],
    facts: [
      ...linesOfHalf("held-out"),
      ...linesAt<FactLine>("facts-people-store.jsonl").filter(({ key }) => key !== undefined),
    ],
    aboutNotes: [
      ...naturalQuestions("dev", false),
      ...asked.flatMap(({ question, expect }) =>
        expect === undefined ? [] : [{ kind: "part" as const, question, wanted: `note/${expect}` }],
      ),
    ].slice(0, ABOUT_EACH),
    aboutFacts: [
      ...naturalQuestions("held-out", false),
      ...people.map(({ question, expect }) => ({ kind: "part" as const, question, wanted: expect[0] })),
    ].slice(0, ABOUT_EACH),
  };
}

function linesAt<T>(name: string): readonly T[] {
  return readJsonLines<T>(fileURLToPath(new URL(`../../test/data/${name}`, import.meta.url)));
}
