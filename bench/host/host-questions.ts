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

/** A word, the note that answers, the question, and facts of ours that have the word too. */
const CROWDED = [
  [
    "sailboat",
    "The mooring of the sailboat costs 480 euros a season.",
    "what does the mooring of the sailboat cost",
    "The sailboat is insured with Havblik.",
  ],
  [
    "greenhouse",
    "The greenhouse is watered by a timer at six in the morning.",
    "when is the greenhouse watered by the timer",
    "The greenhouse has a broken pane on the north side.",
  ],
  [
    "telescope",
    "The telescope needs an eyepiece of 25 mm for the moon.",
    "which eyepiece does the telescope need for the moon",
    "The telescope is lent to Kasimir until May.",
  ],
  [
    "podcast",
    "The podcast is recorded on Thursdays in the small studio.",
    "where is the podcast recorded",
    "The podcast has a budget of 900 euros.",
  ],
  [
    "migration",
    "The migration is rolled back with the script undo-07.",
    "how is the migration rolled back",
    "The migration was planned by Farida.",
  ],
  [
    "choir",
    "The choir sings in the chapel at Easter, in black.",
    "what does the choir wear at Easter",
    "The choir meets on Mondays.",
  ],
  [
    "scanner",
    "The scanner jams when the tray holds more than 40 sheets.",
    "why does the scanner jam",
    "The scanner is on the second floor.",
  ],
  [
    "marathon",
    "For the marathon we meet at the north gate at 8:15.",
    "where do we meet for the marathon",
    "The marathon costs 75 euros to enter.",
  ],
] as const;
const MENTIONS = [
  "Talked about the {word} with Emil.",
  "The {word} came up at lunch again.",
  "{word}: nothing new this week.",
  "Someone asked about the {word}, answered later.",
  "Read an article on the {word}.",
  "The {word} is on the list for next month.",
  "Dream about a {word}, odd.",
  "Took a picture of the {word}.",
  "Noemi likes the {word} a lot.",
  "The {word} must wait until the weekend.",
  "Rosa wrote about her {word}.",
  "We laughed about the {word} all evening.",
  "A poster of a {word} hangs in the hall.",
] as const;

/** Questions with one right note among fourteen that have its word, and facts of ours beside them. */
export function crowdedQuestions(): Pick<Mixed, "notes" | "facts"> & {
  readonly questions: readonly HostQuestion[];
} {
  const notes = CROWDED.flatMap(([word, right]) =>
    [right, ...MENTIONS.map((mention) => mention.replace("{word}", word))].map((fact, place) => ({
      ...{ key: `${place === 0 ? "answer" : "mention"}/${word}/${place}`, fact },
    })),
  );
  return {
    notes: notes.map(lineOf),
    facts: CROWDED.map(([word, , , fact], place) => lineOf({ key: `about-${word}`, fact }, place)),
    questions: CROWDED.map(([word, , question]) => ({ kind: "part", question, wanted: `answer/${word}/0` })),
  };
}

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
