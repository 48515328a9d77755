/**
 * Opens memory in this process: key, store, index, in that order; closes everything again when one of them fails. Where nothing
 * was stored yet, a command that reads gets an empty memory, and nothing is created for it.
 */
import { access, constants, lstat, realpath } from "node:fs/promises";
import { dirname } from "node:path";
import { defined } from "../engine/defined.ts";
import { HelmdeckError, isHelmdeckError } from "../engine/errors.ts";
import { isFileError } from "../engine/private-file.ts";
import { findKey, type LoadedKey, loadOrMakeKey, nameOfKeySource } from "../engine/store/find-key.ts";
import { keyIdOf } from "../engine/store/key-ring.ts";
import type { InspectOptions, MemoryStore } from "../engine/store/memory-store.ts";
import { openStoreInMemory } from "../engine/store/sqlite/open-in-memory.ts";
import {
  openSqliteStore,
  openSqliteStoreToRead,
  requireOwnDatabase,
} from "../engine/store/sqlite/open-sqlite.ts";
import { composeMemory, type OpenMemory } from "./compose.ts";
import { openOnServer } from "./database-server/open-on-server.ts";
import { examineFailure, examineNothing, type KeyFacts, keyFactsOf } from "./health/examine-memory.ts";
import { fileFacts } from "./health/private-files.ts";
import {
  noteOpened,
  type Opened,
  refuseEmptied,
  refuseWithoutFolder,
  wasOpened,
} from "./keys/store-notes.ts";
import type { DoctorReport, MemoryStatus } from "./memory.ts";
import { type OpenMemoryOptions, settingsOf } from "./open-memory-options.ts";
import { failedStatus } from "./overview.ts";
import { storeQuota } from "./quota.ts";
import { mayOpenFile, ReopeningStore } from "./reopening-store.ts";

/** Throws any HelmdeckError with a `key_…` or `store_…` code, unless it may wait. */
export async function openMemory(options: OpenMemoryOptions): Promise<OpenMemory> {
  if (options.server !== undefined) return openOnServer({ ...options, server: options.server });
  const { databasePath, keyPath, driver } = options;
  if (options.access !== undefined && options.access !== "write" && (await isAbsent(databasePath)))
    return openAbsentMemory(options);
  const file = new MemoryFile(options);
  const store = await file.openStore();
  const memory = composeMemory({
    store,
    hasOpened: () => store.identity !== undefined,
    keepsVectors: !file.isReadOnly,
    isWritable: async () => !file.isReadOnly,
    get location() {
      return { databasePath, keyPath, keySource: file.key.source, driver: driver.name };
    },
    get key() {
      return file.key;
    },
    get notes() {
      return file.notes;
    },
    ...(await settingsOf(options)),
  });
  return { ...memory, ...(file.notes?.isAnother === true && { notice: anotherText(databasePath) }) };
}

/** A database file and its key, opened as often as necessary. */
class MemoryFile {
  notes: Opened | undefined;
  isReadOnly = false;
  readonly #options: OpenMemoryOptions;
  #loaded: LoadedKey | undefined;
  #hasOpened = false;

  constructor(options: OpenMemoryOptions) {
    this.#options = options;
  }

