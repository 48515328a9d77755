/** The servers that are measured, each in a separate process: ours as a user starts it, and the baseline. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { DIST } from "../../scripts/build/build.ts";
import { mintToken } from "../../server/tokens.ts";
import { addressSaidBy, makeDatabase } from "../../test/engines/engine.ts";
import { startPostgres } from "../../test/postgres/server.ts";
import { processorMsOf } from "../processes.ts";

/** A server that accepts requests. */
export interface RunningServer {
  readonly pid: number;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Resident memory of its process, in MB. */
  residentMb(): number;
  /** Processor time of its process so far, user and system, in milliseconds. NaN where it is not known (only Linux tells). */
  processorMs(): number;
  stop(): Promise<void>;
}

export interface ServerSubject {
  readonly name: string;
  /** A store can leave out the search for similar facts. */
  readonly canStoreAlone: boolean;
  start(): Promise<RunningServer>;
}

export interface Compared {
  /** The `dist` folder of another build to measure, too. */
  readonly beside?: string | undefined;
  /** Ours keep their memories on PostgreSQL, each on a server of its own that syncs every commit. */
  readonly onPostgres: boolean;
}

export function serverSubjects({ beside, onPostgres }: Compared): readonly ServerSubject[] {
  const startBuild = (dist: string) => (onPostgres ? startOnPostgres(dist) : startOurs(dist));
  const other =
    beside === undefined
      ? []
      : [{ name: "the other build", canStoreAlone: onPostgres, start: () => startBuild(beside) }];
  return [
    { name: "**ours**", canStoreAlone: true, start: () => startBuild(DIST) },
    ...other,
    { name: "hono and a bare table", canStoreAlone: false, start: startBare },
  ];
}

/** A server of a new, empty home, which ends with it. */
async function startOurs(dist: string, store: readonly string[] = []): Promise<RunningServer> {
  const home = mkdtempSync(join(tmpdir(), "helmdeck-bench-server-"));
  const key = randomBytes(32).toString("hex");
  const running = await serveHome(dist, { home, subject: "bench", key, store });
  return {
    ...running,
    stop: async () => {
      await running.stop();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

interface Served {
  readonly home: string;
  /** The caller of the requests. */
  readonly subject: string;
  /** Default: the home's key file. */
  readonly key?: string;
  /** `--store` and its value. */
  readonly store?: readonly string[];
}

/** `helmdeck-memory serve` with authentication, sealing and the facts policy. Only the rate limit is lifted. */
export async function serveHome(
  dist: string,
  { home, subject, key, store = [] }: Served,
): Promise<RunningServer> {
  const secret = randomBytes(32).toString("hex");
  const options = ["--port", "0", "--rate-limit", "0", "--require-memory", ...store];
  const child = spawn(process.execPath, [join(dist, "helmdeck-memory.mjs"), "serve", ...options], {
    env: {
      PATH: process.env.PATH,
      HOME: home,
      HELMDECK_JWT_SECRET: secret,
      ...(key !== undefined && { HELMDECK_MEMORY_KEY: key }),
    },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const token = { subject, scopes: ["metrics"], ttlSeconds: 3_600 };
  const minted = await mintToken(Buffer.from(secret), token, Date.now());
  return whenListening(child, { authorization: `Bearer ${minted.token}` });
}

async function startOnPostgres(dist: string): Promise<RunningServer> {
  const postgres = await startPostgres({ isDurable: true });
  const running = await startOurs(dist, ["--store", await makeDatabase(postgres)]);
  return {
    ...running,
    stop: async () => {
      await running.stop();
      await postgres.dispose();
    },
  };
}

function startBare(): Promise<RunningServer> {
  const script = fileURLToPath(new URL("bare.ts", import.meta.url));
  return whenListening(spawn(process.execPath, [script], { stdio: ["ignore", "pipe", "ignore"] }), {});
}

async function whenListening(
  child: ChildProcess,
  headers: Readonly<Record<string, string>>,
): Promise<RunningServer> {
  const url = await addressSaidBy(child);
  const { pid = Number.NaN } = child;
  return {
    pid,
    url,
    headers,
    residentMb: () => {
      const kilobytes = execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" });
      return Number(kilobytes.trim()) / 1_024;
    },
    processorMs: () => processorMsOf(pid),
    stop: async () => {
      const closed = once(child, "close");
      child.kill("SIGTERM");
      await closed;
    },
  };
}
