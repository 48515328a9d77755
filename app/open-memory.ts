/** Opens memory in this process: key, store, index, in that order; closes everything again when one of them fails. */
import {
  defined,
  findKey,
  type HelmdeckError,
  type InspectOptions,
  isHelmdeckError,
  keyIdOf,
  type LoadedKey,
  loadOrMakeKey,
  type MemoryStore,
  openSqliteStore,
  openSqliteStoreToRead,
  requireOwnDatabase,
} from "../engine/index.ts";
import { composeMemory, type OpenMemory } from "./compose.ts";
import { openOnServer } from "./database-server/open-on-server.ts";
import { examineFailure, examineNothing } from "./health/examine-memory.ts";
import { fileFacts } from "./health/private-files.ts";
import { noteOpened, refuseEmptied } from "./keys/store-notes.ts";
import type { DoctorReport } from "./memory.ts";
import { type OpenMemoryOptions, settingsOf } from "./open-memory-options.ts";
import { quotaOfEnv } from "./quota.ts";
import { mayOpenFile, ReopeningStore } from "./reopening-store.ts";

/** Throws any HelmdeckError with a `key_…` or `store_…` code. */
export async function openMemory(options: OpenMemoryOptions): Promise<OpenMemory> {
  if (options.server !== undefined) return openOnServer({ ...options, server: options.server });
  const { databasePath, keyPath, driver } = options;
  await requireOwnDatabase(databasePath, driver); // another program's database gets no key
  const { loaded, store, isReadOnly } = await openWithKey(options);
  const { key: _, ...keyFacts } = loaded;
  const keyFile = loaded.file ?? keyPath;
  const notes = await noteOpened(store, { keyFile, path: databasePath, isReadOnly });
  return composeMemory({
    store,
    keepsVectors: !isReadOnly,
    location: { databasePath, keyPath, keySource: keyFacts.source, driver: driver.name },
    key: keyFacts,
    notes,
    ...(await settingsOf(options)),
  });
}

/** Another process may replace the key between reading the key and opening the database. */
async function openWithKey(
  options: OpenMemoryOptions,
): Promise<OpenedStore & { readonly loaded: LoadedKey }> {
  const loaded = await loadOrMakeKey(options);
  try {
    return { loaded, ...(await openStore(options, loaded)) };
  } catch (error) {
    if (!isHelmdeckError(error) || error.code !== "key_wrong") throw error;
    const again = await loadOrMakeKey(options);
    if (keyIdOf(again.key) === keyIdOf(loaded.key)) throw error;
    return { loaded: again, ...(await openStore(options, again)) };
  }
}

interface OpenedStore {
  readonly store: MemoryStore;
  readonly isReadOnly: boolean;
}

async function openStore(options: OpenMemoryOptions, { key, file }: LoadedKey): Promise<OpenedStore> {
  const { databasePath: path, keyPath, driver, now = Date.now, access } = options;
  const parts = { path, driver, now, quota: quotaOfEnv(options.env) };
  await refuseEmptied(file ?? keyPath, path);
  try {
    const opened = await openSqliteStore({ ...parts, key });
    const open = async (beginnings: number): Promise<MemoryStore> => {
      const found = await findKey(options); // a restored backup may have brought its own key
      await refuseEmptied(found?.file ?? keyPath, path);
      return openSqliteStore({ ...parts, key: found?.key ?? key, beginnings });
    };
    const store = new ReopeningStore(opened, {
      open,
      mayOpen: (cause) => mayOpenFile(path, cause),
      ...defined({ clock: options.clock }),
    });
    return { store, isReadOnly: false };
  } catch (error) {
    if (access !== "read" || !isReadOnly(error)) throw error;
    return { store: await openSqliteStoreToRead({ ...parts, key }), isReadOnly: true };
  }
}

function isReadOnly(error: unknown): error is HelmdeckError {
  return isHelmdeckError(error) && error.code === "store_readonly";
}

/** Doctor's report, also when memory does not open. Never throws, and creates nothing. */
export async function examineMemory(
  options: OpenMemoryOptions,
  inspect?: InspectOptions,
): Promise<DoctorReport> {
  const { server } = options;
  if (server === undefined && (await fileFacts(options.databasePath)).kind === "absent")
    return examineNothing(options);
  let memory: OpenMemory;
  try {
    memory = await openMemory({ ...options, access: "read", sweepEveryMs: 0, embedsEntries: false });
  } catch (error) {
    return examineFailure({ ...options, ...(server && { databasePath: server.name }) }, error);
  }
  const report = await memory.doctor(inspect);
  await memory.close().catch(() => undefined); // the report is complete
  return report;
}
