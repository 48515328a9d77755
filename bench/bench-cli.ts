/** Measures how long the command `helmdeck-memory` takes from a cold start with 10,000 entries. Each run is a new process. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildAll, DIST } from "../scripts/build/build.ts";
import { type Measured, quantile } from "./measured.ts";
import { runCold } from "./processes.ts";

const ENTRIES = 10_000;
const ROUNDS = 15;
/** The target for a search from a cold start. */
const PROMISED_SEARCH_MS = 600;

/** Cold searches of these memories, with and without the copy of the index: processor time, which a busy machine changes little. */
const STARTS = [10_000, 100_000];
const START_ROUNDS = 5;

const ENTRY = join(DIST, "helmdeck-memory.mjs");

/** Imports the entries, then runs the commands in rotation, so that a busy machine slows all of them equally. */
export async function measureCli(): Promise<Measured> {
  await buildAll();
  const home = mkdtempSync(join(tmpdir(), "helmdeck-bench-cli-"));
  try {
    const run = (args: readonly string[]) => runCold([ENTRY, ...args], { home });
    writeFileSync(join(home, "facts.jsonl"), factLines(ENTRIES));
    const importMs = run(["import", "facts.jsonl"]).ms;
    const cases = [
      { name: "`node` alone, for comparison", work: () => runCold(["-e", "0"], { home }) },
      { name: "`--version`", work: () => run(["--version"]) },
      { name: "`get`", work: () => run(["get", "topic-77/fact-777"]) },
      { name: "`search`", work: () => run(["search", "which harbour does the copper ledger name"]) },
      { name: "`search --json`", work: () => run(["search", "copper ledger harbour", "--json"]) },
    ].map((one) => ({ ...one, ms: [] as number[] }));
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const one of cases) one.ms.push(one.work().ms);
    }
    return report(importMs, cases, STARTS.map(measureStart));
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

interface Start {
  readonly entries: number;
  /** Processor time in ms: median of each. */
  readonly fromRowsMs: number;
  readonly fromCopyMs: number;
  readonly copyBytes: number;
}

function measureStart(entries: number): Start {
  const home = mkdtempSync(join(tmpdir(), "helmdeck-bench-cli-"));
  try {
    writeFileSync(join(home, "facts.jsonl"), factLines(entries));
    runCold([ENTRY, "import", "facts.jsonl"], { home });
    const copies = join(home, ".openclaw", "helmdeck-memory", "indexes-of-memory.sqlite");
    const search = (): number =>
      processorMs(home, [ENTRY, "search", "which harbour does the copper ledger name"]);
    const rounds = Array.from({ length: START_ROUNDS }, () => {
      rmSync(copies, { recursive: true, force: true });
      return [search(), search()] as const;
    });
    const copyBytes = readdirSync(copies).reduce((sum, name) => sum + statSync(join(copies, name)).size, 0);
    const median = (of: 0 | 1): number =>
      quantile(
        rounds.map((both) => both[of]),
        0.5,
      );
    return { entries, fromRowsMs: median(0), fromCopyMs: median(1), copyBytes };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** User and system, as the shell measures them. */
function processorMs(home: string, args: readonly string[]): number {
  const script = 'TIMEFORMAT="%U %S"; time "$@" >/dev/null 2>&1';
  const { status, stderr } = spawnSync("bash", ["-c", script, "bash", process.execPath, ...args], {
    cwd: home,
    env: { PATH: process.env.PATH, HOME: home },
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`${args.slice(1).join(" ")} ended with ${status}: ${stderr}`);
  return stderr
    .trim()
    .split(" ")
    .reduce((sum, seconds) => sum + Number(seconds) * 1_000, 0);
}

interface Case {
  readonly name: string;
  readonly ms: readonly number[];
}

function report(importMs: number, cases: readonly Case[], starts: readonly Start[]): Measured {
  const rows = cases.map(({ name, ms }) => ({ name, p50: quantile(ms, 0.5), p95: quantile(ms, 0.95), ms }));
  const importPerSecond = Math.round(ENTRIES / (importMs / 1_000));
  return {
    title: "Command line",
    command: "npm run bench:speed -- --only cli",
    markdown: [
      `\`helmdeck-memory\` from process start to exit, with ${ENTRIES.toLocaleString("en")} entries, ${ROUNDS} rounds. Aim: \`search\` takes less than ${PROMISED_SEARCH_MS} ms.`,
      "",
      "| command | p50 ms | p95 ms |",
      "|---|---:|---:|",
      ...rows.map(({ name, p50, p95 }) => `| ${name} | ${p50.toFixed(0)} | ${p95.toFixed(0)} |`),
      "",
      `\`import\` of ${ENTRIES.toLocaleString("en")} lines takes ${(importMs / 1_000).toFixed(1)} s: ${importPerSecond.toLocaleString("en")} a second.`,
      "",
      `Processor time of a cold \`search\`, median of ${START_ROUNDS}. The first one builds the index from rows and saves its copy; each later one opens the copy.`,
      "",
      "| facts | first `search` | later `search` | size of the copy |",
      "|---:|---:|---:|---:|",
      ...starts.map(
        ({ entries, fromRowsMs, fromCopyMs, copyBytes }) =>
          `| ${entries.toLocaleString("en")} | ${fromRowsMs.toFixed(0)} ms | ${fromCopyMs.toFixed(0)} ms | ${(copyBytes / 1e6).toFixed(0)} MB |`,
      ),
    ].join("\n"),
    json: {
      entries: ENTRIES,
      rounds: ROUNDS,
      importMs,
      promisedSearchMs: PROMISED_SEARCH_MS,
      commands: rows,
      starts,
    },
  };
}

const WORDS =
  "copper ledger harbour lantern meadow orbit paper quartz river saddle timber umbrella valley willow anchor basket candle desert engine falcon garden hammer island jacket kettle ladder magnet needle oyster pencil rocket spider tunnel violin wagon yellow zebra bridge cotton dragon".split(
    " ",
  );

/** Facts of twelve words each, the same in every run. */
function factLines(count: number): string {
  let seed = 42;
  const word = () => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return WORDS[(seed >>> 8) % WORDS.length];
  };
  return Array.from({ length: count }, (_none, index) => {
    const value = Array.from({ length: 12 }, word).join(" ");
    return JSON.stringify({ key: `topic-${index % 100}/fact-${index}`, value: `${value}.` });
  }).join("\n");
}

if (import.meta.main) console.log((await measureCli()).markdown);
