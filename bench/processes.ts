/** Runs Node for a measurement: a command from its start to its exit, and a program that prints its figures as JSON. Reads what a process has used. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** MiniSearch takes minutes for 100,000 entries on a small machine. */
const PATIENCE_MS = 15 * 60_000;
const OUTPUT_MAX_BYTES = 64 * 1024 * 1024;

export interface ColdRun {
  readonly home: string;
  readonly input?: string;
  /** In addition to PATH and HOME. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs `node ARGS` in this home. Throws unless it ends with 0. */
export function runCold(
  args: readonly string[],
  { home, input = "", env = {} }: ColdRun,
): { readonly ms: number; readonly stdout: string } {
  const started = performance.now();
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    ...{ cwd: home, input, encoding: "utf8", maxBuffer: OUTPUT_MAX_BYTES },
    env: { PATH: process.env.PATH, HOME: home, ...env },
  });
  const ms = performance.now() - started;
  if (status !== 0) throw new Error(`${args.slice(1).join(" ")} ended with ${status}: ${stderr}`);
  return { ms, stdout };
}

/** What a program prints of its own memory and times, in a process of its own. `args`: options of Node, the program, its arguments. */
export function measureInChild<Sample>(...args: readonly string[]): Sample {
  const child = spawnSync(process.execPath, ["--expose-gc", ...args], {
    encoding: "utf8",
    timeout: PATIENCE_MS,
  });
  if (child.status !== 0) throw new Error(`${args.join(" ")} failed: ${child.stderr}`);
  return JSON.parse(child.stdout) as Sample; // printed by the program
}

/**
 * Processor time of a running process so far, user and system, in milliseconds. NaN where it is not known (only Linux tells).
 *
 * `/proc/<pid>/stat` counts in hundredths of a second; fields 14 and 15, after the program's name in brackets.
 */
export function processorMsOf(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /, "")
      .split(" ");
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return Number.NaN;
  }
}
