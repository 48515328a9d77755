/** Runs one vector search at one size in a separate process: `node --expose-gc vectors-child.ts SYSTEM FOLDER [EXTENSION]`. */
import { quantile } from "../measured.ts";
import { madeQuestion } from "../search/made-facts.ts";
import { watchSlices } from "../slices.ts";
import { madeVector } from "./made-vectors.ts";
import { SYSTEMS } from "./vector-systems.ts";

export interface Times {
  readonly p50Ms: number;
  readonly p95Ms: number;
  /** Mean processor time of one search. On a busy machine, the clock also measures other processes. */
  readonly processorMs: number;
}

export interface VectorSample {
  readonly system: string;
  readonly vectors: Times;
  /** Times of keyword and semantic search together, if the system has both. */
  readonly hybrid?: Times;
  /** Since the start of the process. Undefined if vectors were made at the start. */
  readonly firstAnswerMs?: number;
  readonly completeMs?: number;
  /** Most processor time between two turns of the event loop until everything was loaded. */
  readonly longestSliceMs: number;
  /** How much more memory the idle process holds than before the start. */
  readonly residentBytes: number;
  /** The keys of the ten nearest entries for the first questions. A comparison with exact search shows what approximation misses. */
  readonly nearest: readonly (readonly string[])[];
}

const QUESTIONS = 500;
const WARM_UP = 20;
const LONGEST_MS = 20_000;
const COMPARED = 50;
const HITS = 10;
/** Questions for a memory of this size, whatever the real size. Most ask for something that is not there, which takes as much work. */
const ASKED_OF = 1_000;

async function measure(name: string, folder: string, extension: string): Promise<VectorSample> {
  const start = SYSTEMS[name];
  if (start === undefined) throw new Error(`No such system: ${name}`);
  const before = residentBytes();
  const slices = watchSlices();
  const system = await start(folder, extension);
  const longestSliceMs = slices.stop();
  const held = residentBytes() - before;
  const questions = Array.from({ length: QUESTIONS }, (_, number) => madeQuestion(number, ASKED_OF));
  const asked = questions.map(madeVector);
  const nearest = asked.slice(0, COMPARED).map((vector) => system.nearest(vector, HITS));
  const vectors = await timesOf(asked, (vector) => system.nearest(vector, HITS));
  const { hybrid } = system;
  const whole = hybrid && (await timesOf(questions, (question) => hybrid(question)));
  await system.close();
  return {
    ...{ system: name, vectors, longestSliceMs, residentBytes: held, nearest },
    ...(whole && { hybrid: whole }),
    ...(system.firstAnswerMs !== undefined && { firstAnswerMs: system.firstAnswerMs }),
    ...(system.completeMs !== undefined && { completeMs: system.completeMs }),
  };
}

async function timesOf<T>(asked: readonly T[], search: (one: T) => unknown): Promise<Times> {
  for (const one of asked.slice(0, WARM_UP)) await search(one);
  const times: number[] = [];
  const before = process.cpuUsage();
  const until = performance.now() + LONGEST_MS;
  for (const one of asked) {
    if (performance.now() > until) break;
    const started = performance.now();
    await search(one);
    times.push(performance.now() - started);
  }
  const { user, system } = process.cpuUsage(before);
  return {
    p50Ms: quantile(times, 0.5),
    p95Ms: quantile(times, 0.95),
    processorMs: (user + system) / 1_000 / times.length,
  };
}

function residentBytes(): number {
  for (let round = 0; round < 3; round += 1) globalThis.gc?.();
  return process.memoryUsage.rss();
}

const [name = "", folder = "", extension = ""] = process.argv.slice(2);
console.log(JSON.stringify(await measure(name, folder, extension)));
