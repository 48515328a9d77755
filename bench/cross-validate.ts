/**
 * `node bench/cross-validate.ts [--data DIR]`: whether the weights of conversations fit conversations that they were not tuned on. For each
 * conversation it tunes the weights anew on the others, from equal ones, and asks the one that was left out. Built-in model.
 *
 * It orders the 50 best candidates of the weights table anew, so a candidate that is not among them stays out.
 */
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { RecallHit } from "../recall/search-contract.ts";
import { WEIGHTS } from "../recall/weights.ts";
import { mean, table } from "./measured.ts";
import { openBenchMemory, openHybridSearch } from "./recall/bench-memory.ts";
import { benchEmbedder } from "./recall/bench-recall.ts";
import { type Conversation, conversationsOfFolder } from "./recall/conversations.ts";

type Merit = Readonly<Record<string, number>>;

interface Candidate {
  readonly key: string;
  readonly isLine: boolean;
  readonly values: Merit;
  /** By the weights table, for what is no line of a conversation. */
  readonly merit: number;
}

interface Asked {
  readonly evidence: readonly string[];
  readonly candidates: readonly Candidate[];
}

interface Recall {
  readonly at5: number;
  readonly at10: number;
}

const CANDIDATES = 50;
const TABLE = WEIGHTS.line.merit as Merit;
const FACTORS = [0, 0.5, 0.75, 0.9, 1.1, 1.33, 2, 4];
const ROUNDS = 4;

async function main(): Promise<void> {
  const data = fileURLToPath(new URL("../../shared/data/locomo-dev", import.meta.url));
  const { values } = parseArgs({ options: { data: { type: "string", default: data } } });
  const conversations = conversationsOfFolder(values.data);
  const asked = await askAll(conversations);
  const rows = conversations.map(({ name }, left) => {
    const others = asked.filter((_, place) => place !== left).flat();
    const weights = tuned(others);
    return { name, weights, tunedOn: recallOf(others, weights), out: recallOf(asked[left] ?? [], weights) };
  });
  const inTable = asked.map((one) => recallOf(one, TABLE));
  const names = Object.keys(TABLE);
  console.log(
    table(
      ["left out", "recall@5, @10 of the others", "of the one left out", "… by the weights table", ...names],
      [
        ...rows.map(({ name, weights, tunedOn, out }, place) => [
          name,
          ...[tunedOn, out, inTable[place]].map((one) => (one === undefined ? "" : textOf(one))),
          ...names.map((weight) => (weights[weight] ?? 0).toFixed(2)),
        ]),
        [
          "mean",
          ...[rows.map(({ tunedOn }) => tunedOn), rows.map(({ out }) => out), inTable].map((all) =>
            textOf(meanOf(all)),
          ),
          ...names.map(() => ""),
        ],
      ],
    ),
  );
}

async function askAll(conversations: readonly Conversation[]): Promise<readonly (readonly Asked[])[]> {
  const embedder = benchEmbedder("builtin");
  if (embedder === undefined) throw new Error("There is no built-in model.");
  const bench = await openBenchMemory();
  const hybrid = openHybridSearch(bench.memory.store, embedder, { showsAll: true });
  const all: (readonly Asked[])[] = [];
  try {
    for (const { name, facts, questions } of conversations) {
      await bench.fill(name, facts);
      await hybrid.fill(name);
      const asked: Asked[] = [];
      for (const { question, evidence } of questions) {
        const hits = await hybrid.explained(name, question, CANDIDATES);
        asked.push({ evidence, candidates: hits.map(candidateOf) });
      }
      all.push(asked);
    }
  } finally {
    hybrid.close();
    await bench.close();
    embedder.close();
  }
  return all;
}

function candidateOf({ key, parts = {} }: RecallHit): Candidate {
  const names = Object.keys(parts);
  const values = Object.fromEntries(names.map((name) => [name, parts[name]?.value ?? 0]));
  const merit = names.reduce((sum, name) => {
    const { value = 0, weight = 0 } = parts[name] ?? {};
    return weight > 0 ? sum + value * weight : sum; // the others are doubts
  }, 0);
  return { key, isLine: "coverage" in parts, values, merit };
}

/** Raises or lowers one weight after the other while that finds more. */
function tuned(asked: readonly Asked[]): Merit {
  let weights: Merit = Object.fromEntries(Object.keys(TABLE).map((name) => [name, 0.3]));
  let best = sumOf(recallOf(asked, weights));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const name of Object.keys(TABLE)) {
      const from = weights;
      for (const factor of FACTORS) {
        const other = { ...from, [name]: (from[name] ?? 0) * factor };
        const found = sumOf(recallOf(asked, other));
        if (found > best) [best, weights] = [found, other];
      }
    }
  }
  return weights;
}

function recallOf(asked: readonly Asked[], weights: Merit): Recall {
  const shares = asked.map(({ evidence, candidates }) => {
    const ranked = [...candidates]
      .map((one) => ({ key: one.key, merit: one.isLine ? meritOf(one, weights) : one.merit }))
      .sort((left, right) => right.merit - left.merit);
    const among = (first: number) => {
      const keys = new Set(ranked.slice(0, first).map(({ key }) => key));
      return evidence.filter((key) => keys.has(key)).length / evidence.length;
    };
    return { at5: among(5), at10: among(10) };
  });
  return meanOf(shares);
}

function meritOf({ values }: Candidate, weights: Merit): number {
  let merit = 0;
  for (const name in weights) merit += (weights[name] ?? 0) * (values[name] ?? 0);
  return merit;
}

function meanOf(all: readonly Recall[]): Recall {
  return { at5: mean(all.map(({ at5 }) => at5)), at10: mean(all.map(({ at10 }) => at10)) };
}

function sumOf({ at5, at10 }: Recall): number {
  return at5 + at10;
}

function textOf({ at5, at10 }: Recall): string {
  return `${at5.toFixed(3)}, ${at10.toFixed(3)}`;
}

await main();
