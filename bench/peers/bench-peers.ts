/**
 * `npm run bench:peers -- --help`: which memory should an OpenClaw user take? README.md in this folder is the protocol.
 *
 * Results are kept, so that a run that was interrupted continues. The second run of the protocol is `--run 2`.
 */
import { spawn } from "node:child_process";
import { appendFileSync, existsSync, globSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildAll, ROOT } from "../../scripts/build/build.ts";
import type { JsonObject } from "../../scripts/openclaw-host/openclaw-host.ts";
import { describeMachine, RAW_FOLDER } from "../bench-report.ts";
import { conversationsOfFolder, readJsonLines } from "../recall/conversations.ts";
import { keptLine, type Line, type Run, readRun, writeRun } from "./figures.ts";
import { writePage } from "./page.ts";
import type { ChildOptions } from "./peers-child.ts";
import { GROUPS, type Group, type System } from "./system.ts";
import { SYSTEMS } from "./systems/systems.ts";

/** Of one system, on a busy machine. */
const GROUP_WITHIN_MS: Readonly<Record<Group, number>> = {
  recall: 1_500_000,
  costs: 900_000,
  care: 900_000,
  prompt: 600_000,
  provider: 600_000,
};
const GRACE_MS = 20_000;
const LOG_CHARS = 4_000;
const DEFAULT_SEED = 36;

export interface RunOptions {
  readonly systems: readonly Pick<System, "id" | "groups">[];
  readonly groups: readonly Group[];
  readonly folder: string;
  readonly child: Omit<ChildOptions, "system" | "group" | "file">;
  readonly isFresh?: boolean;
  /** Instead of each group's own limit. */
  readonly withinMs?: number;
  readonly onProgress?: (message: string) => void;
}

/** Measures each group of each system that has no result yet. Never throws because of a system. */
export async function runPeers(options: RunOptions): Promise<void> {
  const { systems, groups, folder, child, isFresh = false, onProgress = () => undefined } = options;
  mkdirSync(folder, { recursive: true });
  for (const group of groups) {
    for (const { id, groups: has } of systems) {
      if (!has.includes(group)) continue;
      const file = join(folder, `${id}.${group}.jsonl`);
      if (!isFresh && outcomeIn(file) !== undefined) continue;
      rmSync(file, { force: true });
      onProgress(`${id}: ${group}`);
      const began = performance.now();
      const withinMs = options.withinMs ?? GROUP_WITHIN_MS[group];
      const ended = await runChild({ ...child, system: id, group, file }, withinMs);
      if (outcomeIn(file) === undefined)
        appendFileSync(file, `${JSON.stringify({ system: id, group, measure: "end", ...ended })}\n`);
      onProgress(`${id}: ${group} ${outcomeIn(file)}, ${Math.round((performance.now() - began) / 1_000)} s`);
    }
  }
}

/** The second run repeats what can differ: times, memory, and the answers of systems with vectors. */
function ofSecondRun({ groups, ...system }: System): System {
  const again: readonly Group[] = ["costs", "provider", ...(system.hasVectors ? (["recall"] as const) : [])];
  return { ...system, groups: groups.filter((group) => again.includes(group)) };
}

/** How a group of measures of a system ended, or undefined if it has not. */
export function outcomeIn(file: string): string | undefined {
  if (!existsSync(file)) return undefined;
  const last = readFileSync(file, "utf8").trim().split("\n").at(-1) ?? "";
  return /"measure":"end","outcome":"([^"]+)"/.exec(last)?.[1];
}

interface Ended {
  readonly outcome: "crashed" | "hung";
  readonly log: string;
}

/** Without its own last line, a child crashed, or hung until it was ended. OpenClaw's keeper ends what it started. */
function runChild(options: ChildOptions, withinMs: number): Promise<Ended> {
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, "peers-child.ts"), JSON.stringify(options)],
    {
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let log = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => {
      log = (log + String(chunk)).slice(-LOG_CHARS);
    });
  let isLate = false;
  const timers = [
    setTimeout(() => {
      isLate = true;
      child.kill("SIGTERM");
    }, withinMs),
    setTimeout(() => child.kill("SIGKILL"), withinMs + GRACE_MS),
  ];
  return new Promise((resolve) => {
    child.once("exit", (code, signal) => {
      for (const timer of timers) clearTimeout(timer);
      const how = isLate ? `no end within ${withinMs / 1_000} s` : `ended with ${code ?? signal}`;
      resolve({ outcome: isLate ? "hung" : "crashed", log: `${how}\n${log}` });
    });
  });
}

