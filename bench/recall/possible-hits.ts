/** Measures the benefit and cost of possible hits, and the curves over the least chances that they need. */
import { type PossibleWeights, WEIGHTS } from "../../recall/weights.ts";
import { type Measured, mean, percent, table } from "../measured.ts";
import { readTestData } from "./conversations.ts";
import { type Half, halfOf, readParaphraseSet } from "./paraphrase-set.ts";
import { lineOf } from "./paraphrases.ts";
import { isOf, peopleFacts, peopleQuestions } from "./people-facts.ts";
import type { Bench, Hit, SystemId, Systems } from "./recall-systems.ts";

type Rule = PossibleWeights;

/** A question, the wanted key, and all hits that could be shown: the sure hits and every candidate for a possible one. */
interface Candidates {
  readonly half: Half;
  /** Empty if nothing answers the question. */
  readonly wanted: readonly string[];
  readonly hits: readonly Hit[];
}

export interface QuestionSet {
  readonly name: string;
  readonly lines: readonly object[];
  readonly questions: readonly {
    readonly id: string;
    readonly question: string;
    readonly wanted: readonly string[];
  }[];
}

/** The results of one way of searching for one set. */
export interface PossibleHits {
  readonly set: string;
  readonly by: "keywords" | "hybrid";
  readonly asked: readonly Candidates[];
}

const CANDIDATES = 10;
const SYSTEM_OF = { keywords: "keywordCandidates", hybrid: "hybridCandidates" } as const satisfies Record<
  string,
  SystemId
>;
const CHOSEN = WEIGHTS.possible;
const CHANCES = [0, 0.05, 0.08, 0.1, 0.12, 0.15, 0.2, 0.3];

export async function measurePossibleHits(bench: Bench): Promise<readonly PossibleHits[]> {
  const measured: PossibleHits[] = [];
  for (const set of [peopleSet(), everydaySet(), paraphraseSet()]) {
    const systems = await bench.fill(`possible-${set.name}`, set.lines);
    for (const by of ["keywords", "hybrid"] as const) {
      const asked = await askAll(set, systems, SYSTEM_OF[by]);
      if (asked.length > 0) measured.push({ set: set.name, by, asked });
    }
  }
  return measured;
}

async function askAll(set: QuestionSet, systems: Systems, id: SystemId): Promise<readonly Candidates[]> {
  const search = systems.get(id);
  if (search === undefined) return [];
  const asked: Candidates[] = [];
  for (const { question, wanted, ...rest } of set.questions) {
    asked.push({ half: halfOf(rest), wanted, hits: await search(question, CANDIDATES) });
  }
  return asked;
}

/** The candidates that the rule shows, as in recall. */
export function shownBy(hits: readonly Hit[], { most, least, beside }: Rule): readonly Hit[] {
  const sure = hits.filter(({ possible }) => !possible);
  const { scores } = WEIGHTS.possible;
  const chanceOf = ({ score }: Hit) => (score - scores.least) / (scores.most - scores.least);
  const possible = hits.filter((hit) => hit.possible && chanceOf(hit) >= (sure.length > 0 ? beside : least));
  return [...sure, ...possible.slice(0, Math.max(0, most - sure.length))];
}

interface PossibleFigures {
  /** The share of the answerable questions whose fact is among the first three hits. */
  readonly right: number;
  /** The mean number of possible hits for an unanswerable question. */
  readonly wrong: number;
}

function possibleFigures(asked: readonly Candidates[], rule: Rule): PossibleFigures {
  const answerable = asked.filter(({ wanted }) => wanted.length > 0);
  const unanswerable = asked.filter(({ wanted }) => wanted.length === 0);
  const isFound = ({ hits, wanted }: Candidates) =>
    shownBy(hits, rule)
      .slice(0, 3)
      .some(({ key }) => wanted.some((one) => isOf(one, key)));
  return {
    right: mean(answerable.map((one) => (isFound(one) ? 1 : 0))),
    wrong: mean(
      unanswerable.map(({ hits }) => shownBy(hits, rule).filter(({ possible }) => possible).length),
    ),
  };
}

