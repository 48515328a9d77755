/** Asks all questions of all sets, one at a time. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { BLOCKED_FILE } from "../gateway.ts";
import type { QuestionSet } from "../sets.ts";
import type { Running } from "../system.ts";
import { ask, keysShown, type WriteLine, waysOf } from "./record.ts";

export async function measureRecall(
  running: Running,
  sets: Readonly<Record<string, QuestionSet>>,
  record: WriteLine,
): Promise<void> {
  for (const agent of Object.keys(sets)) await running.ready(agent);
  for (const [way, how] of waysOf(running)) {
    const began = Date.now();
    for (const [set, { facts, questions }] of Object.entries(sets)) {
      for (const { kind, question, wanted } of questions) {
        const { answer, ms } = await ask(how, set, question);
        const { isError = false, text, hits } = answer;
        const shown = keysShown(answer, facts);
        const size = { characters: text.length, hits: hits.length };
        record({
          measure: "question",
          way,
          set,
          kind,
          question,
          wanted,
          shown,
          ...size,
          isError,
          ms: Math.round(ms),
        });
      }
    }
    if (running.host !== undefined)
      record({ measure: "blocked", way, ms: longestBlock(running.root, began) });
  }
  const bytes = residentBytes(await running.pids());
  if (running.host !== undefined) record({ measure: "resident", bytes });
}

/** Milliseconds. */
function longestBlock(root: string, since: number): number {
  const lines = readFileSync(join(root, BLOCKED_FILE), "utf8").trim().split("\n");
  const times = lines.map((line) => line.split(" ").map(Number));
  return Math.max(0, ...times.flatMap(([at = 0, ms = 0]) => (at >= since ? [ms] : [])));
}

/** The proportional set size of all of them, on Linux. NaN elsewhere. */
export function residentBytes(pids: readonly number[]): number {
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
