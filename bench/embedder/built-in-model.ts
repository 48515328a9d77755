/**
 * Measures the built-in model as it ships: load, texts, memory before, while and after it runs, a memory whose facts it embeds, and
 * cold commands. The memory is in a worker, as in a gateway; this thread stands for the gateway's main thread.
 */

import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import type { Memory } from "../../app/memory.ts";
import { startWorkerMemory } from "../../app/worker/worker-client.ts";
import { findModel, installModel } from "../../model/artefact.ts";
import { BuiltInModel } from "../../model/run-model.ts";
import { REFERENCE_TEXTS } from "../../recall/meaning/reference-vectors.ts";
import { buildAll, DIST } from "../../scripts/build/build.ts";
import { gatherMultilingual, HAS_MULTILINGUAL } from "../../test/model/gathered.ts";
import { type Measured, quantile, table } from "../measured.ts";
import { fillMemory, NEEDLE } from "../plugin/fill.ts";
import { runCold } from "../processes.ts";
import { watchSlices } from "../slices.ts";

const FACTS = 10_000;
const ROUNDS = 7;
const PLUGIN = join(DIST, "plugin", "dist");
const COMMAND = join(DIST, "helmdeck-memory.mjs");
/** 8 to 20 word pieces each. */
const SHORT = REFERENCE_TEXTS;
const HUNDRED_WORDS = SHORT.map(
  (text, at) => `${at} ${text} ${"the deploy preference of this team is written down here ".repeat(9)}`,
);
const LOADED_WITHIN_MS = 120_000;

/** Megabytes: all of a process, and what it shares with nobody. NaN where the system does not tell. */
interface Resident {
  readonly rss: number;
  readonly own: number;
}

