/** Asks LoCoMo's questions of every system, and reports the results by category. */
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

/** The answers of each system, over all conversations. */
export interface Answers {
  readonly asked: ReadonlyMap<SystemId, readonly Asked[]>;
  /** The share of questions without an answer in any conversation (the people's unanswerable ones) that get a sure hit. */
  readonly falseAlarms: ReadonlyMap<SystemId, number>;
  /** The mean number of possible hits for such a question. */
  readonly possible: ReadonlyMap<SystemId, number>;
}

const DEEPEST = Math.max(...DEPTHS);
/** The systems with the plugin's cut-off. The others return hits for every question. */
const WITH_CUT_OFF: readonly SystemId[] = ["keyword", "hybrid"];
const COMPARED: readonly SystemId[] = [
  ...(["keywordSure", "keyword", "keywordUncut", "fts5"] as const),
  ...(["vector", "hybridSure", "hybrid", "hybridUncut"] as const),
];
const DEFAULT_HITS = 10;

/** Imports each conversation into a separate memory and asks its questions of those of these systems that are available. */
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

/** The hits for each question that no conversation answers. */
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
/** Variants of these systems are printed, but not written. */
const IN_DOCUMENT: readonly SystemId[] = ["keyword", "fts5", "vector", "hybrid"];
/** FTS5 is only compared over all questions. */
const BY_CATEGORY: readonly SystemId[] = ["keyword", "vector", "hybrid"];

export function conversationsSection(
  conversations: readonly Conversation[],
  { asked, falseAlarms, possible }: Answers,
  embeddedBy: string,
): Measured {
  const compared = new Map([...asked].filter(([id]) => IN_DOCUMENT.includes(id)));
  const facts = conversations.reduce((sum, conversation) => sum + conversation.facts.length, 0);
  const head = [
    "system",
    ...DEPTHS.map((depth) => `recall@${depth}`),
    ...DEPTHS.map((depth) => `any@${depth}`),
    "p50 ms",
    "p95 ms",
  ];
  const noise = [...falseAlarms].map(
    ([id, share]) =>
      `${(100 * share).toFixed(1)} % get a sure hit, and each gets ${(possible.get(id) ?? 0).toFixed(2)} possible hits (${SYSTEMS[id]})`,
  );
  return {
    title: "Recall on LoCoMo conversations",
    command: "npm run bench:recall -- --only conversations",
    markdown: [
      `[LoCoMo](https://github.com/snap-research/locomo) has long conversations of two people, and questions about them. Each turn is stored as a fact, each conversation in a memory of its own: ${conversations.length} conversations, ${facts.toLocaleString("en")} turns, ${questionsOf(asked)} questions; ${embeddedBy}. LoCoMo names the turns that contain a question's evidence. recall@k: the share of this evidence among the first k hits. any@k: the share of questions with any evidence there. Times are of the search alone: questions were embedded before.`,
      table(head, overallRows(compared)),
      "By kind of question, recall@10. An adversarial question asks about the wrong person.",
      categoriesTable(asked),
      `**In the metrics that other systems publish.** Many report LoCoMo by session, which is easier than by turn: a session holds some 20 turns. This table counts the same answers that way:`,
      [
        "- *session any@k*: the share of questions with any session of the evidence among the first k sessions. A session ranks as its best turn.",
        "- *all@k* (strict): the share of questions with every turn of the evidence among the first k hits.",
        `- *NDCG@${PEERS_DEPTHS.ndcg}*: how high the evidence stands among the first ${PEERS_DEPTHS.ndcg} turns.`,
      ].join("\n"),
      peersTable(compared),
      `The unanswerable questions of [facts as people store them](#facts-as-people-store-them), asked of each conversation: ${noise.join("; ")}.`,
    ].join("\n\n"),
    details: [
      "All systems, without possible hits and before the cut-off too",
      table(head, overallRows(asked)),
      peersTable(asked),
    ].join("\n\n"),
    json: {
      conversations: conversations.map(({ name }) => name),
      asked: Object.fromEntries(asked),
      falseAlarms: Object.fromEntries(falseAlarms),
      possible: Object.fromEntries(possible),
    },
  };
}

function overallRows(asked: Answers["asked"]): readonly (readonly string[])[] {
  return [...asked].map(([id, answers]) => figureRow(SYSTEMS[id], figuresOf(answers)));
}

function questionsOf(asked: Answers["asked"]): string {
  return Math.max(...[...asked.values()].map((answers) => answers.length)).toLocaleString("en");
}

function categoriesTable(asked: Answers["asked"]): string {
  const compared = BY_CATEGORY.filter((id) => asked.has(id));
  const rows = categoriesOf([...asked.values()].flat()).map((category) => {
    const figures = compared.map((id) =>
      figuresOf(asked.get(id)?.filter(({ question }) => question.category === category) ?? []),
    );
    const shares = figures.map(({ recall }) => recall[DEPTHS.indexOf(DEFAULT_HITS)]?.toFixed(3) ?? "");
    return [CATEGORIES[category] ?? `${category}`, `${figures[0]?.questions ?? 0}`, ...shares];
  });
  return table(["kind", "questions", ...compared.map((id) => SYSTEMS[id])], rows);
}

function peersTable(asked: Answers["asked"]): string {
  const head = [
    "system",
    ...PEERS_DEPTHS.sessions.map((depth) => `session any@${depth}`),
    ...PEERS_DEPTHS.all.map((depth) => `all@${depth}`),
    `NDCG@${PEERS_DEPTHS.ndcg}`,
  ];
  const rows = [...asked].map(([id, answers]) => {
    const { sessionAny, all, ndcg } = peersFiguresOf(answers);
    return [SYSTEMS[id], ...[...sessionAny, ...all, ndcg].map((share) => share.toFixed(3))];
  });
  return table(head, rows);
}

function categoriesOf(asked: readonly Asked[]): readonly number[] {
  return [...new Set(asked.map(({ question }) => question.category))].sort();
}

function figureRow(name: string, { recall, anyHit, p50Ms, p95Ms }: RecallFigures): readonly string[] {
  const shares = [...recall, ...anyHit].map((share) => share.toFixed(3));
  return [name, ...shares, p50Ms.toFixed(2), p95Ms.toFixed(2)];
}
