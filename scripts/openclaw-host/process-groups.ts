/**
 * The processes of one OpenClaw, each in its own process group, so that ending it also ends its children.
 *
 * A keeper process (keeper.ts) holds one end of a pipe: if this process ends without cleaning up (SIGKILL, a crash,
 * process.exit), the keeper ends the groups and deletes the folder.
 */
import { type ChildProcess, execFile, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

/** Time between SIGTERM and SIGKILL. */
const GRACE_MS = 10_000;
/** Time for a killed process to disappear. */
const KILLED_WITHIN_MS = 10_000;
const LOOK_AGAIN_MS = 25;

export class ProcessGroups {
  readonly #groups = new Set<number>();
  readonly #keeper: ChildProcess;
  readonly #root: string;
  #isEnding = false;

  /** `root`: the folder in `homeMark`, which the keeper deletes. */
  constructor(root: string) {
    this.#root = root;
    this.#keeper = startKeeper(root);
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

  /** Ends one group: SIGTERM, then SIGKILL. */
  async end(pid: number): Promise<void> {
    await endGroup(pid);
    this.#forgetIfEmpty(pid);
  }

  /** Ends every group and processes that they started in other groups. Throws if a process cannot be ended. */
  async endAll(): Promise<void> {
    this.#isEnding = true;
    await Promise.all([...this.#groups].map((pid) => this.end(pid)));
    await endOrphanProcesses(this.#root);
  }

  /** Ends the keeper; running processes stay, such as a gateway that is handed over to a person. */
  async release(): Promise<void> {
    const keeper = this.#keeper;
    if (keeper.pid === undefined || keeper.exitCode !== null || keeper.signalCode !== null) return;
    this.#tell("done");
    keeper.stdin?.end();
    keeper.ref();
    await once(keeper, "exit");
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

/** SIGTERM to the group, SIGKILL after the grace period; resolves when the group has ended. */
export async function endGroup(pid: number): Promise<void> {
  if (!signal(-pid, "SIGTERM")) return;
  const deadline = Date.now() + GRACE_MS;
  while (signal(-pid, 0)) {
    if (Date.now() > deadline) signal(-pid, "SIGKILL");
    await pause(LOOK_AGAIN_MS);
  }
}

/** Waits for processes that OpenClaw started in other groups (MCP servers, cache sweepers), and kills them after the grace period. */
export async function endOrphanProcesses(root: string): Promise<void> {
  const deadline = Date.now() + GRACE_MS;
  for (;;) {
    const left = await processesWith(homeMark(root));
    if (left.length === 0) return;
    if (Date.now() > deadline + KILLED_WITHIN_MS) {
      throw new Error(`Processes ${left.join(", ")} of the OpenClaw in ${root} cannot be ended.`);
    }
    if (Date.now() > deadline) for (const pid of left) signal(pid, "SIGKILL");
    await pause(LOOK_AGAIN_MS);
  }
}

/** An environment assignment that identifies the processes of this home. */
export function homeMark(root: string): string {
  return `HOME=${join(root, "home")}`;
}

/** Ids of the processes whose environment or command line holds the text. */
export function processesWith(text: string): Promise<readonly number[]> {
  return new Promise((resolve, reject) => {
    const options = { maxBuffer: 64 * 1024 * 1024 };
    // The same options on Linux and macOS: all processes with their environment, untruncated.
    execFile("ps", ["axeww", "-o", "pid=,command="], options, (error, stdout) => {
      if (error !== null) return reject(error);
      const lines = stdout.split("\n").filter((line) => line.includes(text));
      resolve(lines.map((line) => Number.parseInt(line, 10)).filter((pid) => pid !== process.pid));
    });
  });
}

/** False if there is no such process (group: a negative id). */
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
