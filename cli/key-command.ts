/** Runs the command that prints the memory's key: without a shell, for at most half a minute, ignoring its stderr. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Shell } from "../commands/shell.ts";

/** A password manager may have to ask a person. */
const TIMEOUT_MS = 30_000;
/** A key has 64 digits. */
const MOST_BYTES = 1_024;

export async function runKeyCommand(
  { env }: Pick<Shell, "env">,
  [program, ...args]: readonly [string, ...string[]],
  timeoutMs = TIMEOUT_MS,
): Promise<string> {
  const running = promisify(execFile)(program, args, {
    ...{ env: { ...env }, encoding: "latin1", windowsHide: true },
    ...{ timeout: timeoutMs, killSignal: "SIGKILL", maxBuffer: MOST_BYTES },
  });
  running.child.stdin?.end();
  return (await running).stdout;
}
