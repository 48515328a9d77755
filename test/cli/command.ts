/** Runs the real command, bundled as it is shipped, in a process and a home folder of its own. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, afterEach, beforeEach } from "vitest";
import { ROOT } from "../../scripts/build/build.ts";
import { BUNDLED_COMMAND, makeCommand } from "../run/bundles.ts";
import { handToUnprivileged, unprivilegedFlags } from "../run/unprivileged.ts";

export { BUNDLED_COMMAND };
export const COMMAND_FROM_SOURCE = join(ROOT, "cli", "helmdeck-memory-main.ts");

await makeCommand();

export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly input?: string | Buffer;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** A home folder for commands. `remove` deletes it. */
export class CommandHome {
  readonly #entry: string;
  #folder = newFolder();
  #flags: readonly string[] = [];

  constructor(entry = BUNDLED_COMMAND) {
    this.#entry = entry;
  }

  /** One home, which is new for each test. */
  static forEachTest<Home extends CommandHome, Given extends readonly unknown[]>(
    this: new (
      ...given: Given
    ) => Home,
    ...given: Given
  ): Home {
    const home = new this(...given);
    beforeEach(() => home.#renew());
    afterEach(() => home.remove());
    return home;
  }

  /** One home for the tests of a file. */
  static forAllTests<Home extends CommandHome>(this: new () => Home): Home {
    const home = new this();
    afterAll(() => home.remove());
    return home;
  }

  get folder(): string {
    return this.#folder;
  }

  get stateFolder(): string {
    return this.path(".openclaw");
  }

  get databasePath(): string {
    return join(this.stateFolder, "helmdeck-memory", "memory.sqlite");
  }

  get keyPath(): string {
    return join(this.stateFolder, "helmdeck-memory.key");
  }

  #renew(): void {
    this.remove();
    this.#folder = newFolder();
    this.#flags = [];
  }

  protected get isUnprivileged(): boolean {
    return this.#flags.length > 0;
  }

  /** Passes nothing of this machine's own OpenClaw or helmdeck to the command. */
  protected environment(env: Readonly<Record<string, string>> = {}): Record<string, string> {
    const { PATH = "", NODE_COMPILE_CACHE = "" } = process.env;
    return { PATH, NODE_COMPILE_CACHE, HOME: this.folder, TZ: "UTC", ...env };
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  write(name: string, content: string | Buffer): Promise<void> {
    return writeFile(this.path(name), content);
  }

  /** Adds `helmdeck-memory` to a path in this home, for shells that run the commands of a guide. Returns their environment. */
  async putInPath(): Promise<Readonly<Record<string, string>>> {
    const command = this.path("bin/helmdeck-memory");
    await mkdir(this.path("bin"));
    await writeFile(command, `#!/bin/sh\nexec "${process.execPath}" "${this.#entry}" "$@"\n`);
    await chmod(command, 0o755);
    return { PATH: `${this.path("bin")}${delimiter}${process.env.PATH}`, HOME: this.folder, TZ: "UTC" };
  }

  /** Runs `helmdeck-memory <args>` until it ends. */
  async run(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
    const child = this.start(args, options);
    const ended = finish(child);
    child.stdin.on("error", () => {}); // The command may end before it has read everything.
    child.stdin.end(options.input ?? "");
    return ended;
  }

  /** Starts a command and does not wait for its end, for tests that interrupt it. */
  start(args: readonly string[], { env, cwd }: RunOptions = {}) {
    return spawn(process.execPath, [...this.#flags, this.#entry, ...args], {
      cwd: cwd ?? this.folder,
      env: this.environment(env),
      stdio: ["pipe", "pipe", "pipe"],
    });
  }

  /** Runs later commands as an unprivileged user, because file modes do not restrict root. */
  handToUnprivileged(): void {
    handToUnprivileged(this.folder);
    this.#flags = unprivilegedFlags;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function newFolder(): string {
  return mkdtempSync(join(tmpdir(), "helmdeck-cli-"));
}

export function finish(child: ReturnType<CommandHome["start"]>): Promise<Finished> {
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => {
      resolve({
        code,
        signal,
        stdout: Buffer.concat(stdout).toString("utf8"),
        stderr: Buffer.concat(stderr).toString("utf8"),
      });
    });
  });
}
