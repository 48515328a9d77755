/** `npm run bench:recall [-- --data DIR | --locomo FILE] [--write]`: recall on conversations and on people's facts. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type Measured, table } from "./measured.ts";
import {
  type Conversation,
  conversationsOfFolder,
  conversationsOfPublished,
  type Question,
} from "./recall/conversations.ts";
import { type Asked, DEPTHS, figuresOf, type RecallFigures } from "./recall/figures.ts";
import { fts5Over } from "./recall/fts5.ts";
import { type BenchMemory, openBenchMemory } from "./recall/memory.ts";
import { measurePeopleFacts, peopleFactsSection, peopleQuestions } from "./recall/people-facts.ts";
import { keepRaw, showSection, writeSection } from "./report.ts";

const DEFAULT_DATA = fileURLToPath(new URL("../../shared/data/locomo-dev", import.meta.url));
const DEEPEST = Math.max(...DEPTHS);

/** Every answer of each way of searching, over all conversations. */
export interface Answers extends Readonly<Record<"shown" | "ranked" | "fts5", readonly Asked[]>> {
  /** Of questions that no conversation answers (the people's unanswerable ones), the share that is shown any hit. */
  readonly falseAlarms: number;
}

/** Imports each conversation into a memory of its own subject and asks all its questions in three ways. */
export async function askConversations(
  memory: BenchMemory,
  conversations: readonly Conversation[],
): Promise<Answers> {
  const answers = { shown: [] as Asked[], ranked: [] as Asked[], fts5: [] as Asked[] };
  const foreign = peopleQuestions().filter(({ kind }) => kind === "unanswerable");
  let alarms = 0;
  for (const { name, facts, questions } of conversations) {
    const subject = `locomo-${name}`;
    await memory.fill(subject, facts);
    const fts5 = fts5Over(facts);
    const ways = {
      shown: async (query: string) => keysOf(await memory.shown(subject, query, DEEPEST)),
      ranked: async (query: string) => keysOf(await memory.ranked(subject, query, DEEPEST)),
      fts5: async (query: string) => fts5(query, DEEPEST),
    };
    for (const question of questions) {
      for (const way of ["shown", "ranked", "fts5"] as const)
        answers[way].push(await ask(question, ways[way]));
    }
    for (const { question } of foreign) {
      if ((await memory.shown(subject, question, DEEPEST)).length > 0) alarms += 1;
    }
  }
  return { ...answers, falseAlarms: alarms / (foreign.length * conversations.length) };
}

async function ask(question: Question, way: (query: string) => Promise<readonly string[]>): Promise<Asked> {
  const started = performance.now();
  const keys = await way(question.question);
  return { question, keys, ms: performance.now() - started };
}

function keysOf(hits: readonly { readonly key: string }[]): readonly string[] {
  return hits.map(({ key }) => key);
}

const CATEGORIES: Readonly<Record<number, string>> = {
  1: "several facts",
  2: "times",
  3: "inference",
  4: "one fact",
  5: "adversarial",
};

function conversationsSection(conversations: readonly Conversation[], answers: Answers): Measured {
  const rows = [
    figureRow("**keywords, before the cut-off**", figuresOf(answers.ranked)),
    figureRow("**keywords, as the plugin shows them**", figuresOf(answers.shown)),
    figureRow("SQLite FTS5, stemmed, BM25", figuresOf(answers.fts5)),
    ...categoriesOf(answers.ranked).map((category) => {
      const asked = answers.ranked.filter(({ question }) => question.category === category);
      return figureRow(`before the cut-off: ${CATEGORIES[category] ?? category}`, figuresOf(asked));
    }),
    ...categoriesOf(answers.shown).map((category) => {
      const asked = answers.shown.filter(({ question }) => question.category === category);
      return figureRow(`as shown: ${CATEGORIES[category] ?? category}`, figuresOf(asked));
    }),
  ];
  const facts = conversations.reduce((sum, conversation) => sum + conversation.facts.length, 0);
  const head = [
    "LoCoMo",
    "questions",
    ...DEPTHS.map((depth) => `recall@${depth}`),
    ...DEPTHS.map((depth) => `any@${depth}`),
    "p50 ms",
    "p95 ms",
  ];
  const noise = `Of the people's unanswerable questions, asked of each conversation, ${(100 * answers.falseAlarms).toFixed(1)} % get any hit.`;
  return {
    title: "Recall on LoCoMo conversations",
    markdown: `${conversations.length} conversations, ${facts} turns, each conversation in a memory of its own; no embeddings.\n\n${table(head, rows)}\n\n${noise}`,
    json: { conversations: conversations.map(({ name }) => name), answers },
  };
}

function categoriesOf(asked: readonly Asked[]): readonly number[] {
  return [...new Set(asked.map(({ question }) => question.category))].sort();
}

function figureRow(
  name: string,
  { questions, recall, anyHit, p50Ms, p95Ms }: RecallFigures,
): readonly string[] {
  const shares = [...recall, ...anyHit].map((share) => share.toFixed(3));
  return [name, String(questions), ...shares, p50Ms.toFixed(2), p95Ms.toFixed(2)];
}

/** Undefined, with the reason on standard error, when there is nothing to read. */
function findConversations(
  data: string | undefined,
  locomo: string | undefined,
): readonly Conversation[] | undefined {
  if (locomo !== undefined) return conversationsOfPublished(locomo);
  const folder = data ?? process.env.HELMDECK_LOCOMO_DIR ?? DEFAULT_DATA;
  const conversations = existsSync(folder) ? conversationsOfFolder(folder) : [];
  if (conversations.length > 0) return conversations;
  console.error(
    "No conversations found. LoCoMo is not part of this repository (CC BY-NC 4.0). Either\n" +
      "  --locomo FILE  the published locomo10.json (github.com/snap-research/locomo), or\n" +
      "  --data DIR     a folder of NAME.facts.jsonl and NAME.questions.jsonl (or HELMDECK_LOCOMO_DIR).\n" +
      "Only the people's facts are measured now.",
  );
  return undefined;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      data: { type: "string" },
      locomo: { type: "string" },
      write: { type: "boolean", default: false },
    },
  });
  const conversations = findConversations(values.data, values.locomo);
  const memory = await openBenchMemory();
  try {
    const sections: Measured[] = [];
    if (conversations !== undefined) {
      sections.push(conversationsSection(conversations, await askConversations(memory, conversations)));
    }
    sections.push(peopleFactsSection(await measurePeopleFacts(memory)));
    for (const section of sections) showSection(section);
    console.log(`\nRaw answers: ${keepRaw("recall", sections)}`);
    if (values.write) for (const section of sections) writeSection(section);
  } finally {
    await memory.close();
  }
}

if (import.meta.main) await main();
