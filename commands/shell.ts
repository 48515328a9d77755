/** The shell a command runs in: streams, environment and clock, passed in so that a test can be the shell. */
import { homedir } from "node:os";
import type { Readable, Writable } from "node:stream";

interface InputStream extends Readable {
  readonly isTTY?: boolean;
}

export interface OutputStream extends Writable {
  readonly isTTY?: boolean;
  /** Of a terminal; help is 80 wide elsewhere. */
  readonly columns?: number;
}

export interface Shell {
  readonly stdin: InputStream;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homeDir: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** The shell of this process. */
export function thisShell(): Shell {
  const { stdin, stdout, stderr, env } = process;
  return { stdin, stdout, stderr, env, homeDir: homedir(), now: Date.now };
}
