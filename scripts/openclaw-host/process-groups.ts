/**
 * The processes of one OpenClaw, each started as a group of its own, so that ending it ends its children too.
 *
 * A keeper process (keeper.ts) holds one end of a pipe: when this process goes away without having cleaned up, whatever
 * the reason (SIGKILL, a crash, process.exit), the keeper ends the groups and deletes the folder.
 */
import { type ChildProcess, execFile, type SpawnOptions, spawn } from "node:child_process";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

/** How long a group may take to end by itself, once asked. */
const GRACE_MS = 10_000;
const LOOK_AGAIN_MS = 25;

export class ProcessGroups {
  readonly #groups = new Set<number>();
  readonly #keeper: ChildProcess;
  readonly #mark: string;
  #isEnding = false;

  constructor(home: { readonly root: string; readonly stateDir: string }) {
    this.#mark = markOf(home);
    this.#keeper = startKeeper(home.root);
  }

  spawn(command: string, args: readonly string[], options: SpawnOptions): ChildProcess {
    if (this.#isEnding) throw new Error("this OpenClaw is being stopped");
    const child = spawn(command, args, { ...options, detached: true });
    const { pid } = child;
    if (pid === undefined) return child;
    this.#groups.add(pid);
    this.#tell(`add ${pid}`);
    child.once("exit", () => this.#forgetIfEmpty(pid));
    return child;
  }

  /** Asks one group to end, and insists after a while. */
  async end(pid: number): Promise<void> {
    await endGroup(pid, GRACE_MS);
    this.#forgetIfEmpty(pid);
  }

  /** Ends every group and whatever else carries the mark, and says so when something cannot be ended. */
  async endAll(): Promise<void> {
    this.#isEnding = true;
    await Promise.all([...this.#groups].map((pid) => this.end(pid)));
    const gone = await this.#endStragglers();
    if (!gone)
      throw new Error(`some OpenClaw processes could not be ended; look for ${this.#mark} in \`ps axeww\``);
  }

  /** The keeper goes, and whatever is still running stays: for handing a gateway over to a person. */
  release(): void {
    this.#tell("done");
    this.#keeper.stdin?.end();
  }

  /** Helpers that OpenClaw starts in groups of their own, such as its cache sweeper. */
  async #endStragglers(): Promise<boolean> {
    const deadline = Date.now() + GRACE_MS;
    for (;;) {
      const left = await processesWith(this.#mark);
      if (left.length === 0) return true;
      if (Date.now() > deadline) return false;
      if (Date.now() > deadline - GRACE_MS / 2) for (const pid of left) signal(pid, "SIGKILL");
      await pause(LOOK_AGAIN_MS);
    }
  }

  #forgetIfEmpty(pid: number): void {
    if (signal(-pid, 0)) return;
    this.#groups.delete(pid);
    this.#tell(`drop ${pid}`);
  }

  #tell(line: string): void {
    if (this.#keeper.stdin?.writable) this.#keeper.stdin.write(`${line}\n`);
  }
}

/** SIGTERM to the group, SIGKILL after the grace; returns when none of it is left. */
export async function endGroup(pid: number, graceMs: number): Promise<void> {
  if (!signal(-pid, "SIGTERM")) return;
  const deadline = Date.now() + graceMs;
  while (signal(-pid, 0)) {
    if (Date.now() > deadline) signal(-pid, "SIGKILL");
    await pause(LOOK_AGAIN_MS);
  }
}

/** An environment assignment that every process of this home carries, and no other. */
export function markOf({ stateDir }: { readonly stateDir: string }): string {
  return `OPENCLAW_STATE_DIR=${stateDir}`;
}

/** Ids of the processes whose environment or command line holds the text. */
export function processesWith(text: string): Promise<readonly number[]> {
  return new Promise((resolve, reject) => {
    const options = { maxBuffer: 64 * 1024 * 1024 };
    // The same words on Linux and macOS: all processes, with their environment, not cut off.
    execFile("ps", ["axeww", "-o", "pid=,command="], options, (error, stdout) => {
      if (error !== null) return reject(error);
      const lines = stdout.split("\n").filter((line) => line.includes(text));
      resolve(lines.map((line) => Number.parseInt(line, 10)).filter((pid) => pid !== process.pid));
    });
  });
}

/** False when there is no such process (group: a negative id). */
function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch (error) {
    // macOS answers EPERM for a group whose only member is a zombie.
    if (error instanceof Error && "code" in error && (error.code === "ESRCH" || error.code === "EPERM"))
      return false;
    throw error;
  }
}

function startKeeper(root: string): ChildProcess {
  const keeper = spawn(process.execPath, [join(import.meta.dirname, "keeper.ts"), root], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  keeper.on("error", () => {});
  keeper.stdin?.on("error", () => {});
  keeper.unref();
  // The pipe must not keep this process alive either; a socket can be unreferenced, its declared type does not say so.
  (keeper.stdin as unknown as { unref(): void } | null)?.unref();
  return keeper;
}