const HELP = `npm run bench:peers -- [OPTION]…

Asks other memories for OpenClaw, and helmdeck, the same questions in one gateway. The first run installs them from the npm and PyPI
registries. A run that was interrupted continues. The protocol: bench/peers/README.md.

  --quick          eight questions of a kind from two sets, and fewer rounds; for trying a change
  --only SYSTEM    may be repeated: ${SYSTEMS.map(({ id }) => id).join(", ")}
  --group GROUP    may be repeated: ${GROUPS.join(", ")}
  --run N          1 or 2; the second run measures again what can differ, and shows the spread (1)
  --seed N         of the set that is made anew (${DEFAULT_SEED})
  --locomo DIR     also asks LoCoMo, from a folder of NAME.facts.jsonl and NAME.questions.jsonl
  --fresh          measures again what has a result
  --write          also keeps the run's figures in bench/peers/kept/, and writes docs/reference/peers.md of them
  --page           measures nothing, and writes the page of the figures that are kept

Examples:
  npm run bench:peers                                     # everything
  npm run bench:peers -- --group costs --run 2            # times and memory again; on a quiet machine
  npm run bench:peers -- --quick --only qmd --fresh       # after a change to one system's file
  npm run bench:peers -- --only grep --only helmdeck --seed 7`;

const OPTIONS = {
  help: { type: "boolean", short: "h", default: false },
  quick: { type: "boolean", default: false },
  only: { type: "string", multiple: true },
  group: { type: "string", multiple: true },
  run: { type: "string", default: "1" },
  seed: { type: "string", default: String(DEFAULT_SEED) },
  locomo: { type: "string" },
  fresh: { type: "boolean", default: false },
  write: { type: "boolean", default: false },
  page: { type: "boolean", default: false },
} as const;

/** Throws with a sentence for the person who typed them. */
function optionsFrom(args: readonly string[]) {
  const { values } = parseArgs({ args: [...args], options: OPTIONS });
  const { only = [], group = [], run, seed, locomo } = values;
  const ids = SYSTEMS.map(({ id }) => id);
  for (const id of only)
    if (!ids.includes(id)) throw new Error(`No system "${id}". There are: ${ids.join(", ")}.`);
  for (const name of group)
    if (!GROUPS.includes(name as Group))
      throw new Error(`No group "${name}". There are: ${GROUPS.join(", ")}.`);
  if (run !== "1" && run !== "2") throw new Error(`--run must be 1 or 2, not "${run}".`);
  if (!/^\d{1,9}$/.test(seed)) throw new Error(`--seed must be a whole number, not "${seed}".`);
  if (locomo !== undefined && !(existsSync(locomo) && conversationsOfFolder(locomo).length > 0))
    throw new Error(`${locomo} has no LoCoMo conversation (NAME.facts.jsonl and NAME.questions.jsonl).`);
  if (values.quick && values.write) throw new Error("A page is made of whole runs; leave out --quick.");
  return { ...values, only, group };
}

async function main(): Promise<void> {
  let options: ReturnType<typeof optionsFrom>;
  try {
    options = optionsFrom(process.argv.slice(2));
  } catch (error) {
    console.error(
      `${error instanceof Error ? error.message : error}\nnpm run bench:peers -- --help shows all options.`,
    );
    process.exitCode = 2;
    return;
  }
  if (options.help) return console.log(HELP);
  const { quick, only, group, run, seed, locomo, fresh, write, page } = options;
  const folder = join(RAW_FOLDER, "peers", quick ? "quick" : `run-${run}`);
  if (!page) {
    await buildAll();
    await runPeers({
      systems: SYSTEMS.filter(({ id }) => only.length === 0 || only.includes(id)).map((system) =>
        run === "2" && group.length === 0 ? ofSecondRun(system) : system,
      ),
      groups: GROUPS.filter((name) => group.length === 0 || group.includes(name)),
      folder,
      child: { seed: Number(seed), isQuick: quick, ...(locomo !== undefined && { locomo }) },
      isFresh: fresh,
      onProgress: (message) => console.error(`==> ${message}`),
    });
    console.log(`Raw results: ${folder}`);
  }
  if (!write && !page) return;
  if (write) keepRun(folder, run, { seed: Number(seed), hasLocomo: locomo !== undefined });
  const runs = [1, 2]
    .map((number) => keptPath(number))
    .filter((path) => existsSync(path))
    .map(readRun);
  const path = join(ROOT, "docs", "reference", "peers.md");
  writePage({ runs, systems: SYSTEMS, path });
  console.log(`Page: ${path}`);
}

function keptPath(run: number | string): string {
  return join(import.meta.dirname, "kept", `run-${run}.jsonl.gz`);
}

/** Copies a run's figures into the repository. */
function keepRun(folder: string, run: string, of: Pick<Run["about"], "seed" | "hasLocomo">): void {
  const about = { date: new Date().toISOString().slice(0, 10), machine: describeMachine(), ...of };
  writeRun(keptPath(run), { about, lines: linesIn(folder) });
}

/** The figures of a folder of raw results. */
export function linesIn(folder: string): readonly Line[] {
  return globSync("*.jsonl", { cwd: folder })
    .toSorted()
    .flatMap((name) => readJsonLines<JsonObject>(join(folder, name)).map(keptLine));
}

if (import.meta.main) await main();
