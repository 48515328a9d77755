/**
 * `npm run bench:outage -- --help`: two engines and an OpenClaw gateway on one PostgreSQL, which is stopped, frozen, refuses,
 * and has a slow and a full disk, one after the other. Prints what each caller saw and when, and which line and which alert came.
 *
 * Needs PostgreSQL, Prometheus, strace, and root's right to mount a small disk. Alerts follow the rules that ship.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { stringify } from "yaml";
import { buildAll, DIST } from "../../scripts/build/build.ts";
import { type Json, type JsonObject, OpenClawHost } from "../../scripts/openclaw-host/openclaw-host.ts";
import { packPlugin } from "../../scripts/pack.ts";
import { mintToken } from "../../server/tokens.ts";
import { type PostgresServer, startPostgres } from "../../test/postgres/server.ts";
import { runBench } from "../bench-options.ts";

const SECRET = "a secret of all engines of this measurement";
const KEY = "5a".repeat(32);
const RULES = fileURLToPath(new URL("../../docs/reference/alerts.rules.yml", import.meta.url));
const DISK_MIB = 48;
const BETWEEN_REQUESTS_MS = 250;
/** A rule looks at the last minutes, so alerts of one outage must end before the next. */
const CALM_SECONDS = 20;

/** What somebody saw at a time, in seconds since the outage began. */
interface Seen {
  readonly at: number;
  readonly what: string;
  readonly tookMs?: number;
}

interface Outage {
  readonly name: string;
  /** Returns what ends it. */
  readonly begin: () => Promise<() => Promise<unknown>>;
}

class Engine {
  readonly url: string;
  readonly lines: { readonly at: number; readonly line: JsonObject }[] = [];
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
    if (child.stderr !== null)
      createInterface(child.stderr).on("line", (line) => {
        if (line.startsWith("{")) this.lines.push({ at: performance.now(), line: JSON.parse(line) });
      });
  }

  static async start(folder: string, store: string): Promise<Engine> {
    await mkdir(folder, { recursive: true });
    const config = join(folder, "serve.yml");
    await writeFile(config, stringify({ store, port: 0, "rate-limit": 0, "log-level": "warn" }));
    const env = {
      PATH: process.env.PATH,
      HOME: folder,
      HELMDECK_JWT_SECRET: SECRET,
      HELMDECK_MEMORY_KEY: KEY,
    };
    const args = [
      join(DIST, "helmdeck-memory.mjs"),
      "serve",
      "--config",
      config,
      "--require-memory",
      "--json",
    ];
    const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "pipe"] });
    const [line] = await once(createInterface(child.stdout), "line");
    return new Engine(child, JSON.parse(line).url);
  }

  async stop(): Promise<void> {
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGTERM");
    await ended;
  }
}

/** Asks the same again and again, and notes when the outcome changes. */
class Caller {
  readonly name: string;
  seen: Seen[] = [];
  slowestMs = 0;
  #beganAt = 0;
  #isOver = false;
  readonly #work: Promise<void>;

  constructor(name: string, ask: () => Promise<string>) {
    this.name = name;
    this.#work = this.#askAlways(ask);
  }

  begin(): void {
    this.#beganAt = performance.now();
    this.seen = [];
    this.slowestMs = 0;
  }

  end(): Promise<void> {
    this.#isOver = true;
    return this.#work;
  }

