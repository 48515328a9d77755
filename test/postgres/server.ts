/** A real PostgreSQL of a test's own: in a temporary folder, on a socket in it, to be started, stopped, killed and followed by a standby. */
import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync } from "node:fs";
import { appendFile, chown, mkdir, mkdtemp, open, readFile, rm } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import pg from "pg";
import { expect } from "vitest";

const run = promisify(execFile);

/** The path of a socket may have 107 bytes, so the folder is not below a long one. */
const TEMPORARY = "/tmp";
const PORT = 5432;
export const SUPERUSER = "postgres";

/** Why a test that needs the server must be left out, if so. With HELMDECK_REQUIRE_PROGRAMS=1, as in CI, none is: it fails. */
export function whyWithoutPostgres(): string | undefined {
  if (findPrograms() !== undefined) return undefined;
  const reason = "PostgreSQL 14 or later is not installed";
  if (process.env.HELMDECK_REQUIRE_PROGRAMS === "1")
    throw new Error(`This test must run here, but ${reason}.`);
  return reason;
}

export interface PostgresOptions {
  /** Syncs as in earnest; without it a commit is quick and a power cut would lose it. */
  readonly isDurable?: boolean;
  /** Lines of postgresql.conf. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Initialised, and started. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const server = new PostgresServer(await makeFolder(), options);
  try {
    const args = ["-D", server.dataFolder, "-U", SUPERUSER, "-A", "trust", "-E", "UTF8", "--locale=C"];
    await run(program("initdb"), [...args, "--no-sync"], asServer());
    await server.configure();
    await server.start();
    return server;
  } catch (error) {
    await server.dispose();
    throw error;
  }
}

export class PostgresServer implements AsyncDisposable {
  readonly folder: string;
  readonly #options: PostgresOptions;
  readonly #standbys: PostgresServer[] = [];
  #process: ChildProcess | undefined;

  constructor(folder: string, options: PostgresOptions) {
    this.folder = folder;
    this.#options = options;
  }

  get dataFolder(): string {
    return join(this.folder, "data");
  }

  /** What a client gives as its host. */
  get socketFolder(): string {
    return this.folder;
  }

  /** All that the server has said. */
  get logFile(): string {
    return join(this.folder, "log");
  }

  url({ user = SUPERUSER, database = "postgres" } = {}): string {
    return `postgres://${user}@/${database}?host=${encodeURIComponent(this.socketFolder)}&port=${PORT}`;
  }

  async configure(): Promise<void> {
    const { isDurable = false, settings = {} } = this.#options;
    const all = {
      listen_addresses: "",
      unix_socket_directories: this.folder,
      port: `${PORT}`,
      fsync: isDurable ? "on" : "off",
      max_connections: "100",
      shared_buffers: "32MB",
      wal_level: "replica",
      autovacuum: "off",
      ...settings,
    };
    const lines = Object.entries(all).map(([name, value]) => `${name} = '${value}'\n`);
    await appendFile(join(this.dataFolder, "postgresql.conf"), lines.join(""));
  }

