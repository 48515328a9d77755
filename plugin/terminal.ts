/** The terminal that `openclaw helmdeck` speaks to. */
import { askOn } from "../app/index.ts";

/** What the commands need of the process; a test has its own. */
export interface Terminal {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Undefined when nobody is there to answer. */
  readonly ask: ((question: string) => Promise<string>) | undefined;
  readonly fail: (exitCode: number) => void;
  readonly now: () => number;
}

export function processTerminal(): Terminal {
  const { stdin, stdout, stderr } = process;
  return {
    out: (text) => void stdout.write(`${text}\n`),
    err: (text) => void stderr.write(`${text}\n`),
    ask: stdin.isTTY && stderr.isTTY ? (question) => askOn(stdin, stderr, question) : undefined,
    fail: (exitCode) => {
      process.exitCode = exitCode;
    },
    now: Date.now,
  };
}
