/**
 * `node bench/ablate-weights.ts [--embedder builtin|none|URL] [--data DIR]`: measures the effect of each weight of recall. It turns off one weight after
 * the other, and asks the questions of the dev halves and of some LoCoMo conversations again. A weight whose row equals the first row can
 * be removed.
 */
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { WEIGHTS } from "../recall/weights.ts";
import { mean, table } from "./measured.ts";
import { benchEmbedder } from "./recall/bench-recall.ts";
import { conversationsOfFolder } from "./recall/conversations.ts";
import { readNaturalSet } from "./recall/natural-set.ts";
import { halfOf, readParaphraseSet } from "./recall/paraphrase-set.ts";
import { lineOf } from "./recall/paraphrases.ts";
import { isOf, peopleFacts, peopleQuestions } from "./recall/people-facts.ts";
import { type Bench, type Hit, openBench, type Search } from "./recall/recall-systems.ts";
import { readPersonalSet } from "./sets/personal-set.ts";

/** More conversations take longer and give the same result. */
const CONVERSATIONS = 2;

interface Question {
  readonly question: string;
  /** Empty if nothing answers the question. */
  readonly wanted: readonly string[];
}

interface Asked {
  readonly name: string;
  readonly search: Search;
  readonly questions: readonly Question[];
  /** The number of first hits that should include the wanted ones. */
  readonly depth: number;
  /** The kind of entry whose weights apply. */
  readonly of: "fact" | "line";
}

/** The path of a weight, and the value that turns it off if that is not 0. */
const SWITCHED: readonly (readonly [path: string, off?: number])[] = [
  ...Object.keys(WEIGHTS.fact.merit).map((name) => [`fact.merit.${name}`] as const),
  ...Object.keys(WEIGHTS.fact.doubt).map((name) => [`fact.doubt.${name}`] as const),
  ["fact.lead.meaning"],
  ...Object.keys(WEIGHTS.line.merit).map((name) => [`line.merit.${name}`] as const),
  ...Object.keys(WEIGHTS.line.doubt).map((name) => [`line.doubt.${name}`] as const),
  ["words.everyday", 1],
  ["words.related"],
  ["words.date"],
  ["words.halvingDetour", 1e9],
  ["bm25.saturation"],
  ["bm25.lengthNorm"],
  ["thread.decay", 1],
  ["thread.lent"],
  ["thread.lentDecay", 1],
  ["meaning.ofAllWords"],
  ["meaning.enoughWords", 2],
  ["meaning.inOtherWords"],
];

async function main(): Promise<void> {
  const data = fileURLToPath(new URL("../../shared/data/locomo-dev", import.meta.url));
  const { values } = parseArgs({
    options: { embedder: { type: "string", default: "builtin" }, data: { type: "string", default: data } },
  });
  const embedder = benchEmbedder(values.embedder);
  const bench = await openBench(embedder);
  try {
    const asked = [...(await askedOfFacts(bench)), ...(await askedOfConversations(bench, values.data))];
    const rows = [["as they are", ...(await figuresOf(asked))]];
    for (const [path, off = 0] of SWITCHED) {
      rows.push([path, ...(await without(path, off, asked))]);
      console.error(rows.at(-1)?.join(" | "));
    }
    console.log(table(["switched off", ...asked.map(({ name }) => name)], rows));
  } finally {
    await bench.close();
    embedder?.close();
  }
}

async function without(path: string, off: number, asked: readonly Asked[]): Promise<readonly string[]> {
  const names = path.split(".");
  const last = names.pop() ?? "";
  // The table is not meant to be changed. This benchmark changes it for a moment.
  const holder = names.reduce((table, name) => table[name] as Table, WEIGHTS as unknown as Table);
  const usual = holder[last];
  if (typeof usual !== "number") throw new Error(`There is no weight ${path}.`);
  holder[last] = off;
  try {
    const isOther = ({ of }: Asked) => path.startsWith(of === "fact" ? "line" : "fact");
    const figures = await figuresOf(asked.filter((one) => !isOther(one)));
    return asked.map((one) => (isOther(one) ? "" : (figures.shift() ?? "")));
  } finally {
    holder[last] = usual;
  }
}

