/** The process's own terminal, for `openclaw helmdeck`. */
import { createInterface } from "node:readline/promises";
import type { Terminal } from "./openclaw-cli.ts";

export function processTerminal(): Terminal {
  return {
    out: (text) => void process.stdout.write(`${text}\n`),
    err: (text) => void process.stderr.write(`${text}\n`),
    ask: process.stdin.isTTY ? askHere : undefined,
    fail: (exitCode) => {
      process.exitCode = exitCode;
    },
  };
}

async function askHere(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await lines.question(question);
  } finally {
    lines.close();
  }
}
