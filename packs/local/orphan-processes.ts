/**
 * Finds and kills processes that left their process group but still belong to a session.
 *
 * Threat: a program starts a daemon (`setsid`, double fork) to outlive its session. Defence: every process of a session
 * inherits a HOME inside the session's folder, and all processes with that HOME are killed. A process that also clears its
 * environment escapes; this is not a sandbox.
 */
import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";

/** A killed process normally ends at once, but blocked disk I/O can delay it. */
const GONE_WITHIN_MS = 5_000;
const LOOK_AGAIN_MS = 20;
const PS_BYTES = 64 * 1_024 * 1_024;

/** Kills every process with exactly this HOME; resolves when they have ended, or after 5 s. */
export async function endProcessesAtHome(home: string): Promise<void> {
  const deadline = Date.now() + GONE_WITHIN_MS;
  for (;;) {
    const pids = await processesAtHome(home);
    if (pids.length === 0 || Date.now() > deadline) return;
    for (const pid of pids) kill(pid);
    await pause(LOOK_AGAIN_MS);
  }
}

/** Their ids, except for this process. */
export async function processesAtHome(home: string): Promise<readonly number[]> {
  const pids = process.platform === "linux" ? await byProc(`HOME=${home}`) : await byPs(`HOME=${home}`);
  return pids.filter((pid) => pid !== process.pid);
}

async function byProc(assignment: string): Promise<readonly number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const hits = await Promise.all(pids.map((pid) => carries(pid, assignment)));
  return pids.filter((_, at) => hits[at] === true).map(Number);
}

/** False for a process that has ended, or that belongs to another user and so cannot be ours. */
async function carries(pid: string, assignment: string): Promise<boolean> {
  const environment = await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "");
  return environment.split("\0").includes(Buffer.from(assignment).toString("latin1"));
}

/** Less exact, without /proc: a process whose arguments contain the whole assignment also matches. */
function byPs(assignment: string): Promise<readonly number[]> {
  return new Promise((resolve) => {
    execFile("ps", ["axeww", "-o", "pid=,command="], { maxBuffer: PS_BYTES }, (error, stdout) => {
      if (error !== null) return resolve([]);
      const lines = stdout.split("\n").filter((line) => ` ${line} `.includes(` ${assignment} `));
      resolve(lines.map((line) => Number.parseInt(line, 10)).filter((pid) => Number.isInteger(pid)));
    });
  });
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // Gone meanwhile, or not ours to kill: the next look tells.
  }
}
