/** Runs one search system at one size in a separate process, to measure its memory: `node --expose-gc search-child.ts SYSTEM ENTRIES`. */
import { quantile } from "../measured.ts";
import { watchSlices } from "../slices.ts";
import { madeQuestion } from "./made-facts.ts";
import { SYSTEMS } from "./search-systems.ts";

export interface Sample {
  readonly system: string;
  readonly entries: number;
  readonly buildMs: number;
  readonly bytesPerEntry: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  /** Most processor time between two turns of the event loop during the build. Undefined if the system builds without a pause. */
  readonly longestSliceMs?: number;
  readonly hitsPerQuery: number;
}

const QUERIES = 1000;
const WARM_UP = 100;
const LONGEST_MS = 30_000;

async function measure(name: string, entries: number): Promise<Sample> {
  const make = SYSTEMS[name];
  if (make === undefined) throw new Error(`No such system: ${name}`);
  const before = usedBytes();
  const slices = watchSlices();
  const started = performance.now();
  const { search, inSlices } = await make(entries);
  const buildMs = performance.now() - started;
  const longestSliceMs = slices.stop();
  const bytesPerEntry = (usedBytes() - before) / entries;
  for (let query = 0; query < WARM_UP; query += 1) await search(madeQuestion(query, entries));
  const times: number[] = [];
  let hits = 0;
  const until = performance.now() + LONGEST_MS;
  for (let query = 0; query < QUERIES && performance.now() < until; query += 1) {
    const question = madeQuestion(WARM_UP + query, entries);
    const asked = performance.now();
    hits += await search(question);
    times.push(performance.now() - asked);
  }
  return {
    ...{ system: name, entries, buildMs, bytesPerEntry },
    p50Ms: quantile(times, 0.5),
    p95Ms: quantile(times, 0.95),
    ...(inSlices ? { longestSliceMs } : {}),
    hitsPerQuery: hits / times.length,
  };
}

function usedBytes(): number {
  for (let round = 0; round < 3; round += 1) globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage(); // external: the number arrays
  return heapUsed + external;
}

const [name = "", entries = "1000"] = process.argv.slice(2);
console.log(JSON.stringify(await measure(name, Number(entries))));
