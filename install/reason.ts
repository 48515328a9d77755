/** Finds the line in OpenClaw's output that says why a command failed. */
import { at, jsonIn } from "./openclaw-json.ts";
import type { CommandResult } from "./run-command.ts";

/** Lines to skip: boxes and rules, subsystem logs, banners, and pointers to help or a file. */
const BESIDE_THE_POINT =
  /^[\s│┃◇◆─━╭╮╰╯├┤└┘┌┐]*$|^[│◇├╭╰]|^\[(?!openclaw\] Reason:)[\w:/-]+\]|^WARNING\b|^This source is|^(Fix|Config|File|Problem|Inspect|Audit|Usage|See)\b.*:|^(Run|Inspect with|Audit) |^- Migrated /i;
/** Lines that report a failure. */
const FAILURE =
  /fail|error|invalid|refus|could not|cannot|can't|unable|requires|not found|unavailable|denied|mismatch|unknown|owns/i;
/** The detail under such a line. */
const DETAIL = /^(?:×|-|\*) +/;
const MAX_LENGTH = 500;

/** OpenClaw redacts secrets in its output. */
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
