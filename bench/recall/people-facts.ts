/** How well facts as people store them are found, and how quiet memory is when it holds no answer. */
import { fileURLToPath } from "node:url";
import { type Measured, mean, table } from "../measured.ts";
import { readJsonLines } from "./conversations.ts";
import type { BenchMemory } from "./memory.ts";

export interface PeopleQuestion {
  /** In the fact's own words, partly in them, or about something that no fact tells. */
  readonly kind: "exact" | "partial" | "unanswerable";
  readonly question: string;
  /** The key of the fact, or, for an audit row, what its key begins with. */
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
  /** Of all hits at GOOD and above, over all questions, the share that was expected. */
  readonly precision: number;
  /** Share of the unanswerable questions with any hit. */
  readonly falseAlarms: number;
}

/** An exact question's fact should score this or more, and a hit that scores GOOD or more should be right. */
export const SURE = 0.85;
export const GOOD = 0.5;

const DATA = new URL("../../test/data/", import.meta.url);
const SUBJECT = "people";
const SHOWN = 10;

export async function measurePeopleFacts(memory: BenchMemory): Promise<PeopleFigures> {
  await memory.fill(SUBJECT, readJsonLines(fileURLToPath(new URL("facts-people-store.jsonl", DATA))));
  const answered: Answered[] = [];
  for (const question of readJsonLines<PeopleQuestion>(
    fileURLToPath(new URL("facts-questions.jsonl", DATA)),
  )) {
    const hits = await memory.shown(SUBJECT, question.question, SHOWN);
    answered.push({
      kind: question.kind,
      hits: hits.map(({ key, score }) => ({
        isRight: question.expect.some((wanted) => isOf(wanted, key)),
        score,
      })),
    });
  }
  return figuresOf(answered);
}

export function peopleQuestions(): readonly PeopleQuestion[] {
  return readJsonLines<PeopleQuestion>(fileURLToPath(new URL("facts-questions.jsonl", DATA)));
}

interface Answered {
  readonly kind: PeopleQuestion["kind"];
  readonly hits: readonly { readonly isRight: boolean; readonly score: number }[];
}

function isOf(wanted: string, key: string): boolean {
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
    falseAlarms: mean(of("unanswerable").map(({ hits }) => (hits.length > 0 ? 1 : 0))),
  };
}

function hitRates(answered: readonly Answered[]): { readonly hitAt1: number; readonly hitAt3: number } {
  const within = (depth: number) => {
    return mean(answered.map(({ hits }) => (hits.slice(0, depth).some(({ isRight }) => isRight) ? 1 : 0)));
  };
  return { hitAt1: within(1), hitAt3: within(3) };
}

export function peopleFactsSection(figures: PeopleFigures): Measured {
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
  const { exact, partial } = figures;
  const rows = [
    ["in the fact's own words: the fact comes first", percent(exact.hitAt1), ""],
    ["… among the first three", percent(exact.hitAt3), ""],
    ["… its mean score", exact.meanScore.toFixed(3), `${SURE}`],
    [`… scores ${SURE} and above`, percent(exact.sure), ""],
    ["partly in them: the fact comes first", percent(partial.hitAt1), ""],
    ["… among the first three", percent(partial.hitAt3), ""],
    [`of all hits at ${GOOD} and above, right`, percent(figures.precision), "at least 80 %"],
    ["unanswerable questions with any hit", percent(figures.falseAlarms), "at most 5 %"],
  ];
  return {
    title: "Facts as people store them",
    markdown: `187 facts and audit rows of \`test/data\`, two questions about each, and 100 that none answers.\n\n${table(["questions", "seen", "aim"], rows)}`,
    json: figures,
  };
}
