/**
 * Running other programs: the one place where the installer starts a process and waits for it.
 *
 * Who looks on: every account of the machine can read a process's arguments. So nothing secret is ever an argument; what is
 * secret goes through standard input. Nor is the output of a program repeated in an error unless the caller asks for it.
 */

import { execa } from "execa";
import { defined } from "../app/index.ts";

export interface CommandResult {
  /** Undefined when the program could not be started, or was ended by a signal. */
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
  /** It was ended because it took too long. */
  readonly hasTimedOut?: boolean;
}

export interface RunOptions {
  /** For standard input; without it that is empty. */
  readonly input?: string | Uint8Array;
  /** Added to the environment. */
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  readonly cwd?: string;
}

/** Runs a program to its end. Never throws: a program that is not there has no exit code. */
export type Run = (file: string, args: readonly string[], options?: RunOptions) => Promise<CommandResult>;

const TIMEOUT_MS = 300_000;
const OUTPUT_MAX_BYTES = 32_000_000;

/** `env` is the whole environment of what is run, but for what a call adds. */
export function makeRun(env: Readonly<Record<string, string | undefined>>): Run {
  return async (file, args, { input = "", env: added, timeoutMs = TIMEOUT_MS, cwd } = {}) => {
    const { exitCode, stdout, stderr, timedOut } = await execa(file, [...args], {
      env: { ...env, ...added },
      extendEnv: false,
      input,
      timeout: timeoutMs,
      maxBuffer: OUTPUT_MAX_BYTES,
      reject: false,
      stripFinalNewline: false,
      ...defined({ cwd }),
    });
    return { exitCode, stdout: String(stdout), stderr: String(stderr), hasTimedOut: timedOut };
  };
}
