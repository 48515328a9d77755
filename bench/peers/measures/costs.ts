/** What a system adds to the start of OpenClaw's commands and of the gateway. */
import { readFileSync } from "node:fs";
import type { Running } from "../system.ts";
import { residentBytes } from "./recall.ts";
import type { WriteLine } from "./record.ts";

const TICKS_PER_SECOND = 100;

export async function measureCosts(
  { host, pids }: Running,
  rounds: number,
  record: WriteLine,
): Promise<void> {
  if (host === undefined) return;
  record({ measure: "resident, idle", bytes: residentBytes(await pids()) });
  // The first round fills the caches of the file system and the compiler.
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

/** User and system time of a process. NaN if the system does not tell. */
function processorMs(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
    return ((Number(fields[11]) + Number(fields[12])) * 1_000) / TICKS_PER_SECOND;
  } catch {
    return Number.NaN;
  }
}
