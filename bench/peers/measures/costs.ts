/** What a system costs: the time of a question, the start of OpenClaw's commands and of the gateway, and memory. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { OpenClawHost } from "../../../scripts/openclaw-host/openclaw-host.ts";
import { BLOCKED_FILE } from "../gateway.ts";
import type { QuestionSet } from "../sets.ts";
import type { Running } from "../system.ts";
import { ask, type WriteLine, waysOf } from "./record.ts";

const TICKS_PER_SECOND = 100;

interface CostsOptions {
  readonly rounds: number;
  readonly questions: QuestionSet["questions"];
  readonly agent: string;
  readonly record: WriteLine;
}

export async function measureCosts(running: Running, options: CostsOptions): Promise<void> {
  const { host, pids } = running;
  const { record, agent } = options;
  const recordResident = async (measure: string) =>
    host === undefined ? undefined : record({ measure, bytes: residentBytes(await pids()) });
  // The gateway starts again first: the agent's turn that admits a server takes memory which others would not need.
  if (host !== undefined) await measureStarts(host, options);
  await running.ready(agent);
  await recordResident("resident, idle");
  await timeQuestions(running, options);
  await recordResident("resident");
}

/** The first round fills the caches of the file system and the compiler, and is not counted. */
async function measureStarts(host: OpenClawHost, { record, rounds }: CostsOptions): Promise<void> {
  for (let round = 0; round <= rounds; round += 1) {
    const { code, ms, stderr } = await host.openclaw(["--help"]);
    if (code !== 0) throw new Error(`openclaw --help ended with ${code}: ${stderr}`);
    if (round > 0) record({ measure: "help", ms: Math.round(ms) });
  }
  for (let round = 0; round <= Math.ceil(rounds / 2); round += 1) {
    await host.stopGateway();
    const began = performance.now();
    await host.startGateway();
    const ms = Math.round(performance.now() - began);
    if (round > 0) record({ measure: "gateway", ms, processorMs: processorMs(host.pid) });
  }
}

async function timeQuestions(running: Running, { questions, agent, record }: CostsOptions): Promise<void> {
  for (const [way, how] of waysOf(running)) {
    // Starts what a system starts when it is first asked.
    for (const { question } of questions.slice(0, 1)) await ask(how, agent, question);
    const began = Date.now();
    for (const { question } of questions) {
      const { answer, ms } = await ask(how, agent, question);
      record({ measure: "timed", way, isError: answer.isError ?? false, ms: Math.round(ms) });
    }
    if (running.host !== undefined)
      record({ measure: "blocked", way, ms: longestBlock(running.root, began) });
  }
}

/** User and system time of a process. NaN if the system does not tell. */
function processorMs(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
    return ((Number(fields[11]) + Number(fields[12])) * 1_000) / TICKS_PER_SECOND;
  } catch {
    return Number.NaN;
  }
}

/** Milliseconds. */
function longestBlock(root: string, since: number): number {
  const lines = readFileSync(join(root, BLOCKED_FILE), "utf8").trim().split("\n");
  const times = lines.map((line) => line.split(" ").map(Number));
  return Math.max(0, ...times.flatMap(([at = 0, ms = 0]) => (at >= since ? [ms] : [])));
}

/** The proportional set size of all of them, on Linux. NaN elsewhere. */
function residentBytes(pids: readonly number[]): number {
  let sum = 0;
  for (const pid of pids) {
    try {
      const [, kilobytes] = /^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8")) ?? [];
      sum += Number(kilobytes) * 1_024;
    } catch {
      if (process.platform !== "linux") return Number.NaN;
      // it has ended
    }
  }
  return sum;
}
