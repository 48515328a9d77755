/** Finds the memory of `helmdeck-memory` from its options and the environment. */

import { execFile } from "node:child_process";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import type { AddressOptions } from "../app/database-server/store-address.ts";
import { namesEmbeddings } from "../app/embedding/embedding-environment.ts";
import {
  type EmbeddingSettings,
  embeddingSettingsOf,
  unusable,
  withApiKey,
} from "../app/embedding/embedding-settings.ts";
import type { OpenMemoryOptions } from "../app/open-memory-options.ts";
import { LIFETIME_VARIABLE, lifetimeDaysOf } from "../app/quota.ts";
import { findStorage } from "../app/storage-location.ts";
import { type OpenClawPlace, openClawPlace } from "../app/traces/openclaw-place.ts";
import type { CommandContext } from "../commands/command-line.ts";
import type { Shell } from "../commands/shell.ts";
import { defined } from "../engine/defined.ts";
import { invalidField } from "../engine/errors.ts";
import { readGivenFile } from "../engine/given-file.ts";
import { betterSqliteDriver } from "../engine/store/sqlite/better-sqlite-driver.ts";
import type { OpenServerContextOptions } from "../packs/server-context.ts";

type Asking = Pick<CommandContext, "shell" | "options">;

export async function memoryOptions({ shell, options }: Asking): Promise<OpenMemoryOptions> {
  const { env, homeDir, now } = shell;
  const server = await serverOf({ shell, options });
  const place = findStorage({ env, homeDir, ...defined({ databasePath: options.db }) });
  // A command ends before a timer could sweep or a background task could embed, so it embeds on request.
  const driver = betterSqliteDriver;
  const usualPath = findStorage({ env, homeDir }).databasePath;
  const installed = server === undefined ? await asInstalled({ ...place, env, usualPath }) : {};
  return {
    ...{ ...place, env, driver, now, sweepEveryMs: 0, embedsEntries: false },
    ...{ ...installed, ...defined({ server }) },
    runCommand: (argv) => runKeyCommand(shell, argv),
  };
}

/** Of a database on a server, if one is given. An argument overrides the environment. Throws `invalid_input` if two locations are given. */
export function serverAddress({ shell, options }: Asking): (AddressOptions & { text: string }) | undefined {
  const { env, homeDir } = shell;
  const { db, store } = options;
  if (db !== undefined && store !== undefined) {
    throw invalidField("store", "cannot be used with --db; name one database", { named: "--store" });
  }
  const text = store ?? (db === undefined ? env.HELMDECK_MEMORY_STORE : undefined);
  if (text === undefined || text === "") return undefined;
  return { text, env, homeDir, from: store === undefined ? "environment" : "argument" };
}

async function serverOf(asking: Asking): Promise<OpenMemoryOptions["server"]> {
  const address = serverAddress(asking);
  if (address === undefined) return undefined;
  const { postgresServer } = await import("../app/database-server/postgres-server.ts");
  return postgresServer(address.text, address);
}

/** For commands that work on a database file. Throws `invalid_input` if memory is on a server. */
export async function fileOptions(context: Asking): Promise<OpenMemoryOptions> {
  const options = await memoryOptions(context);
  if (options.server === undefined) return options;
  throw invalidField(
    "store",
    "is on a database server, and this is for a database file: back up and restore it with the server's own tools (pg_dump, pg_restore, pg_basebackup), check it with verify, and name a file with --db",
    { named: "This memory" },
  );
}

/** For commands that serve until they are stopped: they sweep, and finish running work. */
export async function serverContextOptions(context: Asking): Promise<OpenServerContextOptions> {
  const { sweepEveryMs: _, embedsEntries: __, lifetimeDays: ___, ...memory } = await memoryOptions(context);
  return { ...memory, withoutKey: "make" };
}

/** A password manager may have to ask a person. */
const TIMEOUT_MS = 30_000;
/** A key has 64 digits. */
const MOST_BYTES = 1_024;

/** Runs the command that prints the memory's key: without a shell, for at most half a minute, ignoring its stderr. */
export async function runKeyCommand(
  { env }: Pick<Shell, "env">,
  [program, ...args]: readonly [string, ...string[]],
  timeoutMs = TIMEOUT_MS,
): Promise<string> {
  const running = promisify(execFile)(program, args, {
    ...{ env: { ...env }, encoding: "latin1", windowsHide: true },
    ...{ timeout: timeoutMs, killSignal: "SIGKILL", maxBuffer: MOST_BYTES },
  });
  running.child.stdin?.end();
  return (await running).stdout;
}

