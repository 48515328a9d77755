/**
 * A home in which commands run in this process: the same program, but ten times as fast, because most of a command's time is the start
 * of Node. as-shipped.test.ts shows that the shipped command, run as a process, gives the same answers.
 */
import { expect } from "vitest";
import type { CommandLine } from "../../commands/command-line.ts";
import { CommandHome, type Finished, type RunOptions } from "./command.ts";
import { runPiped } from "./terminal.ts";

export class InProcessHome extends CommandHome {
  readonly #line: CommandLine | undefined;

  /** The default is `helmdeck-memory`. */
  constructor(line?: CommandLine) {
    super();
    this.#line = line;
  }

  /** An unprivileged user's commands always run as processes. */
  override async run(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
    return this.isUnprivileged ? this.runProcess(args, options) : this.#runHere(args, options);
  }

  /** The one line that a command answers a script, with nothing on stderr. */
  async json(...args: readonly string[]): Promise<unknown> {
    const { code, stdout, stderr } = await this.run([...args, "--json"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^[^\n]*\n$/);
    return JSON.parse(stdout);
  }

  /** Runs the shipped command as a process: for locks between processes, signals, and other effects of a separate process. */
  runProcess(args: readonly string[], options?: RunOptions): Promise<Finished> {
    return super.run(args, options);
  }

  async #runHere(args: readonly string[], { input, env, cwd }: RunOptions): Promise<Finished> {
    const before = process.cwd();
    process.chdir(cwd ?? this.folder);
    try {
      const typed = {
        ...(input === undefined ? {} : { typed: input }),
        ...(this.#line && { line: this.#line }),
      };
      const seen = await runPiped(args, { homeFolder: this.folder, env: this.environment(env), ...typed });
      return { ...seen, signal: null };
    } finally {
      process.chdir(before);
    }
  }
}