  async #askAlways(ask: () => Promise<string>): Promise<void> {
    while (!this.#isOver) {
      const asked = performance.now();
      const what = await ask().catch((error: unknown) => `no answer (${String(error)})`);
      const now = performance.now();
      if (asked >= this.#beganAt) {
        this.slowestMs = Math.max(this.slowestMs, now - asked);
        if (this.seen.at(-1)?.what !== what)
          this.seen.push({ at: (now - this.#beganAt) / 1_000, what, tookMs: now - asked });
      }
      await delay(BETWEEN_REQUESTS_MS);
    }
  }
}

/** The alerts of a real Prometheus, asked every second. */
class Alerts {
  seen: Seen[] = [];
  #beganAt = 0;
  readonly #child: ChildProcess;
  readonly #port: number;
  readonly #asking: NodeJS.Timeout;
  readonly #known = new Set<string>();

  private constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.#port = port;
    this.#asking = setInterval(() => void this.#ask().catch(() => undefined), 1_000);
  }

  static async start(folder: string, engines: readonly Engine[]): Promise<Alerts> {
    const token = join(folder, "metrics.token");
    await mkdir(folder, { recursive: true });
    await writeFile(token, await tokenOf("prometheus", ["metrics"]));
    const config = join(folder, "prometheus.yml");
    const targets = engines.map(({ url }) => new URL(url).host);
    await writeFile(
      config,
      stringify({
        global: { scrape_interval: "2s", scrape_timeout: "2s", evaluation_interval: "2s" },
        rule_files: [RULES],
        scrape_configs: [
          {
            job_name: "helmdeck",
            ...{ scrape_interval: "6s", scrape_timeout: "6s" },
            authorization: { credentials_file: token },
            static_configs: [{ targets }],
          },
        ],
      }),
    );
    const port = 19_095;
    const args = [`--config.file=${config}`, `--storage.tsdb.path=${join(folder, "data")}`];
    const child = spawn("prometheus", [...args, `--web.listen-address=127.0.0.1:${port}`], {
      stdio: "ignore",
    });
    return new Alerts(child, port);
  }

  begin(): void {
    this.#beganAt = performance.now();
    this.seen = [];
    this.#known.clear();
  }

  async stop(): Promise<void> {
    clearInterval(this.#asking);
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGTERM");
    await ended;
  }

  async #ask(): Promise<void> {
    const answer = await fetch(`http://127.0.0.1:${this.#port}/api/v1/alerts`);
    const { data } = (await answer.json()) as {
      data: { alerts: { labels: Record<string, string>; state: string }[] };
    };
    for (const { labels, state } of data.alerts) {
      const what = `${labels.alertname} ${state}`;
      if (this.#known.has(what)) continue;
      this.#known.add(what);
      this.seen.push({ at: (performance.now() - this.#beganAt) / 1_000, what });
    }
  }
}

async function tokenOf(subject: string, scopes: readonly string[] = []): Promise<string> {
  const asked = { subject, ttlSeconds: 3_600, scopes };
  return (await mintToken(Buffer.from(SECRET), asked, Date.now())).token;
}

async function requestsTo(url: string) {
  const headers = { Authorization: `Bearer ${await tokenOf("main")}`, "Content-Type": "application/json" };
  return async (method: "GET" | "POST", path: string, body?: unknown): Promise<string> => {
    const answer = await fetch(url + path, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const { error, incomplete } = (await answer.json()) as { error?: string; incomplete?: boolean };
    const again = answer.headers.get("retry-after");
    return [
      ...[`${answer.status}`, ...(error === undefined ? [] : [`\`${error}\``])],
      ...(incomplete === true ? ["incomplete"] : []),
      ...(again === null ? [] : [`Retry-After ${again}`]),
    ].join(" ");
  };
}

async function gatewayOn(engine: Engine, folder: string): Promise<OpenClawHost> {
  const host = await OpenClawHost.make({ notes: { "MEMORY.md": "# Notes\n\nKonflux is our pipeline.\n" } });
  await host.installPlugin(await packPlugin(folder));
  await host.startGateway();
  const file = join(folder, "main.token");
  await writeFile(file, await tokenOf("main", ["record"]), { mode: 0o600 });
  const config = { source: { kind: "engine", url: engine.url, tokens: { main: { file } } } };
  const { hash = null } = (await host.rpc("config.get")) as JsonObject; // the host's own answer
  const patch = { plugins: { entries: { "helmdeck-memory": { config } } } };
  const params = { raw: JSON.stringify(patch), baseHash: hash, replacePaths: [] as Json[] };
  await host.rpc("config.patch", params, { timeoutMs: 60_000 });
  return host;
}

async function searchOf(host: OpenClawHost): Promise<string> {
  const reply = await host.invokeTool("memory_search", { query: "which pipeline do we deploy through" });
  const results = Array.isArray(reply.details.results) ? reply.details.results : [];
  const isOurs = (hit: Json) => JSON.stringify(hit).includes("helmdeck/");
  const warning = /helmdeck memory is not available: ([^;(\n]*)/
    .exec(String(reply.details.warning))?.[1]
    ?.trim();
  const ours = results.some(isOurs) ? "facts and notes" : "notes only";
  return warning === undefined ? ours : `${ours}, with a warning: "${warning}"`;
}

function outagesOf(server: PostgresServer, disk: string): readonly Outage[] {
  return [
    {
      name: "stopped",
      begin: async () => {
        await server.stop();
        return () => server.start();
      },
    },
    {
      name: "frozen",
      begin: async () => {
        const thaw = server.freeze();
        return async () => thaw();
      },
    },
    {
      name: "refused",
      begin: async () => {
        await server.query("ALTER ROLE engine CONNECTION LIMIT 0");
        await server.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'engine'");
        return () => server.query("ALTER ROLE engine CONNECTION LIMIT -1");
      },
    },
    {
      name: "slow disk",
      begin: async () => {
        const [row] = await server.query<{ pids: string }>(
          "SELECT string_agg(pid::text, ',') AS pids FROM pg_stat_activity WHERE usename = 'engine' OR backend_type = 'walwriter'",
        );
        const delayed = "inject=fsync,fdatasync:delay_exit=2000000"; // two seconds
        const child = spawn("strace", [
          "-f",
          "-o",
          "/dev/null",
          "-e",
          "trace=fsync,fdatasync",
          "-e",
          delayed,
          "-p",
          row?.pids ?? "",
        ]);
        return async () => {
          const ended = once(child, "exit");
          child.kill("SIGINT");
          await ended;
        };
      },
    },
    {
      name: "full disk",
      begin: async () => {
        const file = join(disk, "filler");
        try {
          execFileSync("dd", ["if=/dev/zero", `of=${file}`, "bs=64k"], { stdio: "ignore" });
        } catch {
          // It ends when the disk is full.
        }
        return () => rm(file);
      },
    },
  ];
}

function told(seen: readonly Seen[], endedAt: number): string {
  return seen
    .map(({ at, what }) =>
      at <= endedAt ? `${at.toFixed(1)} s: ${what}` : `end + ${(at - endedAt).toFixed(1)} s: ${what}`,
    )
    .join("; ");
}

async function measure(seconds: number): Promise<void> {
  await buildAll();
  const folder = await mkdtemp(join(tmpdir(), "helmdeck-outage-"));
  const disk = join(folder, "disk");
  await mkdir(disk);
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${DISK_MIB}m,mode=0777`, "tmpfs", disk]);
  execFileSync("chmod", ["0755", folder]);
  const server = await startPostgres({ isDurable: true, settings: { autovacuum: "on" } });
  try {
    await server.query("CREATE ROLE engine LOGIN");
    const space = join(disk, "space");
    await mkdir(space);
    execFileSync("chown", ["postgres", space]);
    await server.query(`CREATE TABLESPACE small LOCATION '${space}'`);
    await server.query("CREATE DATABASE memory OWNER engine TABLESPACE small");
    const store = server.url({ user: "engine", database: "memory" });
    const first = await Engine.start(join(folder, "1"), store);
    const second = await Engine.start(join(folder, "2"), store);
    const engines = [first, second];
    const [one, two] = [await requestsTo(first.url), await requestsTo(second.url)];
    await one("POST", "/api/v1/memory/store", {
      key: "deploy",
      value: "We deploy through the pipeline Konflux.",
    });
    const host = await gatewayOn(first, folder);
    const alerts = await Alerts.start(join(folder, "prometheus"), engines);
    let number = 0;
    const callers = [
      new Caller("`/readyz`, engine 1", () => one("GET", "/readyz")),
      new Caller("read, engine 1", () => one("GET", "/api/v1/memory/facts/deploy")),
      new Caller("search, engine 2", () =>
        two("POST", "/api/v1/memory/search", { query: "deploy pipeline" }),
      ),
      new Caller("write, engine 2", () =>
        two("POST", "/api/v1/memory/store", {
          key: `load/${number++ % 40}`,
          value: `${number} `.repeat(4_000).slice(0, 12_000),
        }),
      ),
      new Caller("OpenClaw's `memory_search`, engine 1", () => searchOf(host)),
    ];
    await delay(CALM_SECONDS * 1_000);
    for (const { name, begin } of outagesOf(server, disk)) {
      const all = [...callers, alerts];
      for (const each of all) each.begin();
      const began = performance.now();
      const end = await begin();
      await delay(seconds * 1_000);
      const endedAt = (performance.now() - began) / 1_000;
      await end();
      await delay(CALM_SECONDS * 1_000);
      console.log(
        `\n### ${name}, for ${endedAt.toFixed(0)} s\n\n| who | what they saw and when | slowest answer |\n|---|---|---|`,
      );
      for (const caller of callers)
        console.log(
          `| ${caller.name} | ${told(caller.seen, endedAt)} | ${(caller.slowestMs / 1_000).toFixed(1)} s |`,
        );
      for (const [index, engine] of engines.entries()) {
        const lines = engine.lines.filter(({ at, line }) => at >= began && line.msg !== "request");
        const said = lines.map(({ at, line }) => ({
          at: (at - began) / 1_000,
          what: `${line.msg} ${line.code ?? ""}`.trim(),
        }));
        const failed = engine.lines.filter(({ at, line }) => at >= began && line.msg === "request").length;
        console.log(
          `| log, engine ${index + 1} | ${told(said, endedAt)}; ${failed} request lines of level warn | |`,
        );
      }
      console.log(`| alerts | ${told(alerts.seen, endedAt)} | |`);
    }
    for (const caller of callers) await caller.end();
    await alerts.stop();
    await host.stop();
    for (const engine of engines) await engine.stop();
  } finally {
    await server.dispose();
    execFileSync("umount", ["-l", disk]);
    await rm(folder, { recursive: true, force: true });
  }
}

const BENCH = {
  script: "bench:outage",
  about: `What callers, log and alerts say while PostgreSQL fails in five ways. Needs PostgreSQL, Prometheus, strace, and root's right to
mount a small disk.`,
  options: {
    seconds: { type: "string", value: "N", isCount: true, default: "45", about: "that each outage lasts" },
  },
} as const;

await runBench(BENCH, ({ seconds }) => measure(Number(seconds)));
