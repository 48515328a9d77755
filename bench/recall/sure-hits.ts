/** Counts the sure hits that are right and those that are wrong, over questions of everyday life and work, unanswerable ones included. */

import { type Measured, mean, percent, table } from "../measured.ts";
import { readPersonalSet } from "../sets/personal-set.ts";
import { readNaturalSet } from "./natural-set.ts";
import { halfOf } from "./paraphrase-set.ts";
import { lineOf } from "./paraphrases.ts";
import { isOf } from "./people-facts.ts";
import { everydaySet, peopleSet, type QuestionSet } from "./possible-hits.ts";
import type { Bench, Hit } from "./recall-systems.ts";

const HALVES = ["tuned on", "held out"] as const;
type Half = (typeof HALVES)[number];
const BY = { keyword: "keywords", hybrid: "hybrid" } as const;
type By = keyof typeof BY;

export interface SureAnswer {
  readonly set: string;
  readonly half: Half;
  readonly by: By;
  readonly question: string;
  /** Empty if nothing answers the question. */
  readonly wanted: readonly string[];
  readonly hits: readonly Hit[];
}

interface SureFigures {
  readonly questions: number;
  readonly first: number;
  readonly firstAndSure: number;
  readonly amongThree: number;
  /** Per 100 questions: a right sure hit is first; a wrong one is. */
  readonly right: number;
  readonly wrong: number;
  /** The share of the unanswerable questions with a sure hit. */
  readonly alarms: number;
}

interface HalvedSet extends Pick<QuestionSet, "name" | "lines"> {
  readonly questions: readonly {
    readonly half: Half;
    readonly question: string;
    readonly wanted: readonly string[];
  }[];
}

const SHOWN = 10;

export async function askForSure(bench: Bench): Promise<readonly SureAnswer[]> {
  const answers: SureAnswer[] = [];
  for (const { name, lines, questions } of sureSets()) {
    const systems = await bench.fill(`sure-${name}-${questions[0]?.half}`, lines);
    for (const by of Object.keys(BY) as By[]) {
      const search = systems.get(by);
      if (search === undefined) continue;
      for (const asked of questions)
        answers.push({ set: name, by, ...asked, hits: await search(asked.question, SHOWN) });
    }
  }
  return answers;
}

/** The natural set's halves have memories of their own. */
export function sureSets(): readonly HalvedSet[] {
  return [
    byHash(peopleSet()),
    byHash(everydaySet()),
    ...naturalSets(),
    personalSet("personal"),
    personalSet("life"),
  ];
}

function byHash({ name, lines, questions }: QuestionSet): HalvedSet {
  const halved = questions.map(({ question, wanted }) => {
    const half: Half = halfOf({ id: question }) === "dev" ? "tuned on" : "held out";
    return { half, question, wanted };
  });
  return { name, lines, questions: halved };
}

function naturalSets(): readonly HalvedSet[] {
  const { facts, questions, unanswerable } = readNaturalSet();
  return (["dev", "held-out"] as const).map((half) => {
    const ofHalf = (line: { readonly half: string }) => line.half === half;
    const asked = [
      ...questions.filter(ofHalf).map(({ question, expect }) => ({ question, wanted: [expect] })),
      ...unanswerable.filter(ofHalf).map(({ question }) => ({ question, wanted: [] })),
    ];
    const english = facts.filter((fact) => ofHalf(fact) && fact.language === undefined);
    return {
      name: "everyday questions",
      lines: english.map(({ key, value }, place) => lineOf({ key, fact: value }, place)),
      questions: asked.map((one) => ({ half: half === "dev" ? "tuned on" : "held out", ...one }) as const),
    };
  });
}

export function personalSet(of: "personal" | "life"): HalvedSet {
  const { facts, questions } = readPersonalSet(of);
  return {
    name: of === "life" ? "life and work" : "personal facts",
    lines: facts.map(({ key, value, category }, place) => ({
      ...lineOf({ key, fact: value }, place),
      ...(category !== undefined && { category }),
    })),
    questions: questions.map((asked) => ({
      half: asked.half === "tune" ? "tuned on" : "held out",
      question: asked.question,
      wanted: asked.kind === "answerable" ? [asked.expect] : [],
    })),
  };
}

export function sureFigures(answers: readonly SureAnswer[]): SureFigures {
  const share = (of: readonly SureAnswer[], holds: (answer: SureAnswer) => boolean) =>
    mean(of.map((one) => (holds(one) ? 1 : 0)));
  const answerable = answers.filter(({ wanted }) => wanted.length > 0);
  const unanswerable = answers.filter(({ wanted }) => wanted.length === 0);
  return {
    questions: answers.length,
    first: share(answerable, isFirst),
    firstAndSure: share(answerable, (one) => isFirst(one) && hasSure(one)),
    amongThree: share(answerable, (one) => one.hits.slice(0, 3).some((hit) => isRight(hit, one))),
    right: 100 * share(answers, (one) => isFirst(one) && hasSure(one)),
    wrong: 100 * share(answers, (one) => !isFirst(one) && hasSure(one)),
    alarms: share(unanswerable, hasSure),
  };
}

function isFirst(answer: SureAnswer): boolean {
  const [first] = answer.hits;
  return first !== undefined && isRight(first, answer);
}

function hasSure({ hits: [first] }: SureAnswer): boolean {
  return first !== undefined && !first.possible;
}

function isRight({ key }: Hit, { wanted }: SureAnswer): boolean {
  return wanted.some((one) => isOf(one, key));
}

export function sureSection(answers: readonly SureAnswer[], embeddedBy: string): Measured {
  const head = [
    ...["questions", "by", "half", "number", "right fact first", "… and sure", "among the first three"],
    ...["per 100: sure and right", "sure and wrong", "unanswerable with a sure hit"],
  ];
  const sets = [...new Set(answers.map(({ set }) => set))];
  const rowsOf = (name: string, of: readonly SureAnswer[]) =>
    (Object.keys(BY) as By[]).flatMap((by) =>
      HALVES.flatMap((half) => {
        const here = of.filter((one) => one.by === by && one.half === half);
        return here.length === 0 ? [] : [rowOf([name, BY[by], half], sureFigures(here))];
      }),
    );
  const rows = [
    ...sets.flatMap((set) =>
      rowsOf(
        set,
        answers.filter((one) => one.set === set),
      ),
    ),
    ...rowsOf("**all**", answers),
  ];
  return {
    title: "Sure hits",
    command: "npm run bench:recall -- --only sure",
    markdown: [
      `A sure hit is shown without a warning, and may enter a prompt unasked, so it should be right. This counts the first sure hit of each question of five sets (\`test/data/README.md\`), over memories of 187, 20, 20, 60 and 60 facts; ${embeddedBy}. Rankings are tuned on one half of the questions only. A sure hit for an unanswerable question is wrong. Unanswerable questions of the last two are near misses: they ask about somebody else, for something that the fact does not say, or use its word in another sense.`,
      table(head, rows),
    ].join("\n\n"),
    json: answers,
  };
}

function rowOf(names: readonly string[], figures: SureFigures): readonly string[] {
  return [
    ...names,
    `${figures.questions}`,
    ...[figures.first, figures.firstAndSure, figures.amongThree].map((share) => percent(share)),
    figures.right.toFixed(1),
    figures.wrong.toFixed(1),
    percent(figures.alarms),
  ];
}
