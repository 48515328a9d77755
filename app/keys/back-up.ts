/**
 * Makes a backup: a snapshot of the database, taken while others use it, encrypted, and verified before it counts.
 *
 * The backup does not contain the key. It is read back from disk, decrypted and checked completely; only then does it get its
 * name.
 */
import { link, lstat, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { HelmdeckError, systemCodeOf } from "../../engine/errors.ts";
import { isFileError, syncFolder } from "../../engine/private-file.ts";
import type { BackupHeader } from "../../engine/store/backup/backup-header.ts";
import { type OnBytes, openSealedFile, sealFile } from "../../engine/store/backup/sealed-file.ts";
import { findKey } from "../../engine/store/find-key.ts";
import { keyIdOf } from "../../engine/store/key-ring.ts";
import type { MasterKey } from "../../engine/store/master-key.ts";
import type { StoreFacts, StoreReport } from "../../engine/store/memory-store.ts";
import { copyDatabase } from "../../engine/store/sqlite/copy-database.ts";
import { openSqliteStoreToRead } from "../../engine/store/sqlite/open-sqlite.ts";
import type { SqliteDriver } from "../../engine/store/sqlite/sqlite-driver.ts";
import { readStoreFacts } from "../../engine/store/sqlite/store-facts.ts";
import type { OpenMemoryOptions } from "../open-memory-options.ts";
import { fillPrivate, withDrafts } from "./private-drafts.ts";
import { noteCopy } from "./store-notes.ts";

export interface BackUpOptions extends OpenMemoryOptions {
  readonly file: string;
  /** Replaces an existing file. */
  readonly replaces?: boolean;
  readonly onBytes?: OnBytes;
}

export interface BackedUp extends Omit<BackupHeader, "salt"> {
  readonly file: string;
  readonly bytes: number;
  /** Rows that do not open, in the database and so in the backup. */
  readonly unreadable: number;
}

export interface BackUpPlan extends StoreFacts {
  readonly file: string;
  readonly keyId: string;
}

/** Throws the errors of opening memory; `invalid_input` for a file that exists or is not writable. */
export async function backUp(options: BackUpOptions): Promise<BackedUp> {
  const { file, driver, databasePath, onBytes } = options;
  const { key } = await look(options);
  return withDrafts(file, async (draft) => {
    const [copy, sealed, tried] = [draft("copy"), draft("part"), draft("tried")];
    await copyDatabase(databasePath, copy, driver).catch(unlessOurs(file));
    const facts = await factsOf(copy, options, key);
    const writing = async (): Promise<void> => {
      await fillPrivate(sealed, (to) => sealFile({ from: copy, to }, { key, facts }, onBytes));
      await fillPrivate(tried, (to) => openSealedFile({ from: sealed, to }, key));
    };
    await writing().catch(unlessOurs(file));
    const { unreadable } = await tryOut(tried, { driver, key, entries: facts.entries });
    await publish(sealed, options).catch(unlessOurs(file));
    const { size } = await lstat(file);
    await noteCopy(options.keyPath, { kind: "backup", path: file, at: facts.createdAt });
    return { ...facts, keyId: keyIdOf(key), file, bytes: size, unreadable };
  });
}

/** What {@link backUp} would do. Creates nothing. */
export async function planBackUp(options: BackUpOptions): Promise<BackUpPlan> {
  const { key, facts } = await look(options);
  return { ...facts, file: options.file, keyId: keyIdOf(key) };
}

/** Opens a database just restored from a backup, and checks all of it. Throws `store_corrupt`. */
export async function tryOut(
  path: string,
  {
    driver,
    key,
    entries,
  }: { readonly driver: SqliteDriver; readonly key: MasterKey; readonly entries: number },
): Promise<StoreReport> {
  const store = await openSqliteStoreToRead({ path, key, driver });
  try {
    const report = await store.inspect();
    if (report.integrity === "ok" && report.entries === entries) return report;
  } finally {
    await store.close();
  }
  throw new HelmdeckError(
    "store_corrupt",
    "The backup was verified and does not match the database, so it was discarded. Run helmdeck-memory doctor.",
  );
}

async function look(options: BackUpOptions) {
  const { file, databasePath: path, driver, replaces } = options;
  if (!(await isThere(dirname(file))))
    throw new HelmdeckError(
      "invalid_input",
      `There is no folder ${dirname(file)}. Create it, or choose another place for the backup.`,
      { details: { field: "file", path: file } },
    );
  if (replaces !== true && (await isThere(file))) throw taken(file);
  const found = await findKey(options);
  if (found === undefined) throw nothingStored(path);
  const facts = await readStoreFacts({ path, driver, key: found.key });
  if (facts.storeId === undefined)
    throw new HelmdeckError(
      "store_unavailable",
      `The memory database ${path} was created by an older version. Migrate it with helmdeck-memory embed or any other ` +
        "command that writes, then back it up.",
      { details: { path } },
    );
  return { key: found.key, facts };
}

async function factsOf(copy: string, { driver, now = Date.now }: BackUpOptions, key: MasterKey) {
  const {
    storeId = "",
    generation,
    schemaVersion,
    entries,
  } = await readStoreFacts({ path: copy, driver, key });
  return { storeId, generation, schemaVersion, entries, createdAt: new Date(now()).toISOString() };
}

async function publish(sealed: string, { file, replaces }: BackUpOptions): Promise<void> {
  await (replaces === true ? rename : link)(sealed, file);
  await syncFolder(dirname(file));
}

function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

function unlessOurs(file: string): (error: unknown) => never {
  return (error) => {
    if (error instanceof HelmdeckError) throw error;
    if (isFileError(error, "EEXIST")) throw taken(file);
    throw new HelmdeckError(
      isFileError(error, "ENOSPC", "EDQUOT") ? "store_full" : "invalid_input",
      `The backup ${file} cannot be written (${systemCodeOf(error)}) and was removed. Making it takes about three times the ` +
        "size of the database in its folder.",
      { details: { field: "file", path: file }, cause: error },
    );
  };
}

function taken(path: string): HelmdeckError {
  return new HelmdeckError(
    "invalid_input",
    `${path} already exists and was not changed. Choose another file, or add --overwrite.`,
    { details: { field: "file", path } },
  );
}

function nothingStored(path: string): HelmdeckError {
  return new HelmdeckError(
    "store_unavailable",
    `There is no memory at ${path}: nothing has been stored yet.`,
    {
      details: { path, nothingStored: true },
    },
  );
}
