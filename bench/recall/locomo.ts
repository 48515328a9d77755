/** LoCoMo's questions asked of every system, by category. */
import { type Measured, mean, table } from "../measured.ts";
import type { Conversation, Question } from "./conversations.ts";
import {
  type Asked,
  DEPTHS,
  figuresOf,
  PEERS_DEPTHS,
  peersFiguresOf,
  type RecallFigures,
} from "./figures.ts";
import { peopleQuestions } from "./people-facts.ts";
import { type Bench, type Hit, type Search, SYSTEMS, type SystemId } from "./recall-systems.ts";

/** What each system answered, over all conversations. */
export interface Answers {
  readonly asked: ReadonlyMap<SystemId, readonly Asked[]>;
  /** Of questions that no conversation answers (the people's unanswerable ones), the share that is shown a sure hit. */
  readonly falseAlarms: ReadonlyMap<SystemId, number>;
  /** Possible hits that such a question is shown, mean. */
  readonly possible: ReadonlyMap<SystemId, number>;
}

const DEEPEST = Math.max(...DEPTHS);
/** What the plugin shows; the others never stay silent. */
const WITH_CUT_OFF: readonly SystemId[] = ["keyword", "hybrid"];
const COMPARED: readonly SystemId[] = [
  ...(["keywordSure", "keyword", "keywordUncut", "fts5"] as const),
  ...(["vector", "hybridSure", "hybrid", "hybridUncut"] as const),
];
const DEFAULT_HITS = 10;

/** Imports each conversation into a memory of its own and asks all its questions of these systems, as far as they are there. */
export async function askConversations(
  bench: Bench,
  conversations: readonly Conversation[],
  systems: readonly SystemId[] = COMPARED,
): Promise<Answers> {
  const asked = new Map<SystemId, Asked[]>();
  const foreign = new Map<SystemId, (readonly Hit[])[]>();
  for (const { name, facts, questions } of conversations) {
    for (const [id, search] of await bench.fill(`locomo-${name}`, facts)) {
      if (!systems.includes(id)) continue;
      asked.set(id, [...(asked.get(id) ?? []), ...(await askAll(questions, search))]);
      if (WITH_CUT_OFF.includes(id))
        foreign.set(id, [...(foreign.get(id) ?? []), ...(await askForeign(search))]);
    }
  }
  const meanOf = (count: (hits: readonly Hit[]) => number) =>
    new Map([...foreign].map(([id, answers]) => [id, mean(answers.map(count))]));
  return {
    asked,
    falseAlarms: meanOf((hits) => (hits.some(({ possible }) => !possible) ? 1 : 0)),
    possible: meanOf((hits) => hits.filter(({ possible }) => possible).length),
  };
}

async function askAll(questions: readonly Question[], search: Search): Promise<readonly Asked[]> {
  const asked: Asked[] = [];
  for (const question of questions) asked.push(await ask(question, search));
  return asked;
}

/** For each question that no conversation answers: what is shown. */
async function askForeign(search: Search): Promise<readonly (readonly Hit[])[]> {
  const foreign = peopleQuestions().filter(({ kind }) => kind === "unanswerable");
  const answers: (readonly Hit[])[] = [];
  for (const { question } of foreign) answers.push(await search(question, DEFAULT_HITS));
  return answers;
}

async function ask(question: Question, search: Search): Promise<Asked> {
  const started = performance.now();
  const hits = await search(question.question, DEEPEST);
  return { question, keys: hits.map(({ key }) => key), ms: performance.now() - started };
}

const CATEGORIES: Readonly<Record<number, string>> = {
  1: "several facts",
  2: "times",
  3: "inference",
  4: "one fact",
  5: "adversarial",
};
/** FTS5 is there for comparison; its categories are nobody's question. */
const BY_CATEGORY: readonly SystemId[] = ["keyword", "vector", "hybrid"];

export function conversationsSection(
  conversations: readonly Conversation[],
  { asked, falseAlarms, possible }: Answers,
  embeddedBy: string,
): Measured {
  const overall = [...asked].map(([id, answers]) => figureRow(`**${SYSTEMS[id]}**`, figuresOf(answers)));
  const categories = categoriesOf([...asked.values()].flat()).flatMap((category) =>
    BY_CATEGORY.flatMap((id) => {
      const answers = asked.get(id)?.filter(({ question }) => question.category === category) ?? [];
      const name = `${CATEGORIES[category] ?? category}: ${SYSTEMS[id]}`;
      return answers.length === 0 ? [] : [figureRow(name, figuresOf(answers))];
    }),
  );
  const facts = conversations.reduce((sum, conversation) => sum + conversation.facts.length, 0);
  const head = [
    "LoCoMo",
    "questions",
    ...DEPTHS.map((depth) => `recall@${depth}`),
    ...DEPTHS.map((depth) => `any@${depth}`),
    "p50 ms",
    "p95 ms",
  ];
  const noise = [...falseAlarms].map(
    ([id, share]) =>
      `${(100 * share).toFixed(1)} %, and ${(possible.get(id) ?? 0).toFixed(2)} possible hits each (${SYSTEMS[id]})`,
  );
  return {
    title: "Recall on LoCoMo conversations",
    markdown: [
      `${conversations.length} conversations, ${facts} turns, each conversation in a memory of its own; ${embeddedBy}. Times are of the search alone: questions were embedded before.`,
      table(head, [...overall, ...categories]),
      "The same answers in the metrics of other published systems: any session of the evidence among the first 1, 5 and 10 sessions; all turns of the evidence among the first 5 and 10 hits; NDCG@5 over turns.",
      peersTable(asked),
      `Of the people's unanswerable questions, asked of each conversation, these get a sure hit: ${noise.join("; ")}.`,
    ].join("\n\n"),
    json: {
      conversations: conversations.map(({ name }) => name),
      asked: Object.fromEntries(asked),
      falseAlarms: Object.fromEntries(falseAlarms),
      possible: Object.fromEntries(possible),
    },
  };
}

function peersTable(asked: Answers["asked"]): string {
  const head = [
    "LoCoMo",
    "questions",
    ...PEERS_DEPTHS.sessions.map((depth) => `session any@${depth}`),
    ...PEERS_DEPTHS.all.map((depth) => `all@${depth}`),
    `NDCG@${PEERS_DEPTHS.ndcg}`,
  ];
  const rows = [...asked].map(([id, answers]) => {
    const { questions, sessionAny, all, ndcg } = peersFiguresOf(answers);
    return [
      `**${SYSTEMS[id]}**`,
      String(questions),
      ...[...sessionAny, ...all, ndcg].map((share) => share.toFixed(3)),
    ];
  });
  return table(head, rows);
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
