/**
 * The memory of a server: the database with its key, an in-process store, or the reason why there is neither.
 *
 * The danger is an accident, as in `engine/store/find-key.ts`. When a key or a store does not open, the server must not work
 * around it, which would split a person's memory in two, nor stop the packs, which do not need it. So only a location with
 * neither key nor data is served without a key; any other problem is reported on every call.
 */
import { asHelmdeckError, createInMemoryStore, findKey, requireOwnDatabase } from "../engine/index.ts";
import { composeMemory, type OpenMemory } from "./compose.ts";
import { type OnServerOptions, openOnServer } from "./database-server/open-on-server.ts";
import type { DoctorReport, Memory } from "./memory.ts";
import type { MemoryState } from "./memory-state.ts";
import { openMemory } from "./open-memory.ts";
import { type OpenMemoryOptions, settingsOf } from "./open-memory-options.ts";
import { unavailableMemory } from "./unavailable-memory.ts";

export interface ServedMemoryOptions extends OpenMemoryOptions {
  /**
   * What to do when there are neither key nor data. `make`: create a key file, like the command line and the plugin. `ephemeral`:
   * write nothing to disk; memory lives as long as this process, with a warning, as in helmdeck's server.
   */
  readonly withoutKey: "make" | "ephemeral";
}

export interface ServedMemory {
  readonly memory: Memory;
  readonly state: MemoryState;
  /** Absent when memory did not open. */
  readonly open?: OpenMemory;
}

const NOWHERE = "in this process only";
/** A server may have thousands of callers, few of them at a time. */
const INDEX_IDLE_MS = 30 * 60_000;

/** Never throws: problems are in the state. */
export async function openServedMemory(given: ServedMemoryOptions): Promise<ServedMemory> {
  const options = { ...given, indexes: { idleMs: INDEX_IDLE_MS, ...given.indexes } };
  const { databasePath, withoutKey, driver, server } = options;
  if (server !== undefined) return servedFrom({ ...options, server });
  try {
    await requireOwnDatabase(databasePath, driver);
    if (withoutKey === "ephemeral" && (await findKey(options)) === undefined) return await ephemeral(options);
    const open = await openMemory(options);
    const { keySource } = await open.status();
    return { memory: open, state: { state: "ready", databasePath, keySource }, open };
  } catch (thrown) {
    const error = asHelmdeckError(thrown);
    return { memory: unavailableMemory(error, options, driver.name), state: { state: "unavailable", error } };
  }
}

/** For a database server that does not answer yet: memory becomes available later. */
async function servedFrom(options: OnServerOptions): Promise<ServedMemory> {
  const { server } = options;
  try {
    const { failure, ...open } = await openOnServer({ ...options, mayWait: true });
    if (failure !== undefined)
      return { memory: open, state: { state: "unavailable", error: failure, recovers: true }, open };
    const { keySource } = await open.status();
    return { memory: open, state: { state: "ready", databasePath: server.name, keySource }, open };
  } catch (failed) {
    const error = asHelmdeckError(failed);
    const place = { ...options, databasePath: server.name };
    return { memory: unavailableMemory(error, place, server.driver), state: { state: "unavailable", error } };
  }
}

async function ephemeral(options: ServedMemoryOptions): Promise<ServedMemory> {
  const { keyPath, now = Date.now } = options;
  const warning =
    "There is no key, so memory exists only while this process runs. Set HELMDECK_MEMORY_KEY or " +
    `HELMDECK_MEMORY_KEY_FILE, or create ${keyPath} with the first \`helmdeck-memory store\`, and restart the server.`;
  const composed = composeMemory({
    store: createInMemoryStore({ now }),
    location: { databasePath: NOWHERE, keyPath, keySource: "none", driver: "in-memory" },
    key: { source: "none", made: false },
    ...(await settingsOf(options)),
  });
  const doctor = async (): Promise<DoctorReport> => ({
    findings: [{ level: "warning", check: "memory", message: warning }],
    store: await composed.store.inspect(),
  });
  const memory: OpenMemory = { ...composed, doctor };
  return { memory, state: { state: "ephemeral", warning }, open: memory };
}
