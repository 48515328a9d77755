/** A test's own PostgreSQL server in a temporary folder, with a socket there. Tests can start, stop, kill and replicate it. */
import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync } from "node:fs";
import { appendFile, chown, mkdir, mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import pg from "pg";
import { expect } from "vitest";

const run = promisify(execFile);

/** A socket's path is limited to 107 bytes, so the folder must have a short path. */
const TEMPORARY = "/tmp";
const PORT = 5432;
export const SUPERUSER = "postgres";

/**
 * Why to skip a test that needs the server, if necessary. With HELMDECK_REQUIRE_PROGRAMS=1, as in CI, the test runs and fails
 * instead.
 */
export function whyWithoutPostgres(): string | undefined {
  if (postgresPrograms() !== undefined) return undefined;
  const reason = "PostgreSQL 14 or later is not installed";
  if (process.env.HELMDECK_REQUIRE_PROGRAMS === "1")
    throw new Error(`This test must run here, but ${reason}.`);
  return reason;
}

export interface PostgresOptions {
  /** Syncs to disk like in production. Otherwise commits are fast, and a power cut would lose them. */
  readonly isDurable?: boolean;
  /** Also listens on this machine's loopback addresses. By default the server only has a socket. */
  readonly port?: number;
  /** Lines of postgresql.conf. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Initialises and starts a server. */
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

  /** The host parameter for clients. */
  get socketFolder(): string {
    return this.folder;
  }

  /** The complete server log. */
  get logFile(): string {
    return join(this.folder, "log");
  }

  url({ user = SUPERUSER, database = "postgres" } = {}): string {
    return `postgres://${user}@/${database}?host=${encodeURIComponent(this.socketFolder)}&port=${this.#port}`;
  }

  /** Puts access rules before the existing ones, in the form of pg_hba.conf. */
  async admit(lines: string): Promise<void> {
    const name = "pg_hba.conf";
    await this.putFile(name, `${lines}\n${await readFile(join(this.dataFolder, name), "utf8")}`);
    await this.query("SELECT pg_reload_conf()");
  }

  /** Writes a file to the data folder that only the server can read. */
  async putFile(name: string, content: string): Promise<void> {
    const path = join(this.dataFolder, name);
    await writeFile(path, content, { mode: 0o600 });
    const { uid, gid } = asServer();
    if (uid !== undefined && gid !== undefined) await chown(path, uid, gid);
  }

  get #port(): number {
    return this.#options.port ?? PORT;
  }

  async configure(): Promise<void> {
    const { isDurable = false, settings = {}, port } = this.#options;
    const all = {
      listen_addresses: port === undefined ? "" : "localhost",
      unix_socket_directories: this.folder,
      port: `${this.#port}`,
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

  /** Resolves when the server accepts connections; after a kill it recovers first. */
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
      // After a kill, the server's child processes hold its shared memory for a moment.
      if (tries === 50) throw new Error(`PostgreSQL did not start: ${await readFile(this.logFile, "utf8")}`);
      await delay(100);
    }
  }

  /** `fast` aborts transactions; `immediate` is like a crash, except that the operating system keeps its caches. */
  async stop(mode: "fast" | "immediate" = "fast"): Promise<void> {
    await this.#end(mode === "fast" ? "SIGINT" : "SIGQUIT");
  }

  /** Like kill -9 of the server and all its child processes. */
  async kill(): Promise<void> {
    const children = this.#children();
    await this.#end("SIGKILL");
    for (const pid of children) killIfThere(pid);
  }

  /** Like a machine that hangs: connections stay open and nothing is answered, until the returned function is called. */
  freeze(): () => void {
    const pids = [...this.#children(), Number(this.#process?.pid)];
    for (const pid of pids) process.kill(pid, "SIGSTOP");
    return () => {
      for (const pid of pids) process.kill(pid, "SIGCONT");
    };
  }

  get isRunning(): boolean {
    return (
      this.#process !== undefined && this.#process.exitCode === null && this.#process.signalCode === null
    );
  }

  /** Starts a standby of this server. Its reads lag slightly; {@link promote} makes it writable. */
  async startStandby(settings: Readonly<Record<string, string>> = {}): Promise<PostgresServer> {
    const standby = new PostgresServer(await makeFolder(), {
      ...this.#options,
      settings: { ...this.#options.settings, ...settings },
    });
    this.#standbys.push(standby);
    const from = ["-h", this.folder, "-p", `${this.#port}`, "-U", SUPERUSER];
    await run(
      program("pg_basebackup"),
      [...from, "-D", standby.dataFolder, "-R", "--checkpoint=fast", "--no-sync", "-X", "stream"],
      asServer(),
    );
    await standby.configure();
    await standby.start();
    return standby;
  }

  /** A stopped standby starts again without its primary, like one that lost the connection to it. */
  async leavePrimary(): Promise<void> {
    await appendFile(join(this.dataFolder, "postgresql.auto.conf"), "primary_conninfo = ''\n");
  }

  async promote(): Promise<void> {
    await this.query("SELECT pg_promote(true, 60)");
  }

  /** Runs as the superuser on a separate connection. */
  async query<Row extends pg.QueryResultRow = pg.QueryResultRow>(
    sql: string,
    values: readonly unknown[] = [],
    as: Parameters<PostgresServer["url"]>[0] = {},
  ): Promise<readonly Row[]> {
    const client = new pg.Client({ connectionString: this.url(as) });
    client.on("error", () => undefined); // the query itself reports the failure
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
    const socket = ["-h", this.folder, "-p", `${this.#port}`, "-q"];
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

/** Waits until the condition is true. */
export async function until(isSo: () => Promise<boolean> | boolean): Promise<void> {
  await expect.poll(isSo).toBe(true);
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The process has already exited.
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

/** The account for the server, because PostgreSQL refuses to run as root. */
function asServer(): { readonly uid?: number; readonly gid?: number; readonly cwd: string } {
  if (userInfo().uid !== 0) return { cwd: TEMPORARY };
  const idOf = (flag: string) => Number(`${spawnSync("id", [flag, SUPERUSER]).stdout}`);
  return { uid: idOf("-u"), gid: idOf("-g"), cwd: TEMPORARY };
}

function program(name: string): string {
  const folder = postgresPrograms();
  if (folder === undefined) throw new Error("PostgreSQL is not installed.");
  return join(folder, name);
}

/**
 * The folder of PostgreSQL's programs: HELMDECK_TEST_POSTGRES, else the newest that is installed. Debian installs them outside of PATH, in a
 * folder for each version.
 */
export function postgresPrograms(): string | undefined {
  const chosen = process.env.HELMDECK_TEST_POSTGRES;
  if (chosen !== undefined) return chosen;
  const folders = globSync("/usr/lib/postgresql/*/bin").filter(
    (folder) => Number(folder.split("/")[4]) >= 14,
  );
  const inPath = (process.env.PATH ?? "").split(":");
  return [...folders.sort().toReversed(), ...inPath].find((folder) => existsSync(join(folder, "initdb")));
}
