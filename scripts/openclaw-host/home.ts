/** The temporary home of an OpenClaw: its folders, files, port and secrets, and the environment for them. */
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { LOCKED_OPENCLAW, type OpenClawRuntime } from "./runtime.ts";

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

export interface OpenClawHome {
  /** The root folder; deleting it removes everything. */
  readonly root: string;
  readonly stateDir: string;
  readonly configPath: string;
  /** The workspace of the default agent, `main`. */
  readonly workspace: string;
  readonly logPath: string;
  /** The file with the gateway's token (mode 0600). */
  readonly tokenPath: string;
  readonly token: string;
  readonly port: number;
  readonly runtime: OpenClawRuntime;
  /** The environment of every OpenClaw process of this home: nothing from the caller except PATH and language. */
  readonly env: Readonly<Record<string, string>>;
}

/** Short names, because Unix socket paths under macOS's long temporary folder must stay below 104 bytes. */
const PREFIX = "helmdeck-oc-";
/** Node's compile cache, below TMPDIR. */
const CODE_CACHE_NAME = "node-compile-cache";
/** OpenClaw's compile cache, shared by all homes of this clone: saves a fifth of a gateway's first start. */
const SHARED_CODE_CACHE = join(import.meta.dirname, "..", "..", "node_modules", ".cache", CODE_CACHE_NAME);

export interface HomeOptions {
  /** Merged over the configuration of a quiet, quick, local gateway; null removes a value. */
  readonly config?: JsonObject;
  /** Agents in addition to `main`; each gets its own workspace. */
  readonly otherAgents?: readonly string[];
  /** Path inside the default agent's workspace to text: OpenClaw's own memory. */
  readonly notes?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  /** Default: the locked one. */
  readonly runtime?: OpenClawRuntime;
}

/**
 * Creates the folders, a token, the notes and `openclaw.json`, synchronously, so that the clean-up on a signal always knows the
 * folder.
 */
export function makeHome(port: number, options: HomeOptions): OpenClawHome {
  const root = mkdtempSync(join(realpathSync(tmpdir()), PREFIX));
  const stateDir = join(root, "home", ".openclaw");
  const home = {
    root,
    stateDir,
    configPath: join(stateDir, "openclaw.json"),
    workspace: join(root, "workspace"),
    logPath: join(root, "gateway.log"),
    tokenPath: join(root, "gateway-token"),
    token: randomBytes(24).toString("hex"),
    port,
    runtime: options.runtime ?? LOCKED_OPENCLAW,
  };
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  mkdirSync(join(root, "tmp"));
  mkdirSync(SHARED_CODE_CACHE, { recursive: true });
  symlinkSync(SHARED_CODE_CACHE, join(root, "tmp", CODE_CACHE_NAME));
  writeFileSync(home.tokenPath, `${home.token}\n`, { mode: 0o600 });
  const config = configOf(home, options);
  writeFileSync(home.configPath, JSON.stringify(config, null, 2), { mode: 0o600 });
  writeNotes(home.workspace, options.notes ?? {});
  return { ...home, env: { ...environmentOf(home), ...options.env } };
}

/** A free loopback port. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

function writeNotes(workspace: string, notes: Readonly<Record<string, string>>): void {
  mkdirSync(workspace);
  for (const [path, text] of Object.entries(notes)) {
    const file = join(workspace, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

function configOf(home: Pick<OpenClawHome, "root" | "port" | "workspace">, options: HomeOptions): JsonObject {
  const { otherAgents, config = {} } = options;
  const roster = otherAgents === undefined ? {} : rosterOf(home.root, home.workspace, otherAgents);
  return merge(merge(quietConfig(home), roster), config);
}

/** Objects are merged, null removes, any other value replaces. */
export function merge(base: JsonObject, over: JsonObject): JsonObject {
  const merged: Record<string, Json> = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const below = merged[key];
    if (value === null) delete merged[key];
    else merged[key] = isObject(below) && isObject(value) ? merge(below, value) : value;
  }
  return merged;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * A local gateway without external requests: no update check, no model catalogue, no schedule; keyword memory only.
 * `plugins.allow` leaves out the fifteen bundled plugins that a memory search does not need (three seconds of start).
 */
function quietConfig(home: { port: number; workspace: string; root: string }): JsonObject {
  return {
    gateway: { mode: "local", bind: "loopback", port: home.port, auth: { mode: "token" } },
    memory: { search: { provider: "none" } },
    agents: { defaults: { workspace: home.workspace, heartbeat: { every: "0m" } } },
    plugins: { allow: ["memory-core"] },
    cron: { enabled: false },
    update: { checkOnStart: false },
    models: { catalogRefresh: { enabled: false } },
    logging: { file: join(home.root, "gateway.jsonl") },
  };
}

/** Several agents need explicit owners, and then `main` does not have the default workspace either. */
function rosterOf(root: string, workspace: string, others: readonly string[]): JsonObject {
  const entries = others.map((id) => [id, { workspace: join(root, `workspace-${id}`) }]);
  return {
    agents: {
      ownership: "explicit",
      defaults: { systemAgent: { agentId: "main" } },
      entries: { main: { workspace }, ...Object.fromEntries(entries) },
    },
  };
}

function environmentOf(home: Omit<OpenClawHome, "env">) {
  const { PATH = "", LANG = "C.UTF-8" } = process.env;
  return {
    // OpenClaw's Node first, so that npm inside `plugins install` runs on it too.
    PATH: [dirname(home.runtime.node), PATH].join(delimiter),
    LANG,
    NO_COLOR: "1",
    HOME: join(home.root, "home"),
    TMPDIR: join(home.root, "tmp"),
    OPENCLAW_STATE_DIR: home.stateDir,
    OPENCLAW_CONFIG_PATH: home.configPath,
    OPENCLAW_GATEWAY_TOKEN: home.token,
    OPENCLAW_GATEWAY_PORT: String(home.port),
    OPENCLAW_NO_AUTO_UPDATE: "1",
    OPENCLAW_OFFLINE: "1",
    OPENCLAW_DISABLE_BONJOUR: "1",
    OPENCLAW_SKIP_CHANNELS: "1",
    OPENCLAW_NO_RESPAWN: "1",
    OPENCLAW_EXEC_SHELL_SNAPSHOT: "0",
    // The plugin's tarball has no dependencies, so installing it needs no registry, and must not wait for one.
    npm_config_offline: "true",
    npm_config_update_notifier: "false",
  };
}
