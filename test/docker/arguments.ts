/** Reads the arguments of all processes, as any account can, and looks for secrets in them. */
import { readdirSync, readFileSync } from "node:fs";

const EVERY_MS = 20;

export interface Watch {
  /** Adds a secret that was not known at the start, and searches all recorded arguments again. */
  add(secret: string): void;
  /** The command lines that contained a secret. */
  seen(): readonly string[];
  samples(): number;
}

export function watchArguments(secrets: readonly string[]): Watch {
  const known = [...secrets];
  const lines = new Set<string>();
  let samples = 0;
  const look = () => {
    samples += 1;
    for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
      try {
        lines.add(readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " "));
      } catch {
        // The process ended in the meantime.
      }
    }
  };
  setInterval(look, EVERY_MS).unref();
  return {
    add: (secret) => void known.push(secret),
    seen: () => [...lines].filter((line) => known.some((secret) => line.includes(secret))),
    samples: () => samples,
  };
}
