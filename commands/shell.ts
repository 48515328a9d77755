/** The shell of a command: streams, environment and clock, passed in so that tests can replace them. */
import { homedir } from "node:os";
import type { Readable, Writable } from "node:stream";

interface InputStream extends Readable {
  readonly isTTY?: boolean;
}

export interface OutputStream extends Writable {
  readonly isTTY?: boolean;
  /** The width of a terminal; elsewhere help has 80 columns. */
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

/** This process's shell. */
export function thisShell(): Shell {
  const { stdin, stdout, stderr, env } = process;
  return { stdin, stdout, stderr, env, homeDir: homedir(), now: Date.now };
}