/** The text of a question decides its half, because this set has no ids. */
export function peopleSet(): QuestionSet {
  const questions = peopleQuestions().filter(({ kind }) => kind !== "exact");
  return {
    name: "facts as people store them, some words",
    lines: peopleFacts(),
    questions: questions.map(({ question, expect }) => ({ id: question, question, wanted: expect ?? [] })),
  };
}

interface EverydayQuestion {
  readonly question: string;
  /** The key of the fact. Absent if none answers. */
  readonly expect?: string;
}

export function everydaySet(): QuestionSet {
  const questions = readTestData<EverydayQuestion>("everyday-questions");
  return {
    name: "20 everyday facts",
    lines: readTestData("everyday-facts"),
    questions: questions.map(({ question, expect }) => ({
      ...{ id: question, question },
      wanted: expect === undefined ? [] : [expect],
    })),
  };
}

export function paraphraseSet(): QuestionSet {
  const { pairs, unanswerable } = readParaphraseSet();
  return {
    name: "paraphrased questions",
    lines: pairs.map(lineOf),
    questions: [
      ...pairs.map(({ id, question, key }) => ({ id, question, wanted: [key] })),
      ...unanswerable.map(({ id, question }) => ({ id, question, wanted: [] })),
    ],
  };
}

export function possibleHitsSection(measured: readonly PossibleHits[], embeddedBy: string): Measured {
  const { most, least, beside } = CHOSEN;
  return {
    title: "Possible hits",
    command: "npm run bench:recall -- --only possible",
    markdown: [
      `Memory shows up to ${most} possible hits, marked as such, and beside sure ones so many that they are ${most} together. Each needs a chance of at least ${percent(least)}, and of ${percent(beside)} beside a sure hit. The table shows what they gain and cost, on the held-out half of each set; ${embeddedBy}. Right: the share of questions whose fact is among the first three hits. Wrong: possible hits per unanswerable question.`,
      overviewTable(measured, "held out"),
      "[Decision 31](decisions/0031-possible-hits.md) says why memory shows them.",
    ].join("\n\n"),
    details: [
      "The half that rankings are tuned on (dev)",
      overviewTable(measured, "dev"),
      "Right and wrong by least chance, least chance beside a sure hit, and number; the other two as in use",
      table(["", ...measured.map(nameOf)], curveRows(measured)),
    ].join("\n\n"),
    json: measured,
  };
}

function overviewTable(measured: readonly PossibleHits[], half: Half): string {
  const rows = measured.map((one) => {
    const asked = one.asked.filter((candidates) => candidates.half === half);
    const quiet = possibleFigures(asked, { ...CHOSEN, most: 0 });
    const shown = possibleFigures(asked, CHOSEN);
    const uncut = possibleFigures(asked, { ...CHOSEN, least: 0, beside: 0 });
    return [
      nameOf(one),
      percent(quiet.right, 1),
      percent(shown.right, 1),
      shown.wrong.toFixed(2),
      percent(uncut.right, 1),
    ];
  });
  return table(
    ["questions", "right, sure hits only", "right, as shown", "wrong, as shown", "right, nothing cut off"],
    rows,
  );
}

/** The rule in use is printed in bold, once in each of the three parts. */
function curveRows(measured: readonly PossibleHits[]): readonly (readonly string[])[] {
  const rules: readonly (readonly [string, Rule])[] = [
    ...CHANCES.map((least) => [`chance ${least}`, { ...CHOSEN, least }] as const),
    ...CHANCES.map((beside) => [`beside ${beside}`, { ...CHOSEN, beside }] as const),
    ...[1, 2, 3, 4].map((most) => [`at most ${most}`, { ...CHOSEN, most }] as const),
  ];
  return rules.map(([name, rule]) => {
    const isChosen =
      rule.least === CHOSEN.least && rule.beside === CHOSEN.beside && rule.most === CHOSEN.most;
    return [isChosen ? `**${name}**` : name, ...measured.map(({ asked }) => cellOf(asked, rule))];
  });
}

function cellOf(asked: readonly Candidates[], rule: Rule): string {
  const dev = asked.filter(({ half }) => half === "dev");
  const { right, wrong } = possibleFigures(dev, rule);
  return `${percent(right, 1)}, ${wrong.toFixed(2)}`;
}

function nameOf({ set, by }: PossibleHits): string {
  return `${set}, ${by}`;
}
