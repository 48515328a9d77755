/** A person at a terminal: runs commands in this process with streams that say they are terminals. */
import { PassThrough, Readable } from "node:stream";
import { HELMDECK_MEMORY } from "../../cli/index.ts";
import { type CommandLine, runCommandLine } from "../../commands/index.ts";

export interface TerminalOptions {
  readonly homeFolder: string;
  readonly env?: Readonly<Record<string, string>>;
  /** What the person types, all of it before the command asks, or called when it asks; the end of it is Ctrl-D. */
  readonly typed?: string | Buffer | (() => string);
  /** Streams that are no terminals. */
  readonly piped?: readonly ("stdin" | "stdout" | "stderr")[];
  readonly now?: () => number;
  /** Default: `helmdeck-memory`. */
  readonly line?: CommandLine;
}

export interface Seen {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** `helmdeck-memory <args>`, or another command line, as a person at a terminal sees it. */
export async function runOnTerminal(args: readonly string[], options: TerminalOptions): Promise<Seen> {
  const { homeFolder, env = {}, typed = "", piped = [], now = Date.now, line = HELMDECK_MEMORY } = options;
  const stdin = Object.assign(keyboard(typed), { isTTY: !piped.includes("stdin") });
  const stdout = stream(!piped.includes("stdout"));
  const stderr = stream(!piped.includes("stderr"));
  const code = await runCommandLine(args, { stdin, stdout, stderr, env, homeDir: homeFolder, now }, line);
  return { code, stdout: drain(stdout), stderr: drain(stderr) };
}

/** The same command in this process with pipes in place of the terminal: quicker than a process of its own. */
export function runPiped(args: readonly string[], options: TerminalOptions): Promise<Seen> {
  return runOnTerminal(args, { ...options, piped: ["stdin", "stdout", "stderr"] });
}

function keyboard(typed: string | Buffer | (() => string)): Readable {
  if (typeof typed !== "function") return new PassThrough().end(typed);
  return new Readable({
    read() {
      this.push(typed());
      this.push(null);
    },
  });
}

function stream(isTTY: boolean): PassThrough & { isTTY: boolean } {
  return Object.assign(new PassThrough({ highWaterMark: 64 * 1024 * 1024 }), { isTTY });
}

function drain(written: PassThrough): string {
  return (written.read() as Buffer | null)?.toString("utf8") ?? ""; // A stream without encoding reads Buffers.
}
