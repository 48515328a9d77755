/**
 * Commands that a page shows without their output, which a test runs unchanged:
 *
 *     ```bash NAME
 *     a command
 *     ```
 *
 * The name tells the test where to run them or what for. Blocks may share a name.
 */
import { execFile } from "node:child_process";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "../../scripts/build/build.ts";

export interface BashBlock {
  readonly name: string;
  readonly script: string;
}

interface Shell {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  readonly timeout?: number;
}

/** `page` is relative to docs. */
export async function bashBlocks(page: string): Promise<readonly BashBlock[]> {
  const text = await readFile(join(ROOT, "docs", page), "utf8");
  return [...text.matchAll(/^```bash (\w+)\n(.*?)^```/gms)].map(([, name = "", script = ""]) => ({
    name,
    script,
  }));
}

/** Returns the output. Rejects if one of the commands fails. */
export async function runBash(script: string, shell: Shell): Promise<string> {
  const { stdout } = await promisify(execFile)("bash", ["-euc", `{ ${script}\n} </dev/null`], shell);
  return stdout;
}

/** `command` is run by a shell, and gets the arguments. */
export async function putProgram(folder: string, name: string, command: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, name), `#!/bin/sh\nexec ${command} "$@"\n`);
  await chmod(join(folder, name), 0o755);
}
