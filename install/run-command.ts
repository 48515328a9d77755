/**
 * Runs other programs: the only place where the installer starts a process and waits for it.
 *
 * Threat: every account on the machine can read a process's arguments. So secrets are passed only through standard input,
 * never as arguments. An error repeats a program's output only if the caller asks for it.
 */
import { execa } from "execa";
import { defined } from "../engine/defined.ts";
import { at, jsonIn } from "./openclaw-json.ts";

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

/** Lines to skip: boxes and rules, subsystem logs, banners, and pointers to help or a file. */
const BESIDE_THE_POINT =
  /^[\s│┃◇◆─━╭╮╰╯├┤└┘┌┐]*$|^[│◇├╭╰]|^\[(?!openclaw\] Reason:)[\w:/-]+\]|^WARNING\b|^This source is|^(Fix|Config|File|Problem|Inspect|Audit|Usage|See)\b.*:|^(Run|Inspect with|Audit) |^- Migrated /i;
/** Lines that report a failure. */
const FAILURE =
  /fail|error|invalid|refus|could not|cannot|can't|unable|requires|not found|unavailable|denied|mismatch|unknown|owns/i;
/** The detail under such a line. */
const DETAIL = /^(?:×|-|\*) +/;
const MAX_LENGTH = 500;

/**
 * Finds the line in OpenClaw's output that says why a command failed.
 *
 * OpenClaw redacts secrets in its output.
 */
export function reasonOf({ stdout, stderr, exitCode, hasTimedOut }: CommandResult): string {
  if (hasTimedOut === true) return "it took too long and was stopped";
  const said = messageIn(stdout) ?? lineIn(stderr) ?? lineIn(stdout);
  return said ?? `it ended with ${exitCode ?? "no code"} without output`;
}

/** The line of a log that reports a failure, else the last line; undefined if the log is empty. */
export function lineIn(text: string): string | undefined {
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => !BESIDE_THE_POINT.test(line));
  const first = lines.findIndex((line) => FAILURE.test(line));
  const at = first === -1 ? lines.length - 1 : first;
  const [line, next = ""] = lines.slice(at, at + 2);
  if (line === undefined) return undefined;
  const detail = DETAIL.test(next) ? ` (${next.replace(DETAIL, "")})` : "";
  return `${line.replace(/^\[openclaw\] Reason: |^(?:×|-) +/, "")}${detail}`.slice(0, MAX_LENGTH);
}

/** With `--json` a failure is an object on standard output. */
function messageIn(stdout: string): string | undefined {
  const answer = jsonIn(stdout);
  const message = at(answer, "error", "message");
  if (typeof message !== "string") return undefined;
  const issues = at(answer, "issues");
  const issue = Array.isArray(issues) ? at(issues[0], "message") : undefined;
  const [line = ""] = message.split("\n");
  return `${line}${typeof issue === "string" ? ` (${issue})` : ""}`.slice(0, MAX_LENGTH);
}
