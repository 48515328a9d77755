/** Asks everyday questions of a memory with no, 1,000 and 5,000 records of tool calls, and measures what the records change and cost. */
import type { RecallHit } from "../../recall/search-contract.ts";
import { type Measured, mean, quantile, table } from "../measured.ts";
import { type BenchMemory, openBenchMemory } from "./bench-memory.ts";
import { linesOfHalf, NATURAL_HALVES } from "./natural.ts";
import { readNaturalSet } from "./natural-set.ts";
import { unrelatedFact } from "./unrelated-facts.ts";

const CALLS = [0, 1_000, 5_000] as const;
const FACTS = 200;
const SHOWN = 10;
const FIRST = 3;
const TOOLS = ["exec", "read", "write", "edit", "web_fetch", "message", "browser", "process"];
/** Asked of every memory, so that the figures can be compared. */
const DEEDS = ["what did you do today?", "which tools did you use this week?", "was hast du heute gemacht?"];

interface Asked {
  readonly question: string;
  /** Absent if nothing answers the question. */
  readonly wanted?: string;
}

interface Answer extends Asked {
  readonly hits: readonly Pick<RecallHit, "key" | "kind" | "score" | "possible">[];
  readonly ms: number;
}

export interface BesideCalls {
  readonly calls: number;
  readonly answers: readonly Answer[];
  readonly deeds: readonly Answer[];
  readonly warmMs: number;
}

export async function askBesideCalls(): Promise<readonly BesideCalls[]> {
  const questions = questionsOf();
  const memory = await openBenchMemory();
  try {
    const measured: BesideCalls[] = [];
    for (const calls of CALLS) {
      const subject = `beside-${calls}`;
      const lines = [
        ...factLines(),
        ...Array.from({ length: calls }, (_none, number) => callLine(number, questions)),
      ];
      const began = performance.now();
      await memory.fill(subject, lines);
      const warmMs = performance.now() - began;
      await askAll(memory, subject, questions); // warms up the code before the measurement
      const answers = await askAll(memory, subject, questions);
      const deeds = await askAll(
        memory,
        subject,
        DEEDS.map((question) => ({ question })),
      );
      measured.push({ calls, answers, deeds, warmMs });
    }
    return measured;
  } finally {
    await memory.close();
  }
}

export function besideCallsSection(measured: readonly BesideCalls[]): Measured {
  const [alone] = measured;
  const rows = measured.map(({ calls, answers, deeds }) => {
    const factsOf = ({ hits }: Answer) => JSON.stringify(hits.filter(({ kind }) => kind === "fact"));
    const same = answers.filter((answer, at) => {
      const before = alone?.answers[at];
      return before !== undefined && factsOf(before) === factsOf(answer);
    });
    const right = answers.filter(({ wanted, hits }) =>
      hits.slice(0, FIRST).some(({ key }) => key === wanted),
    );
    const withCall = answers.filter(({ hits }) => hits.some(({ kind }) => kind === "tool"));
    const misled = withCall.filter(({ wanted }) => wanted === undefined);
    const most = Math.max(
      ...answers.map(({ hits }) => hits.slice(0, FIRST).filter(({ kind }) => kind === "tool").length),
    );
    return [
      calls.toLocaleString("en"),
      `${right.length} of ${answers.filter(({ wanted }) => wanted !== undefined).length}`,
      `${same.length} of ${answers.length}`,
      `${withCall.length}`,
      `${misled.length} of ${answers.filter(({ wanted }) => wanted === undefined).length}`,
      `${most}`,
      `${mean(deeds.map(({ hits }) => hits.filter(({ kind }) => kind === "tool").length)).toFixed(1)}`,
      ...[answers, deeds].map((those) =>
        quantile(
          those.map(({ ms }) => ms),
          0.95,
        ).toFixed(1),
      ),
    ];
  });
  return {
    title: "Facts beside records of tool calls",
    command: "npm run bench:recall -- --only calls",
    markdown: [
      `Records of tool calls must not push facts out. The test asks the everyday questions of ${FACTS} facts beside 0, 1,000 and 5,000 records, whose inputs are made of words of these very questions; keyword search. Facts come in the same order with the same scores, however many records there are. Other questions get one record at most, after the facts. ${DEEDS.length} questions about actions ("what did you do today?") get many.`,
      table(
        [
          "records",
          `fact among the first ${FIRST}`,
          "same facts as without records",
          "questions that get a record",
          "of these unanswerable",
          `most records among the first ${FIRST}`,
          "records per question about actions",
          "p95 ms",
          "p95 ms, actions",
        ],
        rows,
      ),
    ].join("\n\n"),
    json: measured,
  };
}

function questionsOf(): readonly Asked[] {
  const { questions, languages, unanswerable } = readNaturalSet();
  return [
    ...[...questions, ...languages].map(({ question, expect }) => ({ question, wanted: expect })),
    ...unanswerable.map(({ question }) => ({ question })),
  ];
}

function factLines(): readonly object[] {
  const own = NATURAL_HALVES.flatMap((half) => linesOfHalf(half)).slice(0, FACTS);
  return [...own, ...Array.from({ length: FACTS - own.length }, (_none, number) => unrelatedFact(number))];
}

/** Records are some minutes apart, the newest is now. Each path contains two words of a question. */
function callLine(number: number, questions: readonly Asked[]): object {
  const words = questions[number % questions.length]?.question.toLowerCase().match(/\p{L}{4,}/gu) ?? [];
  const [one = "notes", other = "plan"] = [words[number % words.length], words[(number + 1) % words.length]];
  return {
    audit: "tool",
    tool: TOOLS[number % TOOLS.length],
    outcome: number % 9 === 0 ? "failed" : "ok",
    at_unix: Math.floor(Date.now() / 1_000) - number * 120,
    duration_ms: (number * 37) % 4_000,
    inputs: { path: `${one}/${other}-${number % 50}.md` },
  };
}

async function askAll(
  memory: BenchMemory,
  subject: string,
  questions: readonly Asked[],
): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  for (const asked of questions) {
    const began = performance.now();
    const hits = await memory.shown(subject, asked.question, SHOWN);
    const ms = performance.now() - began;
    answers.push({ ...asked, hits: hits.map(plainHit), ms });
  }
  return answers;
}

function plainHit({ key, kind, score, possible }: RecallHit): Answer["hits"][number] {
  return { key, kind, score, ...(possible && { possible }) };
}
