/**
 * Finds the master key: in the configuration, the environment, or a key file, which is created only for a store without data.
 *
 * The main danger is an accident: if the key file is lost, a new key must not replace it, because the old data would look damaged
 * and new data would be sealed under another key. So the order of sources is fixed, only the first configured source is tried,
 * and data without its key is an error.
 */
import { realpath, stat } from "node:fs/promises";
import { HelmdeckError } from "../errors.ts";
import { isFileError } from "../private-file.ts";
import { findKeyFile, makeKeyFile, requireKeyFile, requirePrivate } from "./key-file.ts";
import { type MasterKey, parseKey } from "./master-key.ts";

export interface KeyPlaces {
  /** From the host's configuration, 64 hexadecimal digits; takes precedence over everything else. */
  readonly configuredKey?: string;
  /** Only HELMDECK_MEMORY_KEY, HELMDECK_MEMORY_KEY_FILE and HELMDECK_MEMORY_KEY_COMMAND are read; empty counts as not set. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Runs the command in HELMDECK_MEMORY_KEY_COMMAND. Without it, a configured command is an error. */
  readonly runCommand?: RunCommand;
  /** The default key file, created when there is neither a key nor data. */
  readonly keyPath: string;
  readonly databasePath: string;
}

export interface LoadedKey {
  readonly key: MasterKey;
  /** For messages: the name of the setting, or the path of the file. */
  readonly source: string;
  /** The path of the key file, if the key comes from one. */
  readonly file?: string;
  /** The key was just created, so no backup has it yet. */
  readonly made: boolean;
  /** A problem with the key's location, for a person. */
  readonly warning?: string;
}

const CONFIGURED = "the configured key";

/**
 * Loads the key; precedence: configuration, HELMDECK_MEMORY_KEY, HELMDECK_MEMORY_KEY_FILE, HELMDECK_MEMORY_KEY_COMMAND, the file
 * at `keyPath`, a new file there.
 *
 * A file at `keyPath` that others can read is refused. One named by HELMDECK_MEMORY_KEY_FILE is used with a warning: container
 * secrets are mounted world-readable inside the container, and changing their mode is not up to us.
 *
 * @throws `key_malformed`, `key_missing`, `key_unreadable`; `store_readonly` or `store_full` when a key file cannot be created.
 */
export async function loadOrMakeKey(places: KeyPlaces): Promise<LoadedKey> {
  return (await findKey(places)) ?? { ...(await makeKeyFile(places.keyPath)), ...inFile(places.keyPath) };
}

/** Like {@link loadOrMakeKey}, but creates nothing: undefined when there is neither a key nor data. */
export async function findKey(places: KeyPlaces): Promise<LoadedKey | undefined> {
  const { configuredKey, env } = places;
  if (configuredKey !== undefined) return fromText(configuredKey, CONFIGURED);
  const named = setting(env, "HELMDECK_MEMORY_KEY");
  if (named !== undefined) return fromText(named, "HELMDECK_MEMORY_KEY");
  const file = setting(env, "HELMDECK_MEMORY_KEY_FILE");
  if (file !== undefined) return fromNamedFile(file);
  const command = setting(env, "HELMDECK_MEMORY_KEY_COMMAND");
  if (command !== undefined) return fromCommand(command, places.runCommand);
  return fromDefaultFile(places.keyPath, places.databasePath);
}

/** For messages: where {@link findKey} looks first. Reads no file, and runs nothing. */
export function nameOfKeySource({ configuredKey, env, keyPath }: KeyPlaces): string {
  if (configuredKey !== undefined) return CONFIGURED;
  if (setting(env, "HELMDECK_MEMORY_KEY") !== undefined) return "HELMDECK_MEMORY_KEY";
  const file = setting(env, "HELMDECK_MEMORY_KEY_FILE");
  if (file !== undefined) return nameOfFile(file);
  return setting(env, "HELMDECK_MEMORY_KEY_COMMAND") === undefined ? keyPath : "HELMDECK_MEMORY_KEY_COMMAND";
}

async function fromCommand(command: string, run: RunCommand | undefined): Promise<LoadedKey> {
  return { key: await keyFromCommand(command, run), source: nameOfCommand(command), made: false };
}

function nameOfFile(path: string): string {
  return `HELMDECK_MEMORY_KEY_FILE (${path})`;
}

function setting(env: KeyPlaces["env"], name: string): string | undefined {
  const value = env[name];
  return value === "" ? undefined : value;
}

function fromText(hex: string, source: string): LoadedKey {
  return { key: parseKey(hex, source), source, made: false };
}

async function fromNamedFile(path: string): Promise<LoadedKey> {
  const { key, sharedMode, owner } = await requireKeyFile(path);
  const loaded = { key, source: nameOfFile(path), file: path, made: false };
  if (owner !== undefined) {
    const warning = `The key file ${path} belongs to another account (uid ${owner}), which can read the key, and this process runs as root.`;
    return { ...loaded, warning };
  }
  if (sharedMode === undefined) return loaded;
  const warning = `The key file ${path} is accessible to other accounts (mode ${sharedMode}); set its mode to 0600.`;
  return { ...loaded, warning };
}

