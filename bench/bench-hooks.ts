/**
 * Measures the hooks of coding agents as a client runs them: from the start of a process to its exit, with memory in good and in bad
 * condition. Each run is a new process.
 */

import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { buildAll, DIST } from "../scripts/build/build.ts";
import { type Measured, quantile, table } from "./measured.ts";
import { runCold } from "./processes.ts";

const ROUNDS = 20;
const ENTRY = join(DIST, "helmdeck-memory.mjs");
/** For the start of a session at 1,000 facts. */
const PROMISED_MS = 250;
const PROJECT = "garden-planner";
const EVENTS = ["session-start", "prompt"] as const;

interface Condition {
  readonly name: string;
  readonly event: (typeof EVENTS)[number];
  readonly settingsFile: string;
  readonly ms: number[];
  readonly said: Set<string>;
}

export async function measureHooks(): Promise<Measured> {
  await buildAll();
  const folder = mkdtempSync(join(tmpdir(), "helmdeck-bench-hooks-"));
  // It accepts connections and never answers.
  const hanging = createServer().listen(0, "127.0.0.1");
  await once(hanging, "listening");
  const address = hanging.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  try {
    const bench = new HookBench(folder);
    const small = bench.memoryOf(1_000);
    const large = bench.memoryOf(100_000);
    const wrong = bench.memoryOf(10);
    writeFileSync(join(wrong, "helmdeck-memory.key"), "ab".repeat(32), { mode: 0o600 });
    const busy = bench.memoryOf(1_001);
    const none = join(folder, "none");
    writeFileSync(join(folder, "token"), "a.b.c", { mode: 0o600 });
    const engine = { url: `http://127.0.0.1:${port}`, tokenFile: join(folder, "token") };
    const conditions = [
      ...bench.conditions("1,000 facts", { stateDir: small }),
      ...bench.conditions("100,000 facts", { stateDir: large }),
      ...bench.conditions("nobody agreed", { stateDir: small, pushes: [] }),
      ...bench.conditions("no memory", { stateDir: none }),
      ...bench.conditions("a wrong key", { stateDir: wrong }),
      ...bench.conditions("another process holds the write lock", { stateDir: busy }),
      ...bench.conditions("a served engine that hangs", { stateDir: none, engine }),
    ];
    const writer = new Database(join(busy, "helmdeck-memory", "memory.sqlite"));
    writer.exec("BEGIN IMMEDIATE");
    // In rotation, so that a busy machine slows all of them equally.
    const nodeMs: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      nodeMs.push(runCold(["-e", "0"], { home: folder }).ms);
      for (const condition of conditions) bench.run(condition);
    }
    writer.close();
    return report(conditions, quantile(nodeMs, 0.5));
  } finally {
    hanging.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

class HookBench {
  readonly #folder: string;
  readonly #repository: string;

  constructor(folder: string) {
    this.#folder = folder;
    this.#repository = join(folder, "repository");
    mkdirSync(this.#repository);
    const git = (...args: string[]) => execFileSync("git", args, { cwd: this.#repository });
    git("init", "-q");
    git("remote", "add", "origin", `https://git.example/team/${PROJECT}.git`);
  }

  /** Returns its state folder. One in fifty facts is of the project, and one is pinned. */
  memoryOf(count: number): string {
    const stateDir = join(this.#folder, `memory-${count}`);
    mkdirSync(stateDir, { mode: 0o700 });
    const env = { OPENCLAW_STATE_DIR: stateDir, HELMDECK_EMBEDDINGS: "off" };
    const file = join(this.#folder, "facts.jsonl");
    writeFileSync(file, Array.from({ length: count }, (_none, n) => JSON.stringify(factOf(n))).join("\n"));
    for (const args of [
      ["import", file, "--yes"],
      ["pin", factOf(1).key],
    ])
      runCold([ENTRY, ...args], { home: this.#folder, env });
    return stateDir;
  }

  conditions(name: string, settings: object): readonly Condition[] {
    const settingsFile = join(this.#folder, `${name.replaceAll(" ", "-")}.json`);
    writeFileSync(settingsFile, JSON.stringify({ caller: "main", pushes: EVENTS, ...settings }));
    return EVENTS.map((event) => ({ name, event, settingsFile, ms: [], said: new Set<string>() }));
  }

  run({ event, settingsFile, ms, said }: Condition): void {
    const input = JSON.stringify({ source: "startup", cwd: this.#repository, prompt: "copper number 760" });
    const args = [ENTRY, "hook", "claude", event, "--client-settings", settingsFile];
    const ran = runCold(args, { home: this.#folder, input });
    ms.push(ran.ms);
    said.add(whatWasSaid(ran.stdout));
  }
}

const WORDS = "copper ledger harbour lantern meadow orbit paper quartz river saddle timber umbrella".split(
  " ",
);

function factOf(n: number) {
  const [one, other] = [WORDS[n % WORDS.length], WORDS[(n * 7 + 3) % WORDS.length]];
  const key = n % 50 === 0 ? `projects/${PROJECT}/decisions/${one}-${n}` : `notes/${one}-${n}`;
  return { key, value: `About ${one} and ${other}: we chose number ${n} because it is simple.` };
}

function whatWasSaid(line: string): string {
  if (line === "") return "nothing";
  const { systemMessage, hookSpecificOutput } = JSON.parse(line);
  return systemMessage === undefined
    ? `facts: ${hookSpecificOutput.additionalContext.match(/^fact /gm).length}`
    : String(systemMessage).replace(/^(.*?(in time|key_\w+)).*$/, "$1 …");
}

function report(conditions: readonly Condition[], nodeMs: number): Measured {
  const rows = conditions.map(({ name, event, ms, said }) => [
    name,
    event,
    ...[quantile(ms, 0.5), quantile(ms, 0.95), Math.max(...ms)].map((value) => value.toFixed(0)),
    [...said].join(", or "),
  ]);
  return {
    title: "Hooks of coding agents",
    command: "npm run bench:speed -- --only hooks",
    markdown: [
      `\`helmdeck-memory hook claude …\` from process start to exit, ${ROUNDS} rounds; \`node\` alone takes ${nodeMs.toFixed(0)} ms. The exit code was 0 in each run. Aim: the start of a session takes less than ${PROMISED_MS} ms at 1,000 facts, and no hook waits longer than half a second for memory.`,
      "",
      table(["memory", "event", "p50 ms", "p95 ms", "longest ms", "what it says"], rows),
    ].join("\n"),
    json: {
      rounds: ROUNDS,
      promisedMs: PROMISED_MS,
      nodeMs,
      conditions: conditions.map(({ name, event, ms }) => ({ name, event, ms })),
    },
  };
}