export async function measureBuiltInModel(onProgress: (message: string) => void): Promise<Measured> {
  await buildAll();
  const home = mkdtempSync(join(tmpdir(), "helmdeck-bench-model-"));
  const state = join(home, ".openclaw");
  try {
    await mkdir(state);
    await installModel(join(DIST, "model"), state);
    onProgress("load, and texts");
    const alone = await measureAlone(state);
    const both = HAS_MULTILINGUAL ? await measureBoth(state, join(home, "multilingual")) : undefined;
    onProgress(`a memory with ${FACTS} facts`);
    await fillMemory(state, "main", FACTS);
    const atWork = await measureAtWork(state, FACTS);
    onProgress("cold commands");
    const few = await homeWithFew(join(home, "few"));
    const commands = [...measureCommands(few, FEW), ...measureCommands(home, FACTS)];
    const json = { alone, both, atWork, commands };
    return {
      title: "The built-in model",
      command: "npm run bench:speed -- --only model",
      markdown: markdownOf(json),
      json,
    };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

async function measureAlone(state: string) {
  const loadMs: number[] = [];
  let texts = { shortMs: Number.NaN, longMs: Number.NaN };
  let [loaded, used]: Resident[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const model = new BuiltInModel({
      find: () => findModel(state),
      program: join(PLUGIN, "model-process.js"),
    });
    loadMs.push(await timed(() => model.load()));
    await pause(500); // the collector runs after the answer
    loaded = residentOf(model.processId);
    if (round === ROUNDS - 1) {
      await medianOf(SHORT, (text) => model.embed(text)); // the compiler optimizes what is used
      texts = {
        shortMs: await medianOf(SHORT, (text) => model.embed(text)),
        longMs: await medianOf(HUNDRED_WORDS, (text) => model.embed(text)),
      };
      used = residentOf(model.processId);
    }
    model.close();
  }
  return { loadMs, ...texts, loaded, used };
}

/** A question as it is embedded across languages: by both models, one after the other. */
async function measureBoth(state: string, folder: string) {
  await gatherMultilingual(folder);
  const model = new BuiltInModel({
    find: () => findModel(state),
    findMultilingual: async () => ({ ok: true, folder }),
    program: join(PLUGIN, "model-process.js"),
  });
  await model.load();
  const loadMs = await timed(() => model.load("multilingual"));
  await pause(500);
  const loaded = residentOf(model.processId);
  const embedTwice = async (text: string) => {
    await model.embed(text);
    await model.embed(text, "multilingual");
  };
  await medianOf(SHORT, embedTwice);
  const shortMs = await medianOf(SHORT, embedTwice);
  const longMs = await medianOf(HUNDRED_WORDS, embedTwice);
  const used = residentOf(model.processId);
  model.close();
  return { loadMs, shortMs, longMs, loaded, used };
}

async function measureAtWork(state: string, facts: number) {
  const before = residentOf(process.pid);
  const memory = startWorkerMemory({
    databasePath: join(state, "helmdeck-memory", "memory.sqlite"),
    keyPath: join(state, "helmdeck-memory.key"),
    workerUrl: pathToFileURL(join(PLUGIN, "worker.js")),
    ...{ env: {}, embeddings: { provider: "builtin" } as const, sweepEveryMs: 0 },
  });
  const slices = watchSlices();
  const waits = { storeMs: [] as number[], searchMs: [] as number[], keywords: 0 };
  const began = performance.now();
  await memory.warm("main");
  for (let round = 0; !(await isEmbedded(memory, facts, began)); round += 1) {
    const fact = { key: "bench/changing", value: `Round ${round}.` };
    waits.storeMs.push(await timed(() => memory.storeFact("main", fact)));
    const query = `${NEEDLE.query} ${round}`;
    waits.searchMs.push(
      await timed(async () => {
        const { mode } = await memory.search("main", { query });
        if (mode === "keyword") waits.keywords += 1; // nothing embedded yet, or late
      }),
    );
    await pause(1_000);
  }
  const embeddedSeconds = (performance.now() - began) / 1_000;
  const blockedMs = slices.stop();
  const model = residentOf((await modelProcesses())[0]);
  const during = residentOf(process.pid);
  await memory.close();
  await pause(1_000);
  const left = (await modelProcesses()).length;
  const after = residentOf(process.pid);
  return { facts, embeddedSeconds, blockedMs, ...waits, before, during, model, after, left };
}

async function isEmbedded(memory: Memory, facts: number, began: number): Promise<boolean> {
  const { embeddings } = await memory.status("main");
  if (embeddings === undefined || !("model" in embeddings)) throw new Error("The model is not used.");
  const { embedded, waiting, failure } = embeddings;
  if (embedded === 0 && performance.now() - began > LOADED_WITHIN_MS)
    throw new Error(failure ?? "Nothing was embedded.");
  return waiting === 0 && embedded >= facts;
}

async function modelProcesses(): Promise<readonly number[]> {
  const own = ["-P", String(process.pid), "-f", "model-process"];
  const { stdout } = await promisify(execFile)("pgrep", own).catch(() => ({ stdout: "" }));
  return stdout.split("\n").filter(Boolean).map(Number);
}

const COLD = {
  keywords: { HELMDECK_EMBEDDINGS_PROVIDER: "none" },
  "the model": {},
} as const;

/** Their index is read long before the model is loaded. */
const FEW = 20;

async function homeWithFew(home: string): Promise<string> {
  const state = join(home, ".openclaw");
  await mkdir(state, { recursive: true });
  await installModel(join(DIST, "model"), state);
  await fillMemory(state, "main", FEW);
  runCold([COMMAND, "embed"], { home });
  return home;
}

/** In rotation, so that a busy machine slows all equally. Each question is a new one. */
function measureCommands(home: string, facts: number) {
  const cases = Object.entries(COLD).map(([name, env]) => ({ name, env, ms: [] as number[], hybrid: 0 }));
  for (let round = 0; round < ROUNDS; round += 1)
    for (const one of cases) {
      const args = ["search", "--json", NEEDLE.query, String(round)];
      const { ms, stdout } = runCold([COMMAND, ...args], { home, env: one.env });
      one.ms.push(ms);
      one.hybrid += Number(JSON.parse(stdout).mode === "hybrid");
    }
  return cases.map(({ name, ms, hybrid }) => ({ name, facts, ms, hybrid }));
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

async function medianOf(texts: readonly string[], work: (text: string) => Promise<unknown>): Promise<number> {
  const all: number[] = [];
  for (const text of texts) all.push(await timed(() => work(text)));
  return quantile(all, 0.5);
}

function residentOf(pid: number | undefined): Resident {
  try {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
    const mb = (name: string) => (Number(new RegExp(`^${name}: +(\\d+)`, "m").exec(text)?.[1]) * 1_024) / 1e6;
    return { rss: mb("Rss"), own: mb("Private_Clean") + mb("Private_Dirty") };
  } catch {
    return { rss: Number.NaN, own: Number.NaN };
  }
}

interface Figures {
  readonly alone: Awaited<ReturnType<typeof measureAlone>>;
  readonly both: Awaited<ReturnType<typeof measureBoth>> | undefined;
  readonly atWork: Awaited<ReturnType<typeof measureAtWork>>;
  readonly commands: ReturnType<typeof measureCommands>;
}

function markdownOf({ alone, both, atWork, commands }: Figures): string {
  const ms = (value: number) => `${value.toFixed(0)} ms`;
  const mb = (one: Resident | undefined) => `${one?.rss.toFixed(0)} MB, ${one?.own.toFixed(0)} not shared`;
  const longest = (all: readonly number[]) => `${ms(quantile(all, 0.5))}, longest ${ms(Math.max(...all))}`;
  const facts = atWork.facts.toLocaleString("en");
  const gateway = [atWork.before, atWork.during, atWork.after].map(({ rss }) => rss.toFixed(0));
  const rows = [
    [`load, median of ${ROUNDS}`, ms(quantile(alone.loadMs, 0.5))],
    ["a text of 8 to 20 word pieces, median", ms(alone.shortMs)],
    ["a text of 100 words, median", ms(alone.longMs)],
    ["the model's process, loaded (aim: at most 200 MB)", mb(alone.loaded)],
    [`after ${3 * SHORT.length} texts`, mb(alone.used)],
    ...(both === undefined
      ? []
      : [
          ["the model of many languages, beside it: load", ms(both.loadMs)],
          ["a short text by both (aim: at most 40 ms)", ms(both.shortMs)],
          ["a text of 100 words by both", ms(both.longMs)],
          ["the process with both, loaded (aim: at most 260 MB)", mb(both.loaded)],
          [`after ${3 * SHORT.length} texts by both`, mb(both.used)],
        ]),
    [`after ${facts} facts`, mb(atWork.model)],
    ["processes left after the memory is closed", String(atWork.left)],
    [`the gateway's process before / with ${facts} facts / after`, `${gateway.join(" / ")} MB`],
    [`${facts} facts embedded`, `${atWork.embeddedSeconds.toFixed(0)} s`],
    ["longest that the main thread is blocked meanwhile (aim: 10 ms)", ms(atWork.blockedMs)],
    ["a store meanwhile, median (aim: 100 ms)", longest(atWork.storeMs)],
    [
      `a search meanwhile, median (${atWork.keywords} of ${atWork.searchMs.length} by keywords)`,
      longest(atWork.searchMs),
    ],
    ...commands.map(({ name, facts: many, ms: all, hybrid }) => [
      `cold \`search\` among ${many.toLocaleString("en")} facts with ${name} (${hybrid} of ${ROUNDS} by meaning), median`,
      longest(all),
    ]),
  ];
  const load = `Load average of the machine at the end: ${loadavg()[2]?.toFixed(1)}.`;
  return `${load}\n\n${table(["the built-in model", ""], rows)}`;
}
