/** The questions, the facts that answer them, and contradicting values. Only halves that nothing was tuned on, and sets from a seed. */
import type { FactLine } from "../recall/conversations.ts";
import { conversationsOfFolder } from "../recall/conversations.ts";
import { memoryOf } from "../recall/natural.ts";
import { readNaturalSet } from "../recall/natural-set.ts";
import { halfOf, readParaphraseSet } from "../recall/paraphrase-set.ts";
import { lineOf } from "../recall/paraphrases.ts";
import { unrelatedFact } from "../recall/unrelated-facts.ts";
import { seeded } from "../search/made-facts.ts";

interface Asked {
  readonly kind: string;
  readonly question: string;
  /** The keys of the facts that answer it. Empty if none does. */
  readonly wanted: readonly string[];
}

export interface QuestionSet {
  readonly facts: readonly FactLine[];
  readonly questions: readonly Asked[];
}

export interface SetOptions {
  readonly seed: number;
  /** A folder with LoCoMo conversations. */
  readonly locomo?: string;
  readonly isQuick: boolean;
}

const EVERYDAY_FACTS = 200;
const SEEDED_FACTS = 120;
const QUICK_SETS = new Set(["everyday", "seeded"]);
const QUICK_QUESTIONS = 8;

/** Each set is the memory of one agent, of the set's name. */
export function questionSets(options: SetOptions): Readonly<Record<string, QuestionSet>> {
  const sets: Record<string, QuestionSet> = {
    everyday: everyday(),
    languages: languages(),
    paraphrase: otherWords(),
    seeded: seededSet(options.seed),
    ...(options.locomo !== undefined && { locomo: locomo(options.locomo) }),
  };
  if (!options.isQuick) return sets;
  const few = Object.entries(sets).filter(([name]) => QUICK_SETS.has(name));
  return Object.fromEntries(few.map(([name, set]) => [name, quick(set)]));
}

/** Some questions of each kind, with all facts. */
function quick({ facts, questions }: QuestionSet): QuestionSet {
  const kinds = Map.groupBy(questions, ({ kind }) => kind);
  return { facts, questions: [...kinds.values()].flatMap((ofKind) => ofKind.slice(0, QUICK_QUESTIONS)) };
}

function everyday(): QuestionSet {
  const { questions, unanswerable } = readNaturalSet();
  const asked = [
    ...heldOut(questions).map(({ kind, question, expect }) => ({ kind, question, wanted: [expect] })),
    ...heldOut(unanswerable).map(({ question }) => ({ kind: "unanswerable", question, wanted: [] })),
  ];
  return { questions: asked, facts: memoryOf("held-out", wantedOf(asked), EVERYDAY_FACTS) };
}

function languages(): QuestionSet {
  const asked = heldOut(readNaturalSet().languages).map(({ question, expect }) => ({
    ...{ kind: "language", question, wanted: [expect] },
  }));
  return { questions: asked, facts: memoryOf("held-out", wantedOf(asked), EVERYDAY_FACTS) };
}

function otherWords(): QuestionSet {
  const { pairs } = readParaphraseSet();
  const asked = pairs.filter((pair) => halfOf(pair) === "held out");
  return {
    facts: pairs.map(lineOf),
    questions: asked.map(({ question, key }) => ({ kind: "paraphrase", question, wanted: [key] })),
  };
}

function locomo(folder: string): QuestionSet {
  const [conversation] = conversationsOfFolder(folder);
  if (conversation === undefined) throw new Error(`No LoCoMo conversation in ${folder}`);
  const asked = conversation.questions.map(({ question, evidence, category }) => ({
    ...{ kind: category === 5 ? "adversarial" : "conversation", question, wanted: evidence },
  }));
  return { facts: conversation.facts, questions: asked };
}

function heldOut<T extends { readonly half: string }>(lines: readonly T[]): readonly T[] {
  return lines.filter(({ half }) => half === "held-out");
}

function wantedOf(asked: readonly Asked[]): ReadonlySet<string> {
  return new Set(asked.flatMap(({ wanted }) => wanted));
}

/** A statement, and a question in some of its words. `{who}` and `{what}` are made from the seed. */
const RELATIONS = [
  ["{who} keeps the {what} in the shed behind the house.", "where is the {what} of {who}"],
  ["The {what} was lent to {who} until the end of the summer.", "who has borrowed the {what}"],
  ["{who} pays 40 euros a month for the {what}.", "how much does {who} pay for the {what}"],
  ["The {what} breaks when it rains; {who} knows how to mend it.", "who can repair the {what}"],
  ["{who} is allergic to {what}.", "what must {who} not eat"],
  ["The meeting about {what} is on Thursdays at nine, led by {who}.", "when do we meet about {what}"],
  ["{who} wrote the part of the program that handles {what}.", "whose code deals with {what}"],
  [
    "For {what} we decided against the cheap offer, because {who} had bad experiences.",
    "why not the cheap offer for {what}",
  ],
] as const;
const NAME_PARTS = "ba be bi da do el fa gi ha in jo ka lu ma ne or pe ri sa tu ul va wi yo ze".split(" ");
const THING_PARTS = "bar cor dun fel gol hum jin kor lam mol nar pol quin ros tam vel wor zan".split(" ");

