/** Counts what is added to people's messages unasked: right facts, wrong facts and tokens; and measures how long the hook takes. */

import type { Memory, SearchAnswer } from "../../app/memory.ts";
import { makeRecallHook } from "../../plugin/recall-hook.ts";
import { makeReceipts } from "../../plugin/receipts.ts";
import { additionFrom, questionOf } from "../../plugin/unasked.ts";
import type { Embedder } from "../../recall/embedder.ts";
import { policyFor, recordingLogger } from "../../test/plugin/fake-host.ts";
import { type Measured, mean, quantile, table } from "../measured.ts";
import { madeFact, madeQuestion, seeded } from "../search/made-facts.ts";
import { readDialogues, readMessages } from "../sets/dialogues-set.ts";
import { type BenchMemory, type HybridSearch, openBenchMemory, openHybridSearch } from "./bench-memory.ts";
import { lineOf } from "./paraphrases.ts";
import { peopleFacts } from "./people-facts.ts";
import { personalSet } from "./sure-hits.ts";

const HALVES = { tune: "tuned on", held: "held out", single: "single messages, held out" } as const;
type Half = keyof typeof HALVES;
const BY = { keyword: "keywords", hybrid: "hybrid" } as const;
type By = keyof typeof BY;
/** Tokenizers of current models use one token per four to five of these characters. */
const CHARACTERS_PER_TOKEN = 4;
const TIMED = [1_000, 100_000] as const;
const MESSAGES_TIMED = 300;

interface UnaskedMessage {
  readonly half: Half;
  readonly by: By;
  readonly answerable: boolean;
  readonly right: number;
  readonly wrong: number;
  readonly tokens: number;
}

interface Timing {
  readonly by: By;
  readonly facts: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly late: number;
}

export interface Unasked {
  readonly messages: readonly UnaskedMessage[];
  readonly timings: readonly Timing[];
}

interface MemoryAsked {
  readonly name: string;
  readonly lines: readonly object[];
  readonly messages: readonly {
    readonly half: Half;
    readonly text: string;
    readonly helps: readonly string[];
  }[];
}

type Ask = (query: string) => Promise<Pick<SearchAnswer, "results">>;

export async function measureUnasked(embedder: Embedder | undefined): Promise<Unasked> {
  const memory = await openBenchMemory();
  const hybrid = embedder && openHybridSearch(memory.memory.store, embedder);
  try {
    return { messages: await askAll(memory, hybrid), timings: await timeAll(memory, embedder) };
  } finally {
    hybrid?.close();
    await memory.close();
  }
}

async function askAll(
  memory: BenchMemory,
  hybrid: HybridSearch | undefined,
): Promise<readonly UnaskedMessage[]> {
  const asked: UnaskedMessage[] = [];
  for (const { name, lines, messages } of memories()) {
    await memory.fill(name, lines);
    await hybrid?.fill(name);
    const systems: readonly (readonly [By, Ask])[] = [
      ["keyword", (query) => memory.memory.search(name, { query, limit: 3, recall: "quiet", explain: true })],
      ...(hybrid === undefined
        ? []
        : ([
            ["hybrid", async (query: string) => ({ results: sure(await hybrid.explained(name, query, 3)) })],
          ] as const)),
    ];
    for (const { half, text, helps } of messages)
      for (const [by, ask] of systems) asked.push({ half, by, ...(await added(text, helps, ask)) });
  }
  return asked;
}

function memories(): readonly MemoryAsked[] {
  const { facts, dialogues } = readDialogues();
  const ofDialogues = [...Map.groupBy(facts, (fact) => fact.memory)].map(([name, of]) => ({
    name,
    lines: of.map(({ key, value }, place) => lineOf({ key, fact: value }, place)),
    messages: dialogues
      .filter((one) => one.memory === name)
      .flatMap(({ half, messages }) => messages.map((message) => ({ half, ...message }))),
  }));
  const single = { life: personalSet("life").lines, people: peopleFacts() };
  const ofSingle = (["life", "people"] as const).map((name) => ({
    name,
    lines: single[name],
    messages: readMessages().flatMap((one) =>
      one.memory === name ? [{ ...one, half: "single" as const }] : [],
    ),
  }));
  return [...ofDialogues, ...ofSingle];
}

function sure(hits: SearchAnswer["results"]): SearchAnswer["results"] {
  return hits.filter(({ possible }) => possible === undefined);
}

async function added(
  text: string,
  helps: readonly string[],
  ask: Ask,
): Promise<Omit<UnaskedMessage, "half" | "by">> {
  const question = questionOf(text);
  const answer = question === undefined ? { results: [] } : await ask(question);
  const addition = additionFrom(answer, text);
  const right = addition.added.filter(({ key }) => helps.includes(key)).length;
  return {
    answerable: helps.length > 0,
    right,
    wrong: addition.added.length - right,
    tokens: Math.ceil((addition.text ?? "").length / CHARACTERS_PER_TOKEN),
  };
}

/** The whole hook over a memory of made facts, with the host's part made up. */
async function timeAll(memory: BenchMemory, embedder: Embedder | undefined): Promise<readonly Timing[]> {
  const timings: Timing[] = [];
  for (const facts of TIMED) {
    const subject = `made-${facts}`;
    await memory.fill(
      subject,
      Array.from({ length: facts }, (_, number) => madeLine(number)),
    );
    timings.push(await timed("keyword", facts, subject, memory.memory));
    if (embedder === undefined) continue;
    const hybrid = openHybridSearch(memory.memory.store, embeddingSome(embedder));
    try {
      await hybrid.fill(subject);
      const search = async (_: string, { query, limit = 3 }: { query: string; limit?: number }) => {
        const results = sure(await hybrid.explained(subject, query, limit));
        return { results, mode: "hybrid" } as const;
      };
      timings.push(await timed("hybrid", facts, subject, { ...memory.memory, search }));
    } finally {
      hybrid.close();
    }
  }
  return timings;
}