interface Table {
  [name: string]: number | Table;
}

async function askedOfFacts(bench: Bench): Promise<readonly Asked[]> {
  const natural = readNaturalSet();
  const personal = readPersonalSet();
  const isDev = ({ half }: { readonly half: string }) => half === "dev";
  const { pairs, unanswerable } = readParaphraseSet();
  const people = peopleQuestions().map(({ question, expect }) => ({
    id: question,
    question,
    wanted: expect ?? [],
  }));
  const paraphrases = [
    ...pairs.map(({ id, question, key }) => ({ id, question, wanted: [key] })),
    ...unanswerable.map(({ id, question }) => ({ id, question, wanted: [] })),
  ];
  const questions = [...natural.questions, ...natural.languages].filter(isDev);
  return [
    ...(await askedOf(bench, "people", peopleFacts(), people.filter(onDev))),
    ...(await askedOf(bench, "paraphrases", pairs.map(lineOf), paraphrases.filter(onDev))),
    ...(await askedOf(
      bench,
      "natural",
      natural.facts.filter(isDev).map(({ key, value }) => ({ key, value })),
      [
        ...questions.map(({ question, expect }) => ({ question, wanted: [expect] })),
        ...natural.unanswerable.filter(isDev).map(({ question }) => ({ question, wanted: [] })),
      ],
    )),
    ...(await askedOf(
      bench,
      "personal",
      personal.facts.map(({ key, value }) => ({ key, value })),
      personal.questions
        .filter(({ half }) => half === "tune")
        .map((one) => ({ question: one.question, wanted: one.kind === "answerable" ? [one.expect] : [] })),
    )),
  ];
}

function onDev(question: { readonly id: string }): boolean {
  return halfOf(question) === "dev";
}

async function askedOf(
  bench: Bench,
  name: string,
  lines: readonly object[],
  questions: readonly Question[],
  kind: Pick<Asked, "depth" | "of"> = { depth: 3, of: "fact" },
): Promise<readonly Asked[]> {
  const systems = await bench.fill(name, lines);
  return (["keyword", "hybrid"] as const).flatMap((id) => {
    const search = systems.get(id);
    return search === undefined ? [] : [{ name: `${name}, ${id}`, search, questions, ...kind }];
  });
}

async function askedOfConversations(bench: Bench, folder: string): Promise<readonly Asked[]> {
  const each: Asked[] = [];
  for (const { name, facts, questions } of conversationsOfFolder(folder).slice(0, CONVERSATIONS)) {
    const wanted = questions.map(({ question, evidence }) => ({ question, wanted: evidence }));
    const unanswerable = peopleQuestions().filter(({ kind }) => kind === "unanswerable");
    const unwanted = unanswerable.map(({ question }) => ({ question, wanted: [] }));
    each.push(...(await askedOf(bench, name, facts, [...wanted, ...unwanted], { depth: 10, of: "line" })));
  }
  return each;
}

/** The mean share of wanted facts that are shown; the share of sure hits that are right; for unanswerable questions, possible hits and share with a sure hit. */
async function figuresOf(asked: readonly Asked[]): Promise<string[]> {
  const figures: string[] = [];
  for (const { search, questions, depth } of asked) {
    const found: number[] = [];
    const sure: number[] = [];
    const shown: number[] = [];
    const alarms: number[] = [];
    for (const { question, wanted } of questions) {
      const hits = await search(question, 10);
      const isRight = ({ key }: Hit) => wanted.some((one) => isOf(one, key));
      const sureHits = hits.filter(({ possible }) => !possible);
      sure.push(...sureHits.map((hit) => (isRight(hit) ? 1 : 0)));
      if (wanted.length > 0) found.push(hits.slice(0, depth).filter(isRight).length / wanted.length);
      else {
        shown.push(hits.length - sureHits.length);
        alarms.push(sureHits.length > 0 ? 1 : 0);
      }
    }
    figures.push(
      `${percent(mean(found))}, ${percent(mean(sure))}; ${mean(shown).toFixed(2)}, ${percent(mean(alarms))}`,
    );
  }
  return figures;
}

function percent(share: number): string {
  return (100 * share).toFixed(1);
}

await main();