  get key(): KeyFacts {
    return keyFactsOf(this.#loaded, this.#options);
  }

  openStore(): Promise<MemoryStore> {
    const { databasePath, clock, waiting, now } = this.#options;
    return ReopeningStore.open({
      open: async (beginnings) => {
        const store = await this.#open(beginnings);
        this.#hasOpened = true;
        return store;
      },
      mayOpen: (cause) => !this.#hasOpened || mayOpenFile(databasePath, cause),
      isOutdated: async ({ code }) => {
        if (!this.isReadOnly) return false;
        return code === "store_replaced" || (code === "store_readonly" && (await isWritable(databasePath)));
      },
      ...defined({ clock, waiting, now }),
    });
  }

  /** Storage that cannot be written still answers what is asked. A command that writes does not begin; a server refuses each write. */
  async #open(beginnings: number): Promise<MemoryStore> {
    const { access, waiting } = this.#options;
    const mayOnlyRead = access === "read" || waiting !== undefined;
    this.isReadOnly = false;
    try {
      return await (this.#hasOpened ? this.#openAgain(beginnings) : this.#openFirst(beginnings));
    } catch (error) {
      if (!mayOnlyRead || this.#loaded === undefined || !isHelmdeckError(error, "store_readonly"))
        throw error;
      const read = openSqliteStoreToRead({ ...this.#parts, key: this.#loaded.key });
      const store = await read.catch((cause: unknown) => {
        throw isHelmdeckError(cause, "store_unavailable") ? error : cause; // nothing is there to read
      });
      this.isReadOnly = true;
      return this.#noted(store);
    }
  }

  async #openFirst(beginnings: number): Promise<MemoryStore> {
    const { databasePath, driver } = this.#options;
    await requireOwnDatabase(databasePath, driver); // another program's database gets no key
    return this.#noted(await this.#openWithKey(beginnings));
  }

  /** Another process may replace the key between reading the key and opening the database. */
  async #openWithKey(beginnings: number): Promise<MemoryStore> {
    this.#loaded = await this.#loadKey();
    const { key } = this.#loaded;
    try {
      return await this.#openWith(this.#loaded, beginnings);
    } catch (error) {
      if (!isHelmdeckError(error, "key_wrong")) throw error;
      this.#loaded = await this.#loadKey();
      if (keyIdOf(this.#loaded.key) === keyIdOf(key)) throw error;
      return this.#openWith(this.#loaded, beginnings);
    }
  }

  async #loadKey(): Promise<LoadedKey> {
    const { makesKey = true, databasePath, keyPath } = this.#options;
    const loaded = makesKey ? await loadOrMakeKey(this.#options) : await findKey(this.#options);
    if (loaded !== undefined) return loaded;
    throw new HelmdeckError(
      "key_missing",
      `There is neither a key nor a memory database any more. Put ${databasePath} and ${keyPath} back, or restart this program to begin without them.`,
    );
  }

  /** A restored backup may have brought its own key. */
  async #openAgain(beginnings: number): Promise<MemoryStore> {
    this.#loaded = (await findKey(this.#options)) ?? this.#loaded;
    return this.#openWith(this.#loaded ?? (await this.#loadKey()), beginnings);
  }

  async #openWith({ key, file }: LoadedKey, beginnings: number): Promise<MemoryStore> {
    const { databasePath, keyPath } = this.#options;
    if (!this.#hasOpened) await refuseWithoutFolder(file ?? keyPath, databasePath);
    await refuseEmptied(file ?? keyPath, databasePath);
    return openSqliteStore({ ...this.#parts, key, beginnings });
  }

  get #parts() {
    const { databasePath: path, driver, now = Date.now } = this.#options;
    return { path, driver, now, quota: storeQuota(this.#options) };
  }

  async #noted<Store extends MemoryStore>(store: Store): Promise<Store> {
    const { databasePath: path, keyPath } = this.#options;
    const keyFile = this.#loaded?.file ?? keyPath;
    this.notes = await noteOpened(store, { keyFile, path, isReadOnly: this.isReadOnly });
    return store;
  }
}

/** By the modes and mounts of the file and its folder. */
async function isWritable(databasePath: string): Promise<boolean> {
  return realpath(databasePath)
    .then((file) => Promise.all([file, dirname(file)].map((path) => access(path, constants.W_OK))))
    .then(
      () => true,
      () => false,
    );
}

/** The status of a memory that did not open. */
export function unopenedStatus(options: OpenMemoryOptions, error: unknown): MemoryStatus {
  const { server, databasePath, driver } = options;
  const place =
    server === undefined
      ? { databasePath, driver: driver.name }
      : { databasePath: server.name, driver: server.driver };
  return failedStatus({ ...place, keySource: nameOfKeySource(options) }, error);
}

/** Doctor's report, also when memory does not open. Never throws, and creates nothing. */
export async function examineMemory(
  options: OpenMemoryOptions,
  inspect?: InspectOptions,
): Promise<DoctorReport> {
  const { server } = options;
  if (server === undefined && (await fileFacts(options.databasePath)).kind === "absent") {
    try {
      const memory = await openAbsentMemory(options);
      await memory.close();
      return examineNothing(options, memory.notice);
    } catch (error) {
      return examineFailure(options, error);
    }
  }
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

/** False for anything at the path, such as a link to a missing file. */
async function isAbsent(databasePath: string): Promise<boolean> {
  const found = [databasePath, `${databasePath}-wal`].map((path) =>
    lstat(path).then(
      () => true,
      (error: unknown) => !isFileError(error, "ENOENT"),
    ),
  );
  return !(await Promise.all(found)).includes(true);
}

/** Throws `store_unavailable` when a memory was opened there and its folder is gone, and the errors of reading the key. */
async function openAbsentMemory(options: OpenMemoryOptions): Promise<OpenMemory> {
  const { databasePath, keyPath, driver, now = Date.now } = options;
  const { source, file: keyFile = keyPath } = (await findKey(options)) ?? { source: "none" };
  await refuseWithoutFolder(keyFile, databasePath);
  const notice = (await wasOpened(keyFile, databasePath))
    ? `There is no memory at ${databasePath}, but one was opened there before. ${IF_UNEXPECTED}`
    : `There is no memory at ${databasePath} yet. The first fact that is stored creates it.`;
  const memory = composeMemory({
    store: await openStoreInMemory({ now }),
    keepsVectors: false,
    location: { databasePath, keyPath, keySource: source, driver: driver.name },
    key: { source, made: false },
    ...(await settingsOf(options)),
  });
  const status: OpenMemory["status"] = async (subject) => ({
    ...(await memory.status(subject)),
    ...{ state: "none", notice },
  });
  return { ...memory, notice, status };
}

function anotherText(databasePath: string): string {
  return `${databasePath} is another memory than the one that was opened there before. ${IF_UNEXPECTED}`;
}

const IF_UNEXPECTED = "If you did not delete or replace that one, put it back, or restore a backup.";
