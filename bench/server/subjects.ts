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

/** A server that accepts requests. */
export interface RunningServer {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Resident memory of its process, in MB. */
  residentMb(): number;
  stop(): Promise<void>;
}

export interface ServerSubject {
  readonly name: string;
  start(): Promise<RunningServer>;
}

export const SUBJECTS: readonly ServerSubject[] = [
  { name: "**ours**", start: startOurs },
  { name: "hono and a bare table", start: startBare },
];

/** `helmdeck-memory serve` with authentication, sealing and the facts policy. Only the rate limit is lifted. */
async function startOurs(): Promise<RunningServer> {
  const home = mkdtempSync(join(tmpdir(), "helmdeck-bench-server-"));
  const secret = randomBytes(32).toString("hex");
  const child = spawn(
    process.execPath,
    [join(DIST, "helmdeck-memory.mjs"), "serve", "--port", "0", "--rate-limit", "0", "--require-memory"],
    {
      env: {
        PATH: process.env.PATH,
        HOME: home,
        HELMDECK_JWT_SECRET: secret,
        HELMDECK_MEMORY_KEY: randomBytes(32).toString("hex"),
      },
      stdio: ["ignore", "pipe", "ignore"],
    },
  );
  const { token } = await mintToken(Buffer.from(secret), { subject: "bench", ttlSeconds: 3_600 }, Date.now());
  const running = await whenListening(child, { authorization: `Bearer ${token}` });
  return {
    ...running,
    stop: async () => {
      await running.stop();
      rmSync(home, { recursive: true, force: true });
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
  return {
    url,
    headers,
    residentMb: () => {
      const kilobytes = execFileSync("ps", ["-o", "rss=", "-p", String(child.pid)], { encoding: "utf8" });
      return Number(kilobytes.trim()) / 1_024;
    },
    stop: async () => {
      const closed = once(child, "close");
      child.kill("SIGTERM");
      await closed;
    },
  };
}

/** The first address that the server prints. */
function addressSaidBy({ stdout }: ChildProcess): Promise<string> {
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