/** The memory that a command opens, and its environment. */
interface Opening {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly databasePath: string;
  readonly keyPath: string;
  /** Where the plugin keeps its memory unless its configuration says otherwise. */
  readonly usualPath: string;
}

type Section = Readonly<Record<string, unknown>>;

/**
 * The settings of the OpenClaw plugin whose memory a command opens, from OpenClaw's configuration: so a command searches, and
 * keeps, as the plugin does. The environment takes precedence. Empty if no plugin keeps this memory. Never throws: status and
 * doctor report unusable settings.
 */
async function asInstalled(
  opening: Opening,
): Promise<Pick<OpenMemoryOptions, "embeddings" | "lifetimeDays">> {
  const { env } = opening;
  const path = configPathOf(opening);
  const isNamed = namesEmbeddings(env);
  try {
    const plugin = pluginSection(await openClawConfig(path), opening);
    if (plugin === undefined) return {};
    const lifetimeDays = env[LIFETIME_VARIABLE] ? undefined : lifetimeDaysOf(plugin.lifetimeDays);
    return defined({ embeddings: isNamed ? undefined : embeddingsIn(plugin, path), lifetimeDays });
  } catch {
    const why = `OpenClaw's configuration ${path} cannot be read, so its embedding settings are unknown`;
    return isNamed ? {} : { embeddings: unusable(why) };
  }
}

/** Where OpenClaw keeps its notes and conversations, for commands outside of OpenClaw. Never rejects. */
export async function openClawHere({ shell }: Pick<Asking, "shell">): Promise<OpenClawPlace> {
  const { env, homeDir } = shell;
  const { keyPath } = findStorage({ env, homeDir });
  const path = configPathOf({ env, keyPath });
  const around = { stateDir: dirname(keyPath), env, homeDir: env.HOME ?? homeDir };
  try {
    return openClawPlace(await openClawConfig(path), around);
  } catch {
    const problem = { path, why: "is not readable, so workspaces that it names are unknown" };
    return { ...openClawPlace(undefined, around), problem };
  }
}

function configPathOf({ env, keyPath }: Pick<Opening, "env" | "keyPath">): string {
  return env.OPENCLAW_CONFIG_PATH?.trim() || join(dirname(keyPath), "openclaw.json");
}

/** Undefined if there is none. Throws if it cannot be read. */
async function openClawConfig(path: string): Promise<unknown> {
  const read = await readGivenFile(path);
  if ("isMissing" in read && read.isMissing) return undefined;
  if (!("text" in read)) throw new TypeError(read.problem);
  const { default: json5 } = await import("json5"); // few commands need it
  return json5.parse(read.text);
}

/** Undefined if another memory is opened. */
function pluginSection(config: unknown, { databasePath, usualPath }: Opening): Section | undefined {
  const plugin = ["plugins", "entries", "helmdeck-memory", "config"].reduce(sectionIn, section(config));
  const kept = typeof plugin.databasePath === "string" ? resolve(plugin.databasePath) : usualPath;
  return config !== undefined && kept === databasePath ? plugin : undefined;
}

function embeddingsIn(plugin: Section, path: string): EmbeddingSettings {
  const nameOf = (field: string) => `embeddings.${field} of the plugin in ${path}`;
  const { apiKey: key, ...given } = sectionIn(plugin, "embeddings");
  const apiKey = key ?? undefined;
  const settings = embeddingSettingsOf(given, nameOf);
  if (typeof apiKey === "object" && "url" in settings)
    return unusable(
      `${nameOf("apiKey")} is a reference that only OpenClaw resolves; set HELMDECK_EMBEDDINGS_KEY_FILE and the other variables`,
    );
  return apiKey === undefined ? settings : withApiKey(settings, apiKey, nameOf);
}

function sectionIn(outer: Section, name: string): Section {
  return section(outer[name]);
}

function section(value: unknown): Section {
  // A record's values are checked where they are used.
  return typeof value === "object" && value !== null ? (value as Section) : {};
}
