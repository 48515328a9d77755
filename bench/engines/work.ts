/** Sends requests to engines and measures how long the answers take. */
import autocannon from "autocannon";
import { Engine } from "../../test/engines/engine.ts";
import { factOf, type Size, subjectOf } from "./filled.ts";

/** Concurrent connections, whatever the number of engines. */
const CONNECTIONS = 32;
/** Callers that write. Each has its own lock. */
const WRITERS = 64;
/** Callers that search: few enough that all their indexes stay warm. */
const SEARCHERS = 12;
const WORDS_ASKED = 5;

export type Task = "write" | "search";

export interface Rate {
  readonly perSecond: number;
  readonly times: readonly number[];
}

/** Counts the writes of this run, so that every write is a new fact. */
let requests = 0;

/** Sends requests of many callers, spread evenly over the engines. */
export async function load(
  engines: readonly Engine[],
  work: Task,
  { size, seconds }: { readonly size: Size; readonly seconds: number },
): Promise<Rate> {
  const callers = work === "write" ? WRITERS : SEARCHERS;
  const headers = await Promise.all(
    Array.from({ length: callers }, (_, caller) =>
      Engine.headersOf(work === "write" ? `writer-${caller}` : subjectOf(caller % size.namespaces)),
    ),
  );
  const setupRequest = (request: autocannon.Request): autocannon.Request => {
    const number = requests++;
    const caller = number % callers;
    return {
      ...request,
      method: "POST",
      path: `/api/v1/memory/${work === "write" ? "store" : "search"}`,
      headers: headers[caller] ?? {},
      body: JSON.stringify(
        work === "write" ? factNumbered(size, number) : { query: questionTo(size, caller, number) },
      ),
    };
  };
  const times: number[] = [];
  const began = performance.now();
  const connections = CONNECTIONS / engines.length;
  await Promise.all(
    engines.map(({ url }) =>
      cannon({ url, connections, duration: seconds, requests: [{ setupRequest }] }, times),
    ),
  );
  return { perSecond: times.length / ((performance.now() - began) / 1_000), times };
}

function factNumbered(size: Size, number: number) {
  const { key, value, category, tags } = factOf(size, 0, number);
  return { key: `${key}/${number}`, value, category, tags };
}

/** A question in the words of one of the caller's facts. */
function questionTo(size: Size, caller: number, number: number): string {
  const place = (number * 7_919) % (size.rows / size.namespaces);
  const words = factOf(size, caller % size.namespaces, place)
    .value.replace(/[.,]/g, "")
    .split(" ");
  return words.slice(0, WORDS_ASKED).join(" ");
}

function cannon(options: autocannon.Options, times: number[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const instance = autocannon(options, (error) => (error ? reject(error) : resolve()));
    instance.on("response", (_client, statusCode, _bytes, milliseconds) => {
      if (statusCode !== 200) reject(new Error(`An engine answered with ${statusCode}.`));
      times.push(milliseconds);
    });
  });
}

export interface ColdAndWarm {
  /** Times of the first search in each namespace, before the engine has an index of it. */
  readonly cold: readonly number[];
  readonly warm: readonly number[];
  /** How much the engine's memory grew meanwhile. */
  readonly grownMb: number;
}

/** Searches one namespace after the other, spread over the whole memory. */
export async function searchEach(engine: Engine, size: Size, most: number): Promise<ColdAndWarm> {
  const count = Math.min(most, size.namespaces);
  const callers = Array.from({ length: count }, (_, n) => Math.floor((n * size.namespaces) / count));
  const before = engine.residentMb();
  const [cold, warm]: [number[], number[]] = [[], []];
  for (const caller of callers) {
    cold.push(await timeOfSearch(engine, size, caller, 0));
    warm.push(await timeOfSearch(engine, size, caller, 1)); // directly afterwards, because an engine keeps only some indexes
  }
  return { cold, warm, grownMb: engine.residentMb() - before };
}

async function timeOfSearch(engine: Engine, size: Size, caller: number, number: number): Promise<number> {
  const query = questionTo(size, caller, number);
  const began = performance.now();
  const { status, body } = await engine.search(subjectOf(caller), query);
  const took = performance.now() - began;
  const hits = (body.results as readonly unknown[] | undefined)?.length ?? 0;
  if (status !== 200 || hits === 0) throw new Error(`${subjectOf(caller)} found nothing with "${query}".`);
  return took;
}

export interface Seen {
  /** From the acknowledgement of a write until an answer includes it. */
  readonly times: readonly number[];
  /** Number of writes that the first answer did not include. */
  readonly stale: number;
}

/** Writes through one engine, and searches for each write through the other as soon as it is acknowledged. */
export async function timesUntilFound(writer: Engine, reader: Engine, writes: number): Promise<Seen> {
  const times: number[] = [];
  let stale = 0;
  for (let number = 0; number < writes; number += 1) {
    const [key, word] = [`seen/${number}`, `walrus${number}`];
    await writer.store("seer", key, `The animal of the day is ${word}`);
    const began = performance.now();
    let asked = 0;
    for (; !(await isFound(reader, key, word)); asked += 1)
      if (asked === 1_000) throw new Error(`${key} is not found through the other engine.`);
    times.push(performance.now() - began);
    if (asked > 0) stale += 1;
  }
  return { times, stale };
}

async function isFound(engine: Engine, key: string, word: string): Promise<boolean> {
  const { results } = (await engine.search("seer", word)).body as { results?: readonly { key: string }[] };
  return results?.some((hit) => hit.key === key) ?? false;
}