  /** Answers when it takes connections; after a kill it recovers first. */
  async start(): Promise<void> {
    for (let tries = 0; ; tries += 1) {
      const log = await open(this.logFile, "a");
      const started = spawn(program("postgres"), ["-D", this.dataFolder], {
        ...asServer(),
        stdio: ["ignore", log.fd, log.fd],
      });
      await log.close();
      this.#process = started;
      if (await this.#isReady(started)) return;
      // The children of a server that was killed hold its memory for a moment.
      if (tries === 50) throw new Error(`PostgreSQL did not start: ${await readFile(this.logFile, "utf8")}`);
      await delay(100);
    }
  }

  /** `fast` ends transactions; `immediate` is as a crash, but for the operating system's caches. */
  async stop(mode: "fast" | "immediate" = "fast"): Promise<void> {
    await this.#end(mode === "fast" ? "SIGINT" : "SIGQUIT");
  }

  /** As kill -9 of the server and of everything it started. */
  async kill(): Promise<void> {
    const children = this.#children();
    await this.#end("SIGKILL");
    for (const pid of children) killIfThere(pid);
  }

  get isRunning(): boolean {
    return (
      this.#process !== undefined && this.#process.exitCode === null && this.#process.signalCode === null
    );
  }

  /** A server that follows this one, started; its reads lag a moment, and {@link promote} makes it one to write to. */
  async startStandby(settings: Readonly<Record<string, string>> = {}): Promise<PostgresServer> {
    const standby = new PostgresServer(await makeFolder(), {
      ...this.#options,
      settings: { ...this.#options.settings, ...settings },
    });
    this.#standbys.push(standby);
    const from = ["-h", this.folder, "-p", `${PORT}`, "-U", SUPERUSER];
    await run(
      program("pg_basebackup"),
      [...from, "-D", standby.dataFolder, "-R", "--checkpoint=fast", "--no-sync", "-X", "stream"],
      asServer(),
    );
    await standby.configure();
    await standby.start();
    return standby;
  }

  async promote(): Promise<void> {
    await this.query("SELECT pg_promote(true, 60)");
  }

  /** As the superuser, in a connection of its own. */
  async query<Row extends pg.QueryResultRow = pg.QueryResultRow>(
    sql: string,
    values: readonly unknown[] = [],
    as: Parameters<PostgresServer["url"]>[0] = {},
  ): Promise<readonly Row[]> {
    const client = new pg.Client({ connectionString: this.url(as) });
    client.on("error", () => undefined); // the query itself fails
    await client.connect();
    try {
      return (await client.query<Row>(sql, [...values])).rows;
    } finally {
      await client.end();
    }
  }

  async dispose(): Promise<void> {
    for (const standby of this.#standbys) await standby.dispose();
    await this.#end("SIGQUIT");
    await rm(this.folder, { recursive: true, force: true, maxRetries: 10 });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  async #isReady(started: ChildProcess): Promise<boolean> {
    const socket = ["-h", this.folder, "-p", `${PORT}`, "-q"];
    while (started.exitCode === null && started.signalCode === null) {
      if (spawnSync(program("pg_isready"), socket).status === 0) return true;
      await delay(20);
    }
    return false;
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const ending = this.#process;
    if (ending === undefined || !this.isRunning) return;
    const ended = once(ending, "exit");
    ending.kill(signal);
    await ended;
  }

  #children(): readonly number[] {
    const listed = spawnSync("ps", ["-o", "pid=", "--ppid", `${this.#process?.pid}`]).stdout;
    return `${listed}`.split("\n").flatMap((line) => (line.trim() === "" ? [] : [Number(line)]));
  }
}

/** Until it is so. */
export async function until(isSo: () => Promise<boolean> | boolean): Promise<void> {
  await expect.poll(isSo).toBe(true);
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(TEMPORARY, "hdm-pg-"));
  const data = join(folder, "data");
  await mkdir(data, { mode: 0o700 });
  const { uid, gid } = asServer();
  if (uid === undefined || gid === undefined) return folder;
  await chown(folder, uid, gid);
  await chown(data, uid, gid);
  return folder;
}

/** PostgreSQL refuses to run as root. */
function asServer(): { readonly uid?: number; readonly gid?: number; readonly cwd: string } {
  if (userInfo().uid !== 0) return { cwd: TEMPORARY };
  const idOf = (flag: string) => Number(`${spawnSync("id", [flag, SUPERUSER]).stdout}`);
  return { uid: idOf("-u"), gid: idOf("-g"), cwd: TEMPORARY };
}

function program(name: string): string {
  const folder = findPrograms();
  if (folder === undefined) throw new Error("PostgreSQL is not installed.");
  return join(folder, name);
}

/** Debian keeps them out of the path, by version. */
function findPrograms(): string | undefined {
  const folders = globSync("/usr/lib/postgresql/*/bin").filter(
    (folder) => Number(folder.split("/")[4]) >= 14,
  );
  const inPath = (process.env.PATH ?? "").split(":");
  return [...folders.sort().toReversed(), ...inPath].find((folder) => existsSync(join(folder, "initdb")));
}
