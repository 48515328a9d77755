/** Child processes of the tests: each runs one script of `children/` and prints JSON lines. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { bundledScript } from "../../run/bundles.ts";
import { unprivilegedFlags } from "../../run/unprivileged.ts";

type Line = Readonly<Record<string, unknown>>;

export interface Child {
  readonly process: ChildProcess;
  /** All complete lines so far. */
  readonly lines: readonly Line[];
  /** The next line; throws if the child ends without one. */
  next(): Promise<Line>;
  /** Returns the first line after the process has ended. */
  result(): Promise<Line>;
  /** Waits until the process has ended and all of its output was read. */
  ended(): Promise<void>;
  say(text: string): void;
}

export interface ChildOptions {
  /** Arguments for Node. */
  readonly flags?: readonly string[];
  /** A command that runs the rest of its arguments, for example one that first sets limits. */
  readonly under?: readonly string[];
}

export function childPath(name: string): string {
  return fileURLToPath(new URL(`./children/${name}`, import.meta.url));
}

/** Runs as an account that file modes restrict. */
export async function spawnUnprivileged(name: string, args: readonly string[]): Promise<Child> {
  return spawnChild(await bundledScript(childPath(name)), args, { flags: unprivilegedFlags });
}

export function spawnChild(script: string, args: readonly string[], options: ChildOptions = {}): Child {
  const { under = [], flags = [] } = options;
  const [command = process.execPath, ...rest] = [...under, process.execPath, ...flags, script, ...args];
  const child = spawn(command, rest, { stdio: ["pipe", "pipe", "pipe"] });
  child.stdin.on("error", () => undefined); // the child may exit before it has read all input
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const closed = once(child, "close");
  const lines: Line[] = [];
  const reader = createInterface({ input: child.stdout });
  reader.on("line", (line) => {
    const parsed = parseLine(line);
    if (parsed !== undefined) lines.push(parsed);
  });
  let waitedFor = 0;
  const next = async (): Promise<Line> => {
    const wanted = waitedFor++;
    while (lines.length <= wanted) {
      const event = await Promise.race([once(reader, "line"), closed.then(() => "closed" as const)]);
      if (event === "closed" && lines.length <= wanted)
        throw new Error(`the child said nothing more: ${stderr}`);
    }
    return lines[wanted] ?? {};
  };
  return {
    process: child,
    lines,
    next,
    result: async () => {
      const first = await next();
      child.stdin.end();
      await closed;
      return first;
    },
    ended: async () => {
      await closed;
    },
    say: (text) => {
      child.stdin.write(text);
    },
  };
}

/** A killed process may leave an incomplete last line. */
function parseLine(line: string): Line | undefined {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
