/**
 * Runs other programs: the only place where the installer starts a process and waits for it.
 *
 * Threat: every account on the machine can read a process's arguments. So secrets are passed only through standard input,
 * never as arguments. An error repeats a program's output only if the caller asks for it.
 */

import { execa } from "execa";
import { defined } from "../engine/defined.ts";

export interface CommandResult {
  /** Undefined if the program could not be started, or was ended by a signal. */
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
  /** It was stopped because it took too long. */
  readonly hasTimedOut?: boolean;
}

export interface RunOptions {
  /** Standard input; default empty. */
  readonly input?: string | Uint8Array;
  /** Added to the environment. */
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  readonly cwd?: string;
}

/** Runs a program to its end. Never throws: a missing program has no exit code. */
export type Run = (file: string, args: readonly string[], options?: RunOptions) => Promise<CommandResult>;

const TIMEOUT_MS = 300_000;
const OUTPUT_MAX_BYTES = 32_000_000;

/** `env`: the complete environment of the programs, except for additions by a call. */
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
