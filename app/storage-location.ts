/** Locates memory: OpenClaw's state folder in this environment, and our files in it. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";

export interface StorageOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The account's home folder, used when the environment has none. */
  readonly homeDir: string;
  /** If the host has already determined it. */
  readonly stateDir?: string;
  readonly databasePath?: string;
  readonly keyPath?: string;
}

export interface StorageLocation {
  readonly databasePath: string;
  readonly keyPath: string;
}

const STATE_FOLDER = ".openclaw";
/** OpenClaw's former name; it still uses such a folder when there is no new one. */
const LEGACY_STATE_FOLDER = ".clawdbot";

/**
 * The database and key that the plugin uses in the same environment, unless others are given.
 *
 * Follows OpenClaw 2026.9.6 (`openclaw/plugin-sdk/state-paths`): `OPENCLAW_STATE_DIR`, or `.openclaw` in `OPENCLAW_HOME`, `HOME`,
 * `USERPROFILE` or the account's home. `OPENCLAW_PROFILE` alone has no effect: `openclaw --profile` sets the state folder for the
 * processes that it starts.
 */
export function findStorage(options: StorageOptions): StorageLocation {
  const stateDir = options.stateDir ?? findStateDir(options);
  return {
    databasePath: resolve(options.databasePath ?? join(stateDir, "helmdeck-memory", "memory.sqlite")),
    // Outside of the database's folder, which OpenClaw's backup copies into an unencrypted archive.
    keyPath: resolve(options.keyPath ?? join(stateDir, "helmdeck-memory.key")),
  };
}

function findStateDir(options: StorageOptions): string {
  const home = findHome(options);
  const named = options.env.OPENCLAW_STATE_DIR?.trim();
  if (named) return expandTilde(named, home);
  const current = join(home, STATE_FOLDER);
  const legacy = join(home, LEGACY_STATE_FOLDER);
  return !existsSync(current) && existsSync(legacy) ? legacy : current;
}

function findHome({ env, homeDir }: StorageOptions): string {
  const account = named(env.HOME) ?? named(env.USERPROFILE) ?? homeDir;
  const chosen = named(env.OPENCLAW_HOME);
  return chosen === undefined ? resolve(account) : expandTilde(chosen, account);
}

/** Some launchers write the words "undefined" and "null" into the environment; like OpenClaw, treat them as unset. */
function named(value: string | undefined): string | undefined {
  const text = value?.trim();
  return text && text !== "undefined" && text !== "null" ? text : undefined;
}

function expandTilde(path: string, home: string): string {
  return resolve(path.replace(/^~(?=$|[\\/])/, () => home));
}
