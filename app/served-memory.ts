/**
 * The memory of a server: the database with its key, or one that lives in this process only, or the reason for neither.
 *
 * Who attacks: mishap, as in `engine/store/find-key.ts`. A key or a store that does not open must neither be worked around,
 * which would split a person's memory in two, nor stop the packs, which do not need it. So only a place with neither key
 * nor data is served without one, and everything else that goes wrong is said at every call.
 */
import {
  asHelmdeckError,
  createInMemoryStore,
  defined,
  findKey,
  requireOwnDatabase,
} from "../engine/index.ts";
import { composeMemory, type OpenMemory } from "./compose.ts";
import { type OnServerOptions, openOnServer } from "./database-server/open-on-server.ts";
import { embeddingSettingsOfEnv } from "./embedding/embedding-environment.ts";
import type { DoctorReport, Memory } from "./memory.ts";
import type { MemoryState } from "./memory-state.ts";
import { openMemory } from "./open-memory.ts";
import type { OpenMemoryOptions } from "./open-memory-options.ts";
import { SWEEP_EVERY_MS } from "./sweeper.ts";
import { unavailableMemory } from "./unavailable-memory.ts";

export interface ServedMemoryOptions extends OpenMemoryOptions {
  /**
   * What to do where there is neither a key nor data. `make`: a key file, as the command line and the plugin do.
   * `ephemeral`: nothing on disk; memory lives as long as this process, with a warning, as helmdeck's server does.
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

/** Never throws: what stands in the way is the state. */
export async function openServedMemory(options: ServedMemoryOptions): Promise<ServedMemory> {
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

/** A server that does not answer yet will: memory is there then. */
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
  const { keyPath, now = Date.now, timer, random } = options;
  const warning =
    "There is no key, so memory is kept in this process only and is lost when it ends. Set HELMDECK_MEMORY_KEY or " +
    `HELMDECK_MEMORY_KEY_FILE, or make ${keyPath} with the first \`helmdeck-memory store\`, and start again.`;
  const composed = composeMemory({
    store: createInMemoryStore({ now }),
    location: { databasePath: NOWHERE, keyPath, keySource: "none", driver: "in-memory" },
    key: { source: "none", made: false },
    sweepEveryMs: options.sweepEveryMs ?? SWEEP_EVERY_MS,
    embeddings: options.embeddings ?? (await embeddingSettingsOfEnv(options.env)),
    ...defined({ timer, random }),
  });
  const doctor = async (): Promise<DoctorReport> => ({
    findings: [{ level: "warning", check: "memory", message: warning }],
    store: await composed.store.inspect(),
  });
  const memory: OpenMemory = { ...composed, doctor };
  return { memory, state: { state: "ephemeral", warning }, open: memory };
}