async function fromDefaultFile(keyPath: string, databasePath: string): Promise<LoadedKey | undefined> {
  const existing = await readDefaultFile(keyPath);
  if (existing !== undefined || !(await hasData(databasePath))) return existing;
  // Another process may have created key and database between our two checks; the key always comes first.
  return (await readDefaultFile(keyPath)) ?? refuseNewKey(keyPath, databasePath);
}

async function readDefaultFile(keyPath: string): Promise<LoadedKey | undefined> {
  const found = await findKeyFile(keyPath);
  if (found === undefined) return undefined;
  return { key: requirePrivate(keyPath, found), ...inFile(keyPath), made: false };
}

function inFile(path: string) {
  return { source: path, file: path };
}

function refuseNewKey(keyPath: string, databasePath: string): never {
  throw new HelmdeckError(
    "key_missing",
    `The memory database ${databasePath} exists, but its key file ${keyPath} is missing. ` +
      "Restore the key file from your backup, or set HELMDECK_MEMORY_KEY. A new key is never created for existing data: " +
      "if the key is lost for good, stop every process that uses the database, then move it away with its -wal and " +
      "-shm files to start over.",
    { details: { keyPath, databasePath } },
  );
}

/** By size alone: opening the file here could drop SQLite's locks in this process. */
async function hasData(databasePath: string): Promise<boolean> {
  const file = await realpath(databasePath).catch(() => databasePath);
  const sizes = await Promise.all([sizeOf(file), sizeOf(`${file}-wal`)]);
  return sizes.some((bytes) => bytes > 0);
}

async function sizeOf(path: string): Promise<number> {
  try {
    const stats = await stat(path);
    return stats.isFile() ? stats.size : 0;
  } catch (error) {
    if (isFileError(error, "ENOENT", "ENOTDIR")) return 0;
    throw new HelmdeckError(
      "store_unavailable",
      `${path} cannot be examined, so no key was created for it; check the owner and mode of its folder.`,
      { details: { path }, cause: error },
    );
  }
}

/** Runs a program without a shell and returns its output; rejects when it fails, hangs or prints too much. */
export type RunCommand = (argv: readonly [string, ...string[]]) => Promise<string>;

const SETTING = "HELMDECK_MEMORY_KEY_COMMAND";

/**
 * Gets the key from a command's output, so that a vault, a key service or a password manager can hold it.
 *
 * Dangers: spaces and quotes in a line that a shell would split; a command that hangs, fails, or prints more than a key. So the
 * setting is a JSON list of the program and its arguments, and no shell reads it; time and output are limited; the output is used
 * as a key and never shown. The caller provides the runner: a host's plugin runs no commands.
 *
 * Throws `key_unreadable`, `key_missing` when it prints nothing, `key_malformed`.
 */
async function keyFromCommand(setting: string, run: RunCommand | undefined): Promise<MasterKey> {
  const argv = parseArgv(setting);
  if (run === undefined)
    throw unreadable(
      "this process runs no commands. In OpenClaw, use a SecretRef (source exec) in encryptionKey of the plugin's configuration",
    );
  const [name] = argv;
  const printed = await run(argv).catch((error: unknown) => {
    throw unreadable(`the command ${name} ${whyOf(error)}. Run it in a shell to see its output`, {
      command: name,
    });
  });
  const text = printed.trim();
  if (text === "")
    throw new HelmdeckError(
      "key_missing",
      `The command ${name} in ${SETTING} printed no key. It must print the 64 hexadecimal digits to standard output.`,
      { details: { command: name } },
    );
  return parseKey(text, `The output of the command ${name} in ${SETTING}`);
}

function nameOfCommand(setting: string): string {
  return `${SETTING} (${parseArgv(setting)[0]})`;
}

function parseArgv(setting: string): readonly [string, ...string[]] {
  const [name, ...rest] = listOf(setting);
  if (name === undefined || name === "") throw notAList();
  return [name, ...rest];
}

function listOf(setting: string): readonly string[] {
  try {
    const parsed: unknown = JSON.parse(setting);
    if (Array.isArray(parsed) && parsed.every((part) => typeof part === "string")) return parsed;
  } catch {
    // Reported below without the setting's value: it may hold a token.
  }
  throw notAList();
}

/** In our own words: a system message repeats arguments, which may be secrets. */
function whyOf(error: unknown): string {
  if (!(error instanceof Error)) return "failed";
  if ("killed" in error && error.killed === true) return "did not finish in time";
  const code = "code" in error ? error.code : undefined;
  if (typeof code === "number") return `ended with exit code ${code}`;
  if (code === "ENOENT") return "was not found";
  return code === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER" ? "printed more than a key" : "could not be run";
}

function notAList(): HelmdeckError {
  return unreadable(
    'it must be a JSON list of the program and its arguments, such as ["vault", "kv", "get", "-field=key", "secret/memory"]',
  );
}

function unreadable(why: string, details: { readonly command?: string } = {}): HelmdeckError {
  return new HelmdeckError("key_unreadable", `${SETTING}: ${why}.`, { details });
}
