/** Compares keywords and hybrid search for each language, and for code, names and numbers: a model that cannot read a text must not harm. */
import { type Measured, mean, percent, table } from "../measured.ts";
import { readNaturalSet } from "./natural-set.ts";
import { halfOf } from "./paraphrase-set.ts";
import { lineOf } from "./paraphrases.ts";
import { isOf, type PeopleQuestion, peopleFacts, peopleQuestions } from "./people-facts.ts";
import type { Bench, Hit, Systems } from "./recall-systems.ts";

const BY = ["keyword", "hybrid"] as const;
const SHOWN = 3;

interface Asked {
  readonly kind: string;
  readonly question: string;
  readonly wanted: readonly string[];
}

export interface KindAnswer extends Asked {
  readonly by: (typeof BY)[number];
  readonly hits: readonly Hit[];
}

export async function askKindsOfText(bench: Bench): Promise<readonly KindAnswer[]> {
  const natural = readNaturalSet().facts.map(({ key, value }, place) => lineOf({ key, fact: value }, place));
  return [
    ...(await askAll(await bench.fill("kinds-languages", natural), languageQuestions())),
    ...(await askAll(await bench.fill("kinds-people", peopleFacts()), peopleKinds())),
  ];
}

function languageQuestions(): readonly Asked[] {
  const names = new Intl.DisplayNames("en", { type: "language" });
  return readNaturalSet().languages.map(({ language = "en", question, expect }) => ({
    kind: names.of(language) ?? language,
    question,
    wanted: [expect],
  }));
}

const CODE = /`|\b[a-z]+_[a-z_]+\b|\b[a-z]+[A-Z]\w+|(?:^|\s)[~.]?\/\w|\w=\w|\s--\w/;
const NAME = /(?<!^)\b\p{Lu}\p{Ll}+/u;

/** A question may be of several kinds. Held-out questions only. */
function peopleKinds(): readonly Asked[] {
  const facts = peopleFacts();
  const textOf = ({ expect }: PeopleQuestion) =>
    facts
      .filter(({ key }) => key !== undefined && expect?.includes(key))
      .map(({ value }) => value ?? "")
      .join("\n");
  const kinds: readonly (readonly [string, (question: PeopleQuestion) => boolean])[] = [
    ["code in the fact", (question) => CODE.test(textOf(question))],
    ["a name in the question", ({ question }) => NAME.test(question)],
    ["a number in the fact", (question) => /\d/.test(textOf(question))],
    ["a number in the question", ({ question }) => /\d/.test(question)],
  ];
  const questions = peopleQuestions().filter(
    ({ kind, question }) => kind !== "unanswerable" && halfOf({ id: question }) !== "dev",
  );
  return kinds.flatMap(([kind, isOfKind]) =>
    questions.filter(isOfKind).map(({ question, expect }) => ({ kind, question, wanted: expect })),
  );
}

async function askAll(systems: Systems, questions: readonly Asked[]): Promise<readonly KindAnswer[]> {
  const answers: KindAnswer[] = [];
  for (const by of BY) {
    const search = systems.get(by);
    if (search === undefined) continue;
    for (const asked of questions) answers.push({ by, ...asked, hits: await search(asked.question, SHOWN) });
  }
  return answers;
}

export function kindsOfTextSection(answers: readonly KindAnswer[], embeddedBy: string): Measured {
  const head = [
    "questions",
    "number",
    ...BY.flatMap((by) => [`${by}: first`, `${by}: among the first three`]),
  ];
  const rows = [...new Set(answers.map(({ kind }) => kind))].map((kind) => {
    const of = answers.filter((one) => one.kind === kind);
    const byEach = BY.map((by) => of.filter((one) => one.by === by));
    return [
      kind,
      `${byEach[0]?.length ?? 0}`,
      ...byEach.flatMap((ofBy) => [1, SHOWN].map((depth) => percent(shareFound(ofBy, depth)))),
    ];
  });
  return {
    title: "Languages, code, names and numbers",
    command: "npm run bench:recall -- --only kinds",
    markdown: [
      `Hybrid search should be at least as good as keywords where a small English model reads little: questions in other languages about facts in the same language or in English (\`test/data/natural-languages.jsonl\`, both halves), and held-out questions of the facts that people store, by what the question or its fact contains; ${embeddedBy}. A question may be of several kinds.`,
      table(head, rows),
    ].join("\n\n"),
    json: answers,
  };
}

function shareFound(answers: readonly KindAnswer[], depth: number): number {
  return mean(
    answers.map(({ hits, wanted }) =>
      hits.slice(0, depth).some(({ key }) => wanted.some((one) => isOf(one, key))) ? 1 : 0,
    ),
  );
}