/** Nobody's name and nothing's name, so that nothing can be tuned on them. */
function seededSet(seed: number, size = SEEDED_FACTS): QuestionSet {
  const random = seeded(seed);
  const word = (parts: readonly string[], length: number) =>
    Array.from({ length }, () => parts[Math.floor(random() * parts.length)] ?? "").join("");
  const made = (place: number) => {
    const [says = "", asks = ""] = RELATIONS[place % RELATIONS.length] ?? [];
    const who = word(NAME_PARTS, 3).replace(/^./, (first) => first.toUpperCase());
    const what = `${word(THING_PARTS, 2)} ${word(THING_PARTS, 2)}`;
    const filled = (text: string) => text.replaceAll("{who}", who).replaceAll("{what}", what);
    return { key: `seeded/${place}`, fact: filled(says), question: filled(asks) };
  };
  const stored = Array.from({ length: size }, (_, place) => made(place));
  const never = Array.from({ length: size / 2 }, (_, place) => made(place));
  return {
    facts: stored.map(lineOf),
    questions: [
      ...stored.map(({ key, question }) => ({ kind: "seeded", question, wanted: [key] })),
      ...never.map(({ question }) => ({ kind: "never stored", question, wanted: [] })),
    ],
  };
}

/** Values of one thing, the oldest first, and the question for it. */
export interface Contradiction {
  readonly kind: "correction, same name" | "correction, other names" | "negation";
  readonly question: string;
  readonly facts: readonly FactLine[];
}

const CORRECTED = [
  ["the door code of the workshop", "4711 3902 8264"],
  ["the dentist", "Okafor Lindqvist Marchetti"],
  ["the monthly rent", "940 1015 1120"],
  ["the name of the staging server", "heron plover dunlin"],
  ["the day of the choir practice", "Monday Wednesday Thursday"],
  ["the size of my bicycle frame", "54 56 58"],
  ["the landlord", "Brandt Eriksen Novotny"],
  ["the deploy branch of the shop", "release stable main"],
] as const;
const WORDINGS = ["{about} is {value}.", "By now {about} is {value}.", "{about} has changed: it is {value}."];
const NEGATED = [
  ["I eat meat.", "I no longer eat meat.", "do I eat meat"],
  ["We use Jenkins for the builds.", "We do not use Jenkins any more.", "do we use Jenkins for the builds"],
  ["Tomas works on Fridays.", "Tomas does not work on Fridays any longer.", "does Tomas work on Fridays"],
  ["The cellar is dry.", "The cellar is not dry any more, it floods after rain.", "is the cellar dry"],
  ["I have a car.", "I sold the car and have none now.", "do I have a car"],
  ["The shop accepts cheques.", "The shop stopped accepting cheques.", "does the shop accept cheques"],
] as const;

export function contradictions(): readonly Contradiction[] {
  return [
    ...CORRECTED.map(([about, values], place) => correction(about, values.split(" "), place, true)),
    ...CORRECTED.map(([about, values], place) => correction(about, values.split(" "), place, false)),
    ...NEGATED.map(([was, is, question], place) => ({
      ...{ kind: "negation" as const, question },
      facts: [was, is].map((value, day) => dated(`habit-${place}-${day}`, value, day)),
    })),
  ];
}

function correction(about: string, values: readonly string[], place: number, isSame: boolean): Contradiction {
  // Two sets with other things, because both are stored in one memory.
  const thing = isSame ? `${about} in Kiel` : `${about} in Bergen`;
  const facts = values.map((value, day) => {
    const text = (WORDINGS[day] ?? "").replace("{about}", thing).replace("{value}", value);
    return dated(isSame ? `thing-${place}` : `note-${place}-${day}`, text, day);
  });
  const kind = isSame ? "correction, same name" : "correction, other names";
  return { kind, question: `what is ${thing}`, facts };
}

function dated(key: string, value: string, day: number): FactLine {
  const createdAt = new Date(Date.now() - (3 - day) * 86_400_000).toISOString();
  return { key, value, category: "user_facts", tags: [], created_at: createdAt };
}

/** Facts that no question asks for, for writing under load. */
export function plainFacts(number: number): readonly FactLine[] {
  return Array.from({ length: number }, (_, place) => unrelatedFact(place));
}
