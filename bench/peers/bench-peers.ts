/**
 * `npm run bench:peers [-- --quick] [--only SYSTEM] [--group GROUP] [--run N] [--seed N] [--locomo DIR] [--fresh] [--write]`: which memory
 * should an OpenClaw user take? README.md in this folder is the protocol.
 *
 * Results are kept, so that a run that was interrupted continues. The second run of the protocol is `--run 2`.
 */
import { spawn } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildAll, ROOT } from "../../scripts/build/build.ts";
import { describeMachine, RAW_FOLDER } from "../bench-report.ts";
import { writePage } from "./page.ts";
import type { ChildOptions } from "./peers-child.ts";
import { GROUPS, type Group, type System } from "./system.ts";
import { SYSTEMS } from "./systems/systems.ts";

/** Of one system, on a busy machine. */
const GROUP_WITHIN_MS: Readonly<Record<Group, number>> = {
  recall: 900_000,
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

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      quick: { type: "boolean", default: false },
      only: { type: "string", multiple: true },
      group: { type: "string", multiple: true },
      run: { type: "string", default: "1" },
      seed: { type: "string", default: String(DEFAULT_SEED) },
      locomo: { type: "string" },
      fresh: { type: "boolean", default: false },
      write: { type: "boolean", default: false },
    },
  });
  const { quick, only, group, run, seed, locomo, fresh, write } = values;
  const folder = join(RAW_FOLDER, "peers", quick ? "quick" : `run-${run}`);
  await buildAll();
  await runPeers({
    systems: SYSTEMS.filter(({ id }) => only === undefined || only.includes(id)),
    groups: GROUPS.filter((name) => group === undefined || group.includes(name)),
    folder,
    child: { seed: Number(seed), isQuick: quick, ...(locomo !== undefined && { locomo }) },
    isFresh: fresh,
    onProgress: (message) => console.error(`==> ${message}`),
  });
  console.log(`Raw results: ${folder}`);
  if (!write) return;
  const folders = quick ? [folder] : [1, 2].map((number) => join(RAW_FOLDER, "peers", `run-${number}`));
  const path = join(ROOT, "docs", "reference", "peers.md");
  const page = {
    folders,
    systems: SYSTEMS,
    machine: describeMachine(),
    seed: Number(seed),
    path,
    isQuick: quick,
  };
  console.log(`Page: ${writePage(page)}`);
}

if (import.meta.main) await main();
