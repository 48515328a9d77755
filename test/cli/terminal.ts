/** A person at a terminal: runs commands in this process with streams that report that they are terminals. */
import { PassThrough, Readable } from "node:stream";
import { HELMDECK_MEMORY } from "../../cli/index.ts";
import type { CommandLine } from "../../commands/command-line.ts";
import { runCommandLine } from "../../commands/run-program.ts";

export interface TerminalOptions {
  readonly homeFolder: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The person's input: either all of it before the command asks, or from a function at the question. Its end is Ctrl-D. */
  readonly typed?: string | Buffer | (() => string | Promise<string>);
  /** Streams that are not terminals. */
  readonly piped?: readonly ("stdin" | "stdout" | "stderr")[];
  readonly now?: () => number;
  /** The default is `helmdeck-memory`. */
  readonly line?: CommandLine;
}

export interface Seen {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `helmdeck-memory <args>`, or another command line, and returns the output that a person at a terminal sees. */
export async function runOnTerminal(args: readonly string[], options: TerminalOptions): Promise<Seen> {
  const { homeFolder, env = {}, typed = "", piped = [], now = Date.now, line = HELMDECK_MEMORY } = options;
  const stdin = Object.assign(keyboard(typed), { isTTY: !piped.includes("stdin") });
  const stdout = stream(!piped.includes("stdout"));
  const stderr = stream(!piped.includes("stderr"));
  const code = await runCommandLine(args, { stdin, stdout, stderr, env, homeDir: homeFolder, now }, line);
  return { code, stdout: drain(stdout), stderr: drain(stderr) };
}

/** Runs the same command in this process with pipes instead of the terminal. This is faster than a separate process. */
export function runPiped(args: readonly string[], options: TerminalOptions): Promise<Seen> {
  return runOnTerminal(args, { ...options, piped: ["stdin", "stdout", "stderr"] });
}

function keyboard(typed: string | Buffer | (() => string | Promise<string>)): Readable {
  if (typeof typed !== "function") return new PassThrough().end(typed);
  return new Readable({
    async read() {
      this.push(await typed());
      this.push(null);
    },
  });
}

function stream(isTTY: boolean): PassThrough & { isTTY: boolean } {
  return Object.assign(new PassThrough({ highWaterMark: 64 * 1024 * 1024 }), { isTTY });
}

function drain(written: PassThrough): string {
  return (written.read() as Buffer | null)?.toString("utf8") ?? ""; // A stream without an encoding returns Buffers.
}
