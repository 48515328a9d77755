/** Measures how well facts that people store are found, and how many hits appear for a question without an answer. */
import { type Measured, mean, percent, table } from "../measured.ts";
import { readTestData } from "./conversations.ts";
import { type Bench, type Hit, type Search, SYSTEMS, type SystemId } from "./recall-systems.ts";

export interface PeopleQuestion {
  /** In the fact's own words, partly in them, or about something that no fact contains. */
  readonly kind: "exact" | "partial" | "unanswerable";
  readonly question: string;
  /** The key of the fact or, for an audit row, the beginning of its key. */
  readonly expect: readonly string[];
}

export interface PeopleFigures {
  readonly exact: {
    readonly hitAt1: number;
    readonly hitAt3: number;
    readonly meanScore: number;
    readonly sure: number;
  };
  readonly partial: { readonly hitAt1: number; readonly hitAt3: number };
  /** The share of all hits with a score of GOOD or more, over all questions, that was expected. */
  readonly precision: number;
  /** Share of the unanswerable questions with a sure hit. */
  readonly falseAlarms: number;
  /** The mean number of possible hits for an unanswerable question. */
  readonly possible: number;
}

/** An exact question's fact should score at least this, and a hit that scores GOOD or more should be right. */
export const SURE = 0.85;
const GOOD = 0.5;

const SUBJECT = "people";
const SHOWN = 10;

const COMPARED: readonly SystemId[] = ["keywordSure", "keyword", "hybridSure", "hybrid"];

/** The results, by the system's name in the tables. */
export async function measurePeopleFacts(bench: Bench): Promise<ReadonlyMap<string, PeopleFigures>> {
  const systems = await bench.fill(SUBJECT, peopleFacts());
  const measured = new Map<string, PeopleFigures>();
  for (const id of COMPARED) {
    const search = systems.get(id);
    if (search !== undefined) measured.set(SYSTEMS[id], figuresOf(await askAll(search)));
  }
  return measured;
}

async function askAll(search: Search): Promise<readonly Answered[]> {
  const answered: Answered[] = [];
  for (const { kind, question, expect } of peopleQuestions()) {
    const hits = await search(question, SHOWN);
    const judged = hits.map((hit) => ({ ...hit, isRight: expect.some((wanted) => isOf(wanted, hit.key)) }));
    answered.push({ kind, hits: judged });
  }
  return answered;
}

/** Lines that import accepts; a run record has no key. */
export function peopleFacts(): readonly { readonly key?: string; readonly value?: string }[] {
  return readTestData("facts-people-store");
}

export function peopleQuestions(): readonly PeopleQuestion[] {
  return readTestData<PeopleQuestion>("facts-questions");
}

interface Answered {
  readonly kind: PeopleQuestion["kind"];
  readonly hits: readonly (Hit & { readonly isRight: boolean })[];
}

/** Whether a hit's key equals the wanted one or, for an audit row, begins with it. */
export function isOf(wanted: string, key: string): boolean {
  return key === wanted || (/^(?:pack|pipeline)_history\//.test(wanted) && key.startsWith(wanted));
}

function figuresOf(answered: readonly Answered[]): PeopleFigures {
  const of = (kind: PeopleQuestion["kind"]) => answered.filter((one) => one.kind === kind);
  const scores = of("exact").map(({ hits }) => hits.find(({ isRight }) => isRight)?.score ?? 0);
  const good = answered.flatMap(({ hits }) => hits.filter(({ score }) => score >= GOOD));
  return {
    exact: {
      ...hitRates(of("exact")),
      meanScore: mean(scores),
      sure: mean(scores.map((score) => (score >= SURE ? 1 : 0))),
    },
    partial: hitRates(of("partial")),
    precision: mean(good.map(({ isRight }) => (isRight ? 1 : 0))),
    falseAlarms: mean(of("unanswerable").map(({ hits }) => (hits.some(({ possible }) => !possible) ? 1 : 0))),
    possible: mean(of("unanswerable").map(({ hits }) => hits.filter(({ possible }) => possible).length)),
  };
}

function hitRates(answered: readonly Answered[]): { readonly hitAt1: number; readonly hitAt3: number } {
  const within = (depth: number) => {
    return mean(answered.map(({ hits }) => (hits.slice(0, depth).some(({ isRight }) => isRight) ? 1 : 0)));
  };
  return { hitAt1: within(1), hitAt3: within(3) };
}

/** One column for each way of searching. */
export function peopleFactsSection(
  measured: ReadonlyMap<string, PeopleFigures>,
  embeddedBy: string,
): Measured {
  const row = (name: string, cell: (figures: PeopleFigures) => string, aim = "") => {
    return [name, ...[...measured.values()].map(cell), aim];
  };
  const rows = [
    row("in the fact's own words: the fact is first", ({ exact }) => percent(exact.hitAt1, 1)),
    row("… among the first three", ({ exact }) => percent(exact.hitAt3, 1)),
    row("… mean score", ({ exact }) => exact.meanScore.toFixed(3), `${SURE}`),
    row(`… scores ${SURE} or more`, ({ exact }) => percent(exact.sure, 1)),
    row("in some of its words: the fact is first", ({ partial }) => percent(partial.hitAt1, 1)),
    row("… among the first three", ({ partial }) => percent(partial.hitAt3, 1), "83 % with keywords"),
    row(
      `of all hits that score ${GOOD} or more, right`,
      ({ precision }) => percent(precision, 1),
      "at least 80 %",
    ),
    row("unanswerable questions that get a sure hit", ({ falseAlarms }) => percent(falseAlarms, 1)),
    row(
      "possible hits per unanswerable question",
      ({ possible }) => possible.toFixed(2),
      "at most 1.6 with keywords",
    ),
  ];
  return {
    title: "Facts as people store them",
    command: "npm run bench:recall -- --only people",
    markdown: `187 facts and run records (\`test/data/facts-*.jsonl\`). Each has two questions: one in its own words, one in some of them. 100 more questions are unanswerable: no fact answers them. ${embeddedBy[0]?.toUpperCase()}${embeddedBy.slice(1)}. Memory returns sure hits, and likely ones as possible hits, marked as such.\n\n${table(["questions", ...measured.keys(), "aim"], rows)}`,
    json: Object.fromEntries(measured),
  };
}
