/**
 * `node bench/busy.ts [--command FILE] [--filled-by FILE] [--searches 16] [--seed 1]`: runs searches on the command line beside a compile
 * job, and counts how many of them use semantic search. A stand-in for Ollama (without a model) takes as long to answer as a real Ollama
 * was measured to take on such a machine.
 *
 * FILE is a built `helmdeck-memory.mjs`, so that versions can be compared; the default is the one in dist/. Before the searches, a server
 * of the same version, or of the version given by `--filled-by`, embeds the facts.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { busyLatency } from "../test/sidecar/stand-in/latency.ts";
import { type StandInOllama, startStandInOllama } from "../test/sidecar/stand-in-ollama.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const FACTS = [
  ["deploy", "We always deploy via Konflux."],
  ["dog", "Our dog is called Rex."],
  ["coffee", "Espresso after lunch, never later."],
  ["editor", "The editor is Neovim with tabs."],
  ["standup", "The standup is on Monday at ten."],
  ["flight", "The flight to Lisbon leaves in May."],
  ["database", "Billing lives in Postgres."],
  ["guitar", "Guitar lessons are in the music school."],
] as const;
const QUESTIONS = [
  "how do we ship to production",
  "what is our puppy called",
  "which beverage after a meal",
  "which IDE is used",
  "when is the weekly meeting",
  "where does the holiday begin",
  "where is the schema of billing",
  "where is the instrument learnt",
];

/** Numbers from 0 (included) to 1 (excluded), the same for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

interface Command {
  readonly file: string;
  readonly home: string;
  readonly address: string;
}

function start({ file, home, address }: Command, args: readonly string[]) {
  return spawn(process.execPath, [file, ...args], {
    env: { PATH: process.env.PATH, HOME: home, HELMDECK_EMBEDDINGS_URL: address },
    stdio: ["pipe", "pipe", "inherit"],
  });
}

async function run(command: Command, args: readonly string[]): Promise<string> {
  const child = start(command, args);
  child.stdin.end();
  let output = "";
  for await (const chunk of child.stdout) output += chunk;
  return output;
}

/** Runs a server until everything is embedded, on an idle machine, so that versions which embed nothing by themselves have vectors too. */
async function fill(command: Command, standIn: StandInOllama): Promise<void> {
  const child = start(command, ["mcp"]);
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const clientInfo = { name: "bench", version: "1" };
  send({
    id: 0,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo },
  });
  send({ method: "notifications/initialized" });
  child.stdout.resume();
  for (const [id, [key, value]] of FACTS.entries())
    send({
      id: id + 1,
      method: "tools/call",
      params: { name: "helmdeck__memory_store", arguments: { key, value } },
    });
  const isThere = (value: string) => JSON.stringify(standIn.requests.map(({ body }) => body)).includes(value);
  for (let seen = 1; !FACTS.every(([, value]) => isThere(value)); seen += 1) await standIn.seen(seen);
  await new Promise((resolve) => setTimeout(resolve, 3_000)); // by then the requested embeddings are written
  child.stdin.end();
  await new Promise((resolve) => child.once("exit", resolve));
}

/** Compiles repeatedly until it is stopped. */
function compileBeside(): () => Promise<void> {
  let isOver = false;
  let child: ChildProcess | undefined;
  const compiling = (async () => {
    while (!isOver) {
      const compile = spawn(process.execPath, [join(ROOT, "node_modules/typescript/bin/tsc"), "-p", ROOT], {
        stdio: "ignore",
      });
      child = compile;
      await new Promise((resolve) => compile.once("exit", resolve));
    }
  })();
  return () => {
    isOver = true;
    child?.kill();
    return compiling;
  };
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      command: { type: "string", default: join(ROOT, "dist/helmdeck-memory.mjs") },
      "filled-by": { type: "string" },
      searches: { type: "string", default: "16" },
      seed: { type: "string", default: "1" },
    },
  });
  const standIn = await startStandInOllama({ models: ["nomic-embed-text"] });
  const home = mkdtempSync(join(tmpdir(), "helmdeck-bench-busy-"));
  const command = { file: values.command, home, address: standIn.address };
  try {
    await fill({ ...command, file: values["filled-by"] ?? values.command }, standIn);
    standIn.setLatency(busyLatency(randomOf(Number(values.seed))));
    const endCompile = compileBeside();
    const before = standIn.requests.length;
    let hybrid = 0;
    const times: number[] = [];
    for (let at = 0; at < Number(values.searches); at += 1) {
      const started = performance.now();
      const output = await run(command, ["search", "--json", QUESTIONS[at % QUESTIONS.length] ?? ""]);
      times.push(Math.round(performance.now() - started));
      const { mode, reason = "" } = JSON.parse(output) as { readonly mode: string; readonly reason?: string };
      if (mode === "hybrid") hybrid += 1;
      console.log(`${String(times.at(-1)).padStart(6)} ms  ${mode}  ${reason}`);
    }
    await endCompile();
    const requests = standIn.requests.length - before;
    console.log(
      `${hybrid} of ${values.searches} hybrid; ${requests} requests; ${times.toSorted((a, b) => a - b)[times.length >> 1]} ms in the middle`,
    );
  } finally {
    await standIn.close();
    rmSync(home, { recursive: true, force: true });
  }
}

await main();
