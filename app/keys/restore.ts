/**
 * Restores a backup: to an empty location, or over a database that nobody has open.
 *
 * Everything is created and verified beside the database before anything is changed. The old database is kept under another name.
 * The generation is raised above every known one, so that readers of the old store start over.
 */
import { link, lstat, open, realpath, rename } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { defined } from "../../engine/defined.ts";
import { asHelmdeckError, HelmdeckError } from "../../engine/errors.ts";
import { isFileError, makePrivateFolder, syncFolder } from "../../engine/private-file.ts";
import type { BackupHeader } from "../../engine/store/backup/backup-header.ts";
import { type OnBytes, openSealedFile, readBackupHeader } from "../../engine/store/backup/sealed-file.ts";
import { findKey, type LoadedKey } from "../../engine/store/find-key.ts";
import { keyIdOf } from "../../engine/store/key-ring.ts";
import { setGeneration, whileAlone } from "../../engine/store/sqlite/copy-database.ts";
import { requireOwnDatabase } from "../../engine/store/sqlite/open-sqlite.ts";
import { readStoreFacts } from "../../engine/store/sqlite/store-facts.ts";
import type { OpenMemoryOptions } from "../open-memory-options.ts";
import { tryOut } from "./back-up.ts";
import { fillPrivate, withDrafts } from "./private-drafts.ts";
import { noteStore, readNotes } from "./store-notes.ts";

export interface RestoreOptions extends OpenMemoryOptions {
  readonly file: string;
  readonly onBytes?: OnBytes;
}

export interface RestorePlan extends Omit<BackupHeader, "salt"> {
  readonly databasePath: string;
  /** The current database, absent at an empty location. */
  readonly replaces?: { readonly storeId?: string; readonly generation: number };
}

export interface Restored extends RestorePlan {
  /** Of the restored database. */
  readonly generation: number;
  readonly unreadable: number;
  /** The new path of the old database. */
  readonly keptAs?: string;
}

/**
 * @throws `key_missing`, `key_wrong` with the id of the required key; `store_locked` while somebody has the database open;
 * `store_corrupt` for an incomplete backup, and for a damaged database, which a person must move away.
 */
export async function restore(options: RestoreOptions): Promise<Restored> {
  const { found, header, current, target } = await look(options);
  const { driver, onBytes } = options;
  await makePrivateFolder(dirname(target));
  return withDrafts(target, async (draft) => {
    const made = draft("restored");
    await fillPrivate(made, (to) => openSealedFile({ from: options.file, to }, found.key, onBytes));
    const { unreadable } = await tryOut(made, { driver, key: found.key, entries: header.entries });
    const generation = 1 + (await highestGeneration(options, found, header, current?.generation));
    await setGeneration(made, generation, driver);
    await sync(made);
    const keptAs = await putInPlace(made, target, options, current !== undefined);
    await noteStore(notesKey(options, found), { storeId: header.storeId, generation, path: target });
    return { ...planOf(header, target, current), generation, unreadable, ...defined({ keptAs }) };
  });
}

/** What {@link restore} would do. Creates nothing; does not check whether somebody has the database open. */
export async function planRestore(options: RestoreOptions): Promise<RestorePlan> {
  const { header, current, target } = await look(options);
  return planOf(header, target, current);
}

function planOf(
  { salt: _, ...header }: BackupHeader,
  databasePath: string,
  replaces: RestorePlan["replaces"],
): RestorePlan {
  return { ...header, databasePath, ...defined({ replaces }) };
}

async function look(options: RestoreOptions) {
  const header = await readBackupHeader(options.file);
  const found = await findKey(options);
  if (found === undefined)
    throw new HelmdeckError(
      "key_missing",
      `The backup ${options.file} needs the key ${header.keyId}, but no key was found. Put your copy of that key at ${options.keyPath} (mode 0600), or ` +
        "set HELMDECK_MEMORY_KEY_FILE to its path.",
      { details: { path: options.file, needed: header.keyId } },
    );
  if (keyIdOf(found.key) !== header.keyId) throw otherKey(found, header.keyId);
  const target = await realpath(options.databasePath).catch(() => options.databasePath);
  await requireOwnDatabase(target, options.driver);
  return { found, header, target, current: await currentAt(target, options) };
}

/** Undefined when there is nothing, or an empty file. */
async function currentAt(path: string, { driver }: RestoreOptions): Promise<RestorePlan["replaces"]> {
  const [file, log] = await Promise.all([sizeOf(path), sizeOf(`${path}-wal`)]);
  if (file === undefined && log === undefined) return undefined;
  if (file === undefined)
    throw new HelmdeckError(
      "store_corrupt",
      `The memory database ${path} is missing, but its log ${path}-wal still holds data. Move the log away first.`,
      { details: { path } },
    );
  try {
    const { storeId, generation } = await readStoreFacts({ path, driver });
    return { generation, ...defined({ storeId }) };
  } catch (error) {
    const { code, details } = asHelmdeckError(error);
    if (code === "store_unavailable" && details.nothingStored === true) return { generation: 0 };
    throw code === "store_corrupt" ? damaged(path, error) : error;
  }
}

async function highestGeneration(
  options: RestoreOptions,
  found: LoadedKey,
  { storeId, generation }: BackupHeader,
  current = 0,
): Promise<number> {
  const noted = (await readNotes(notesKey(options, found))).stores[storeId]?.generation ?? 0;
  return Math.max(generation, current, noted);
}

function notesKey({ keyPath }: RestoreOptions, { file }: LoadedKey): string {
  return file ?? keyPath;
}

/** Returns the new path of the old database. */
async function putInPlace(
  made: string,
  target: string,
  { driver, now = Date.now }: RestoreOptions,
  isThere: boolean,
): Promise<string | undefined> {
  if (!isThere) {
    await link(made, target).catch((error: unknown) => {
      throw isFileError(error, "EEXIST") ? justMade(target) : error;
    });
    await syncFolder(dirname(target));
    return undefined;
  }
  const stamp = new Date(now()).toISOString().replaceAll(/[-:.]/g, "");
  const keptAs = join(dirname(target), `${basename(target)}.before-restore-${stamp}`);
  await whileAlone(target, driver, async () => {
    await link(target, keptAs);
    await rename(made, target);
    await syncFolder(dirname(target));
  });
  return keptAs;
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, "r+");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function sizeOf(path: string): Promise<number | undefined> {
  return lstat(path).then(
    ({ size }) => size,
    () => undefined,
  );
}

function otherKey({ key, source }: LoadedKey, needed: string): HelmdeckError {
  const found = keyIdOf(key);
  return new HelmdeckError(
    "key_wrong",
    `The backup needs the key ${needed}, but the configured key (from ${source}) is ${found}. Set HELMDECK_MEMORY_KEY_FILE ` +
      "to the file of that key; nothing was changed.",
    { details: { needed, found } },
  );
}

function damaged(path: string, cause: unknown): HelmdeckError {
  return new HelmdeckError(
    "store_corrupt",
    `The memory database ${path} is damaged, so it is unknown whether somebody has it open. Stop every process that uses it, ` +
      "move it aside with its -wal and -shm files, and restore to the empty location.",
    { details: { path }, cause },
  );
}

function justMade(path: string): HelmdeckError {
  return new HelmdeckError(
    "store_locked",
    `Another process created the memory database ${path} meanwhile; it was not changed. Try again.`,
    { details: { path } },
  );
}
