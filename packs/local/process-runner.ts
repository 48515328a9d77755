/**
 * Runs one program without a shell, with its own environment and deadline, and ends everything that it started.
 *
 * Threat: the program, or code that it was tricked into running, floods its output, refuses to end, or leaves children
 * behind. Defence: only a limited part of the output is kept, the rest is read and dropped; the program leads a process group
 * that is killed when it ends, at its deadline, and on cancellation. A child that leaves the group is found when the session
 * is released (endProcessesAtHome). This is not a sandbox: the program runs as this user.
 */

import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import type { Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { execa } from "execa";
import { defined } from "../../engine/defined.ts";
import { HelmdeckError, isHelmdeckError } from "../../engine/errors.ts";
import type { ProcessResult } from "../engine/pack-contract.ts";

/** The part of each stream that is kept. */
const OUTPUT_BYTES = 1_024 * 1_024;
/** Time between SIGTERM and SIGKILL. */
const GRACE_MS = 1_000;
/** Time for output to close after the program and its group have ended; a process outside the group may hold it open. */
const DRAIN_MS = 500;

export interface ProgramRun {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The complete environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
}

/**
 * The program's result, whatever its exit code. Throws `deadline_exceeded`, `cancelled` (or the signal's own reason), and
 * `pack_failed` if it cannot be started.
 */
export async function runProgram(run: ProgramRun): Promise<ProcessResult> {
  if (run.signal.aborted) throw reasonOf(run.signal);
  const child = start(run);
  const stdout = new KeptOutput(child.stdout);
  const stderr = new KeptOutput(child.stderr);
  child.nodeChildProcess.once("exit", () => endGroup(child));
  const result = await child;
  if (run.signal.aborted) throw reasonOf(run.signal);
  if (result.timedOut)
    throw new HelmdeckError(
      "deadline_exceeded",
      `${run.program} did not end within ${run.deadlineMs} ms and was ended, together with its child processes.`,
      { details: { program: run.program, deadlineMs: run.deadlineMs } },
    );
  if (child.pid === undefined) throw notStarted(run, result.code);
  return {
    exitCode: result.exitCode,
    signal: result.signal,
    stdout: stdout.text(),
    stderr: stderr.text(),
    truncated: stdout.truncated || stderr.truncated,
  };
}

type Child = ReturnType<typeof start>;

function start({ program, args, cwd, env, input, deadlineMs, signal }: ProgramRun) {
  return execa(program, args, {
    cwd,
    env,
    extendEnv: false,
    preferLocal: false,
    shell: false,
    stdin: input === undefined ? "ignore" : "pipe",
    ...defined({ input }),
    buffer: false,
    reject: false,
    killDescendants: true,
    forceKillAfterDelay: GRACE_MS,
    timeout: deadlineMs,
    cancelSignal: signal,
  });
}

/** Ends background processes of the program, which also closes its output. */
function endGroup(child: Child): void {
  child.kill("SIGKILL");
  const drained = setTimeout(() => {
    child.stdout?.destroy();
    child.stderr?.destroy();
  }, DRAIN_MS);
  const cancel = () => clearTimeout(drained);
  child.then(cancel, cancel);
}

/** Keeps the first bytes of a stream. The rest is read and dropped, so that the program is not blocked. */
class KeptOutput {
  readonly #chunks: Uint8Array[] = [];
  #sizeBytes = 0;
  truncated = false;

  constructor(stream: Readable | null) {
    stream?.on("data", (chunk: Uint8Array) => {
      const room = OUTPUT_BYTES - this.#sizeBytes;
      if (chunk.byteLength > room) this.truncated = true;
      const kept = chunk.subarray(0, room);
      this.#sizeBytes += kept.byteLength;
      if (kept.byteLength > 0) this.#chunks.push(kept);
    });
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString();
  }
}

function reasonOf({ reason }: AbortSignal): HelmdeckError {
  if (isHelmdeckError(reason)) return reason;
  return new HelmdeckError("cancelled", "The program was ended: the run was cancelled.");
}

/** The message leaves out arguments and environment, because they may contain secrets. */
function notStarted({ program }: ProgramRun, code: string | undefined): HelmdeckError {
  const why =
    code === "ENOENT" ? "it was not found; is it installed and in PATH?" : (code ?? "unknown cause");
  return new HelmdeckError("pack_failed", `${program} could not be started: ${why}`, {
    details: { program },
  });
}

/** A killed process normally ends at once, but blocked disk I/O can delay it. */
const GONE_WITHIN_MS = 5_000;
const LOOK_AGAIN_MS = 20;
const PS_BYTES = 64 * 1_024 * 1_024;

/**
 * Kills every process with exactly this HOME: those that left their process group but still belong to a session. Resolves when
 * they have ended, or after 5 s.
 *
 * Threat: a program starts a daemon (`setsid`, double fork) to outlive its session. Defence: every process of a session
 * inherits a HOME inside the session's folder, and all processes with that HOME are killed. A process that also clears its
 * environment escapes; this is not a sandbox.
 */
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