/** To embed 100,000 facts takes an hour. So further ones get the vectors of these, each turned a little; every question is embedded. */
const EMBEDDED = 2_000;
const TURNED_BY = 0.02;

function embeddingSome(embedder: Embedder): Embedder {
  const known: Float32Array[] = [];
  const random = seeded(1);
  let made = 0;
  const near = (): Float32Array => {
    const base = known[made++ % known.length] ?? new Float32Array();
    const turned = base.map((value) => value + TURNED_BY * (random() - 0.5));
    const length = Math.hypot(...turned);
    return turned.map((value) => value / length);
  };
  const some: Pick<Embedder, "embedDocuments"> = {
    async embedDocuments(texts, options) {
      if (known.length >= EMBEDDED) return { vectors: texts.map(near), truncated: [] };
      const embedded = await embedder.embedDocuments(texts, options);
      known.push(...embedded.vectors);
      return embedded;
    },
  };
  return Object.assign(Object.create(embedder), some, { close: () => {} });
}

function madeLine(number: number): object {
  const { key, value, category, tags } = madeFact(number);
  return { key: `${key}-${number}`, value, category, tags };
}

async function timed(by: By, facts: number, subject: string, memory: Memory): Promise<Timing> {
  const receipts = makeReceipts();
  const hook = makeRecallHook({
    access: { open: async () => memory, close: async () => {}, dispose: async () => {} },
    policy: policyFor({ subjects: { main: subject } }),
    log: recordingLogger(),
    rules: { autoRecall: "sure", captureRequests: "store" },
    receipts,
  });
  const times: number[] = [];
  // Questions that no earlier run asked, since their vectors are kept.
  const first = Date.now() % 1_000_000_000;
  for (let number = 0; number < MESSAGES_TIMED; number += 1) {
    const event = { prompt: madeQuestion(first + number, facts), messages: [] };
    const begun = performance.now();
    await hook(event, contextOf(`${by}-${number}`));
    times.push(performance.now() - begun);
  }
  const measured = times.slice(MESSAGES_TIMED / 10);
  return {
    by,
    facts,
    p50Ms: quantile(measured, 0.5),
    p95Ms: quantile(measured, 0.95),
    late: receipts.counts.late,
  };
}

function contextOf(runId: string) {
  const assertActive = () => {};
  return {
    ...{ runId, agentId: "main", sessionKey: "agent:main:main", trigger: "user" },
    toolAuthority: { allows: () => true, assertActive },
    hookInvocation: { assertActive },
  };
}

function unaskedFigures(messages: readonly UnaskedMessage[]) {
  const answerable = messages.filter((one) => one.answerable);
  const withFacts = messages.filter(({ tokens }) => tokens > 0);
  return {
    messages: messages.length,
    answerable: answerable.length,
    helped: answerable.filter(({ right }) => right > 0).length,
    wrongPer100: 100 * mean(messages.map(({ wrong }) => wrong)),
    tokens: mean(messages.map(({ tokens }) => tokens)),
    mostTokens: Math.max(0, ...withFacts.map(({ tokens }) => tokens)),
  };
}

export function unaskedSection({ messages, timings }: Unasked, embeddedBy: string): Measured {
  const rows = (Object.keys(BY) as By[]).flatMap((by) =>
    (Object.keys(HALVES) as Half[]).flatMap((half) => {
      const of = messages.filter((one) => one.by === by && one.half === half);
      if (of.length === 0) return [];
      const figures = unaskedFigures(of);
      const share = Math.round((100 * figures.helped) / figures.answerable);
      return [
        [
          ...[BY[by], HALVES[half], `${figures.messages}`, `${figures.answerable}`],
          ...[`${figures.helped} (${share} %)`, figures.wrongPer100.toFixed(1)],
          ...[figures.tokens.toFixed(1), `${figures.mostTokens}`],
        ],
      ];
    }),
  );
  const times = timings.map(({ by, facts, p50Ms, p95Ms, late }) => [
    ...[BY[by], facts.toLocaleString("en")],
    ...[p50Ms.toFixed(1), p95Ms.toFixed(1), `${late}`],
  ]);
  return {
    title: "Recall unasked",
    command: "npm run bench:recall -- --only unasked",
    markdown: [
      `With \`autoRecall\`, facts that are sure for a person's message are added to it. This asks about each message of 200 dialogues over ten memories of 15 facts, and about 200 single messages over two memories of 60 and 187 (\`test/data/README.md\`); ${embeddedBy}. About half of the messages are answerable: a stored fact makes the answer better. A wrong fact is one that helps nothing. The rules are tuned on one half. On the other, sure hits alone gave 5.8 wrong facts per 100 messages with the model; two rules then made it stricter, and such figures of that half were looked at four times, never its messages.`,
      table(
        [
          ...["by", "half", "messages", "answerable", "of these with a right fact"],
          ...["wrong facts per 100 messages", "tokens a message", "most"],
        ],
        rows,
      ),
      "How long the whole hook takes, in milliseconds, over made facts and questions, in one process, on a machine that others use too. OpenClaw's turn waits 400 ms at most. Of 100,000 facts the model embedded the first 2,000 and every question; the other vectors are these, each turned a little.",
      table(["by", "facts", "median", "95 %", "over 400 ms, of 300"], times),
    ].join("\n\n"),
    json: { messages, timings },
  };
}
