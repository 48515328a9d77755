/** Engines in their own processes, started like an operator would, and a client's requests. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { mintToken } from "../../server/tokens.ts";
import type { PostgresServer } from "../postgres/server.ts";

const PROGRAM = fileURLToPath(new URL("../../dist/helmdeck-memory.mjs", import.meta.url));
const SECRET = "a secret of all engines of this test";
export const ENGINE_KEY = "5a".repeat(32);
const ROLE = "engine";
/** The section of NODE_DEBUG. */
const READINGS = "helmdeck-recall";
const MOST_READINGS = 1_000;

/** Creates a database for an engine's role and returns its address. */
export async function makeDatabase(server: PostgresServer): Promise<string> {
  await server.query(`CREATE ROLE ${ROLE} LOGIN`);
  await server.query(`CREATE DATABASE memory OWNER ${ROLE}`);
  return server.url({ user: ROLE, database: "memory" });
}

/** A folder for an engine's home. */
export function makeHome(): Promise<string> {
  return mkdtemp(join(tmpdir(), "helmdeck-engine-"));
}

export interface Reply {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface EngineOptions {
  readonly port?: number;
  readonly home?: string;
  /** Default: the last build in `dist`. */
  readonly program?: string;
}

export class Engine implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #home: string;
  readonly url: string;
  /** The last lines about the indexes' progress. */
  readonly #readings: string[] = [];

  private constructor(child: ChildProcess, home: string, url: string) {
    this.#child = child;
    this.#home = home;
    this.url = url;
    if (child.stderr !== null) createInterface(child.stderr).on("line", (line) => this.#hear(line));
  }

  /**
   * `store` is the address of the database server. Without it, the engine uses a database file in `home` that is removed with
   * it.
   */
  static async start(
    store: string | undefined,
    { port = 0, home, program = PROGRAM }: EngineOptions = {},
  ): Promise<Engine> {
    const own = home ?? (await makeHome());
    const args = ["serve", "--port", `${port}`, "--rate-limit", "0", "--log-level", "error"];
    const child = spawn(
      process.execPath,
      [program, ...(store === undefined ? [] : ["--store", store]), ...args],
      {
        env: {
          PATH: process.env.PATH,
          HOME: own,
          HELMDECK_JWT_SECRET: SECRET,
          HELMDECK_MEMORY_KEY: ENGINE_KEY,
          NODE_DEBUG: READINGS,
        },
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    return new Engine(child, own, await addressSaidBy(child));
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  /** Resident memory of the engine's process in megabytes. */
  residentMb(): number {
    const kilobytes = execFileSync("ps", ["-o", "rss=", "-p", `${this.#child.pid}`], { encoding: "utf8" });
    return Number(kilobytes.trim()) / 1_024;
  }

  /** The headers of this caller's requests. */
  static async headersOf(subject: string): Promise<Readonly<Record<string, string>>> {
    return { Authorization: `Bearer ${await tokenOf(subject)}`, "Content-Type": "application/json" };
  }

  async ask(subject: string, method: "GET" | "POST", path: string, body?: unknown): Promise<Reply> {
    const response = await fetch(`${this.url}${path}`, {
      ...{ method, headers: await Engine.headersOf(subject) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Reply["body"] };
  }

  store(subject: string, key: string, value: string): Promise<Reply> {
    return this.ask(subject, "POST", "/api/v1/memory/store", { key, value });
  }

  storeMany(
    subject: string,
    facts: readonly { readonly key: string; readonly value: string }[],
  ): Promise<Reply> {
    return this.ask(subject, "POST", "/api/v1/memory/store/batch", { facts });
  }

  get(subject: string, key: string): Promise<Reply> {
    return this.ask(subject, "GET", `/api/v1/memory/facts/${encodeURIComponent(key)}`);
  }

  /** The reply includes omitted hits and the reason. */
  search(subject: string, query: string): Promise<Reply> {
    return this.ask(subject, "POST", "/api/v1/memory/search", { query, explain: true });
  }

  /** The progress of its index of this subject, oldest first. */
  readingsOf(subject: string): readonly string[] {
    return this.#readings.filter((line) => line.includes(` ${subject}: `)).slice(-10);
  }

  async stop(): Promise<number | null> {
    return this.#end("SIGTERM");
  }

  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }

  #hear(line: string): void {
    if (!line.startsWith(READINGS.toUpperCase())) return void process.stderr.write(`${line}\n`);
    this.#readings.push(`${new Date().toISOString()} ${line}`);
    if (this.#readings.length > MOST_READINGS) this.#readings.shift();
  }

  async #end(signal: NodeJS.Signals): Promise<number | null> {
    const { exitCode, signalCode } = this.#child;
    if (exitCode === null && signalCode === null) {
      const ended = once(this.#child, "exit");
      this.#child.kill(signal);
      await ended;
    }
    await rm(this.#home, { recursive: true, force: true });
    return this.#child.exitCode;
  }
}

const tokens = new Map<string, Promise<string>>();

function tokenOf(subject: string): Promise<string> {
  const made = tokens.get(subject) ?? mint(subject);
  tokens.set(subject, made);
  return made;
}

async function mint(subject: string): Promise<string> {
  return (await mintToken(Buffer.from(SECRET), { subject, ttlSeconds: 3_600 }, Date.now())).token;
}

/** The first address in a server's output. */
export function addressSaidBy({ stdout }: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = "";
    stdout?.on("data", (chunk) => {
      said += String(chunk);
      const address = /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0];
      if (address !== undefined) resolve(address);
    });
    stdout?.once("end", () => reject(new Error(`The server ended before it listened: ${said}`)));
  });
}
