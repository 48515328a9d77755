/** From the start of a gateway and of a server to their first complete answer: over the same facts, with the saved copy of the index and without it. */
import { existsSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { snapshotFolder } from "../../engine/store/sqlite/index-snapshots.ts";
import { DIST } from "../../scripts/build/build.ts";
import { OpenClawHost } from "../../scripts/openclaw-host/openclaw-host.ts";
import { table } from "../measured.ts";
import { processorMsOf } from "../processes.ts";
import { serveHome } from "../server/subjects.ts";
import { fillMemory, NEEDLE } from "./fill.ts";

/** Times in milliseconds; NaN where nobody tells. */
export interface ColdStart {
  readonly program: string;
  readonly entries: number;
  readonly index: "from its copy" | "from rows" | "";
  /** From the start of the process. */
  readonly readyMs: number;
  /** From then on. */
  readonly firstAnswerMs: number;
  readonly completeMs: number;
  /** Answers before the complete one, and what the first answer was. */
  readonly incomplete: number;
  readonly first: string;
  /** User and system, from taking requests to the complete answer, whatever else the process does meanwhile. */
  readonly processorMs: number;
  readonly laterMs: number;
  /** The program kept a copy of the index when it stopped. */
  readonly keptCopy: boolean;
}

interface Answer {
  readonly hits: readonly string[];
  readonly isComplete: boolean;
  readonly said: string;
}

interface Running {
  readonly pid: number;
  ask(): Promise<Answer>;
  stop(): Promise<void>;
}

const SUBJECT = "main";
const SAID_CHARACTERS = 1_000;
/** An index of 100,000 facts takes a tenth of it. */
const COMPLETE_WITHIN_MS = 60_000;

/** @param empty a plugin without memory: what OpenClaw itself takes for its first answer */
export async function measureColdStarts(
  ours: string,
  empty: string,
  sizes: readonly number[],
  onProgress: (message: string) => void,
): Promise<readonly ColdStart[]> {
  onProgress("a cold gateway with an empty plugin");
  const starts = [await measureEmpty(empty)];
  for (const entries of sizes) starts.push(...(await measureSize(ours, entries, onProgress)));
  return starts;
}

async function measureEmpty(tarball: string): Promise<ColdStart> {
  const host = await OpenClawHost.make();
  try {
    await host.installPlugin(tarball);
    await useOnce(host);
    const start = () => startGateway(host, () => true);
    return {
      program: "gateway, empty plugin",
      entries: 0,
      index: "",
      keptCopy: false,
      ...(await timed(start)),
    };
  } finally {
    await host.stop();
  }
}

async function measureSize(
  tarball: string,
  entries: number,
  onProgress: (message: string) => void,
): Promise<readonly ColdStart[]> {
  const host = await OpenClawHost.make();
  const { stateDir } = host.home;
  const copies = snapshotFolder(join(stateDir, "helmdeck-memory", "memory.sqlite"));
  const hasCopy = (): boolean => existsSync(copies) && readdirSync(copies).length > 0;
  const programs = {
    server: () => startServer(dirname(stateDir)),
    gateway: () => startGateway(host, isWhole),
  };
  const measured = async (program: keyof typeof programs): Promise<ColdStart> => {
    const index = hasCopy() ? "from its copy" : "from rows";
    onProgress(`a cold ${program} with ${entries.toLocaleString("en")} facts, its index ${index}`);
    const times = await timed(programs[program]);
    return { program, entries, index, ...times, keptCopy: hasCopy() };
  };
  try {
    await host.installPlugin(tarball);
    await useOnce(host);
    await fillMemory(stateDir, SUBJECT, entries);
    const starts: ColdStart[] = [];
    for (const program of ["gateway", "server"] as const) {
      rmSync(copies, { recursive: true, force: true });
      starts.push(await measured(program));
    }
    for (const program of ["gateway", "server"] as const) starts.push(await measured(program));
    return starts;
  } finally {
    await host.stop();
  }
}

/** In the first search of its life, OpenClaw also makes the index of its notes. */
async function useOnce(host: OpenClawHost): Promise<void> {
  const { ask, stop } = await startGateway(host, () => true);
  await ask();
  await stop();
}

async function timed(
  start: () => Promise<Running>,
): Promise<Omit<ColdStart, "program" | "entries" | "index" | "keptCopy">> {
  const began = performance.now();
  const running = await start();
  try {
    const ready = performance.now();
    const processorBefore = processorMsOf(running.pid);
    const answers = await untilComplete(running);
    const processorMs = processorMsOf(running.pid) - processorBefore;
    const [first] = answers;
    const complete = answers.at(-1);
    const laterBegan = performance.now();
    const later = await running.ask();
    const laterMs = performance.now() - laterBegan;
    if (String(later.hits) !== String(complete?.hits)) {
      throw new Error(
        `A later answer has other hits: ${later.hits}; the first complete one: ${complete?.hits}`,
      );
    }
    return {
      readyMs: ready - began,
      firstAnswerMs: (first?.at ?? Number.NaN) - ready,
      completeMs: (complete?.at ?? Number.NaN) - ready,
      incomplete: answers.length - 1,
      first: first?.said ?? "",
      processorMs,
      laterMs,
    };
  } finally {
    await running.stop();
  }
}

async function untilComplete({ ask }: Running): Promise<readonly (Answer & { readonly at: number })[]> {
  const answers: (Answer & { readonly at: number })[] = [];
  const deadline = performance.now() + COMPLETE_WITHIN_MS;
  for (;;) {
    const answer = { ...(await ask()), at: performance.now() };
    answers.push(answer);
    if (answer.isComplete) return answers;
    if (answer.at > deadline)
      throw new Error(`No complete answer came within ${COMPLETE_WITHIN_MS / 1_000} s.`);
  }
}

interface Hits {
  readonly hits: readonly string[];
  readonly isPart: boolean;
}

function isWhole({ hits, isPart }: Hits): boolean {
  return !isPart && hits.some((hit) => hit.includes(NEEDLE.key));
}

async function startGateway(host: OpenClawHost, isComplete: (hits: Hits) => boolean): Promise<Running> {
  await host.startGateway();
  return {
    pid: host.pid,
    ask: async () => {
      const { details } = await host.invokeTool("memory_search", { query: NEEDLE.query });
      const results = Array.isArray(details.results) ? details.results : [];
      const hits = results.map((hit) => String(hit?.path));
      // The note on a hit that only a part was searched.
      const isPart = JSON.stringify(results).includes("provenanceLabel");
      const said = JSON.stringify(details).slice(0, SAID_CHARACTERS);
      return { hits, isComplete: isComplete({ hits, isPart }), said };
    },
    stop: () => host.stopGateway(),
  };
}

async function startServer(home: string): Promise<Running> {
  const { pid, url, headers, stop } = await serveHome(DIST, { home, subject: SUBJECT });
  return {
    pid,
    ask: async () => {
      const response = await fetch(`${url}/api/v1/memory/search`, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify({ query: NEEDLE.query }),
      });
      if (!response.ok) throw new Error(`The server answered a search with ${response.status}.`);
      // The reply's shape: app/operations/search.ts.
      const reply = (await response.json()) as {
        readonly results: readonly { readonly key: string }[];
        readonly incomplete?: true;
      };
      const hits = reply.results.map(({ key }) => key);
      const said = JSON.stringify(reply).slice(0, SAID_CHARACTERS);
      return { hits, isComplete: isWhole({ hits, isPart: reply.incomplete === true }), said };
    },
    stop,
  };
}

export function tableOfColdStarts(starts: readonly ColdStart[]): string {
  return table(
    [
      "cold",
      "facts",
      "index",
      "takes requests after ms",
      "from then on: first answer ms",
      "first complete answer ms",
      "answers before it",
      "processor ms until it",
      "later answer ms",
      "copy kept at the end",
    ],
    starts.map((start) => [
      start.program,
      start.entries === 0 ? "" : start.entries.toLocaleString("en"),
      start.index,
      ...[start.readyMs, start.firstAnswerMs, start.completeMs].map(whole),
      start.incomplete.toFixed(0),
      ...[start.processorMs, start.laterMs].map(whole),
      start.index === "" ? "" : start.keptCopy ? "yes" : "no",
    ]),
  );
}

function whole(milliseconds: number): string {
  return Math.round(milliseconds).toLocaleString("en");
}
