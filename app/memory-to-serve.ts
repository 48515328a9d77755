/**
 * The memory of a server: the database with its key, an in-process store, or the reason why there is neither.
 *
 * The danger is an accident, as in `engine/store/find-key.ts`. When a key or a store does not open, the server must not work
 * around it, which would split a person's memory in two, nor stop the packs, which do not need it. So only a location with
 * neither key nor data is served without a key; any other problem is reported on every call, until memory opens.
 */

import { defined } from "../engine/defined.ts";
import { HelmdeckError } from "../engine/errors.ts";
import { findKey } from "../engine/store/find-key.ts";
import { openStoreInMemory } from "../engine/store/sqlite/open-in-memory.ts";
import { requireOwnDatabase } from "../engine/store/sqlite/open-sqlite.ts";
import { unavailable } from "./availability.ts";
import { composeMemory, type OpenMemory } from "./compose.ts";
import type { DoctorReport } from "./memory.ts";
import type { MemoryState } from "./memory-state.ts";
import { openMemory } from "./open-memory.ts";
import { type OpenMemoryOptions, settingsOf } from "./open-memory-options.ts";
import { storeQuota } from "./quota.ts";

export interface MemoryToServeOptions extends OpenMemoryOptions {
  /**
   * What to do when there are neither key nor data. `make`: create a key file, like the command line and the plugin. `ephemeral`:
   * write nothing to disk; memory lives as long as this process, with a warning, as in helmdeck's server.
   */
  readonly withoutKey: "make" | "ephemeral";
  /** Called when memory is lost after it was open, with the reason, and when it is open again or for the first time. */
  readonly onChange?: (lost: HelmdeckError | undefined) => void;
}

export interface MemoryToServe {
  readonly memory: OpenMemory;
  readonly state: MemoryState;
}

export const READ_ONLY =
  "Memory only answers reads: its database or folder cannot be written, or its database server is a standby or set to read only. Writes are refused.";
export const NO_KEY = "There is no key, so memory exists only while this process runs.";
const NOWHERE = "in this process only";
/** A server may have thousands of callers, few of them at a time. */
const INDEX_IDLE_MS = 30 * 60_000;

/** Throws `invalid_input` for an unusable setting; any other problem is in the state. */
export async function openMemoryToServe(given: MemoryToServeOptions): Promise<MemoryToServe> {
  const { withoutKey, server, onChange } = given;
  if (withoutKey === "ephemeral" && server === undefined && (await hasNothing(given)))
    return ephemeral(given);
  const memory = await openMemory({
    ...withIdleIndexes(given),
    makesKey: withoutKey === "make",
    waiting: { explain: unavailable, ...defined({ onChange, timer: given.timer }) },
  });
  const { error, keySource, databasePath, readOnly } = await memory.status();
  if (error !== undefined)
    return { memory, state: { state: "unavailable", error: new HelmdeckError(error.code, error.message) } };
  const notice = readOnly === true ? READ_ONLY : await noticeOf(memory);
  return { memory, state: { state: "ready", databasePath, keySource, ...defined({ notice }) } };
}

function withIdleIndexes(options: MemoryToServeOptions): MemoryToServeOptions {
  return { ...options, indexes: { idleMs: INDEX_IDLE_MS, ...options.indexes } };
}

/** Neither key nor data. Any problem of either is found by opening them. */
async function hasNothing(options: MemoryToServeOptions): Promise<boolean> {
  try {
    await requireOwnDatabase(options.databasePath, options.driver);
    return (await findKey(options)) === undefined;
  } catch {
    return false;
  }
}

/** Whether there is a key. Creates none. Throws a `key_…` error if it cannot be used. */
export async function hasKey(options: OpenMemoryOptions): Promise<boolean> {
  return (await findKey(options)) !== undefined;
}

/** A wrong path, state folder or schema shows as an empty memory. */
async function noticeOf({ notice, callers }: OpenMemory): Promise<string | undefined> {
  const isEmpty = await callers().then(
    ({ callers: all }) => all.length === 0,
    () => false,
  );
  return notice ?? (isEmpty ? "It is empty: nothing was stored there yet." : undefined);
}

async function ephemeral(given: MemoryToServeOptions): Promise<MemoryToServe> {
  const options = withIdleIndexes(given);
  const { keyPath, now = Date.now } = options;
  const warning = `${NO_KEY} Set HELMDECK_MEMORY_KEY or HELMDECK_MEMORY_KEY_FILE, or create ${keyPath} with the first \`helmdeck-memory store\`, and restart the server.`;
  const composed = composeMemory({
    store: await openStoreInMemory({ now, quota: storeQuota(options) }),
    location: { databasePath: NOWHERE, keyPath, keySource: "none", driver: "in-memory" },
    key: { source: "none", made: false },
    ...(await settingsOf(options)),
  });
  const doctor = async (): Promise<DoctorReport> => ({
    findings: [{ level: "warning", check: "memory", message: warning }],
    store: await composed.store.inspect(),
  });
  return { memory: { ...composed, doctor }, state: { state: "ephemeral", warning } };
}
