/**
 * Commands that a page shows without their output, which a test runs unchanged:
 *
 *     ```bash NAME
 *     a command
 *     ```
 *
 * The name tells the test where to run them or what for. Blocks may share a name. All blocks of a machine run in one shell, as a
 * person pastes them: what one exports, the next ones have.
 */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { ROOT } from "../../scripts/build/build.ts";

export interface BashBlock {
  readonly name: string;
  readonly script: string;
}

/** `page` is relative to docs. */
export async function bashBlocks(page: string): Promise<readonly BashBlock[]> {
  const text = await readFile(join(ROOT, "docs", page), "utf8");
  return [...text.matchAll(/^```bash (\w+)\n(.*?)^```/gms)].map(([, name = "", script = ""]) => ({
    name,
    script,
  }));
}

const ENDED = /\n-- the block has ended: (?<codes>\d+ \d+)\n$/;

/** A shell that stays open between blocks, with their variables, umask and folder. */
export class PastedShell {
  readonly #bash: ChildProcessByStdio<Writable, Readable, null>;
  #said = "";
  /** Looks at the output again when there is more, or when the shell has ended. */
  #look = (_isOver: boolean): void => {};

  constructor(options: { readonly env: Readonly<Record<string, string | undefined>>; readonly cwd: string }) {
    const stdio: ["pipe", "pipe", "ignore"] = ["pipe", "pipe", "ignore"];
    this.#bash = spawn("bash", ["--norc", "-us"], { ...options, stdio, detached: true });
    this.#bash.stdout.setEncoding("utf8").on("data", (text: string) => {
      this.#said += text;
      this.#look(false);
    });
    this.#bash.on("close", () => this.#look(true));
    // Ctrl-C ends a program, not the shell. A command that fails does not keep the next ones from running.
    this.#bash.stdin.write("exec 2>&1; trap : INT; trap 'failed=$?' ERR\n");
  }

  /** Runs a block. Returns its output of both streams; rejects with it if one of the commands fails. */
  async run(script: string): Promise<string> {
    const { input, index, groups } = await this.start(script, ENDED);
    const said = input.slice(0, index);
    if (groups?.codes !== "0 0") throw new Error(`${script}\nfailed (${groups?.codes}):\n${said}`);
    return said;
  }

  /** Starts a block, and waits until its output has this. */
  start(script: string, pattern: RegExp): Promise<RegExpExecArray> {
    this.#said = "";
    const ending = `printf '\\n-- the block has ended: %s %s\\n' "$?" "$failed"`;
    this.#bash.stdin.write(`failed=0; { ${script}\n} </dev/null; ${ending}\n`);
    return this.#until(pattern);
  }

  /** Presses Ctrl-C, and waits until the block has ended. */
  async interrupt(): Promise<void> {
    process.kill(-Number(this.#bash.pid), "SIGINT");
    await this.#until(ENDED);
  }

  close(): void {
    this.#bash.stdin.end();
  }

  #until(pattern: RegExp): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      this.#look = (isOver) => {
        const found = pattern.exec(this.#said);
        if (found !== null) resolve(found);
        else if (isOver) reject(new Error(`The shell has ended:\n${this.#said}`));
      };
      this.#look(this.#bash.exitCode !== null);
    });
  }
}

/** `command` is run by a shell, and gets the arguments. */
export async function putProgram(folder: string, name: string, command: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, name), `#!/bin/sh\nexec ${command} "$@"\n`);
  await chmod(join(folder, name), 0o755);
}
