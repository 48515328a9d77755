/**
 * Changes the key: creates or adopts a new one, reseals everything under it, and replaces the former one, which stays beside it
 * under its own name.
 *
 * During the change both keys open the database, so it can be interrupted anywhere: either key opens everything, and the next run
 * continues. If the key is kept outside of our files (an environment, a SecretRef, a command), we cannot write it: a person puts
 * the new key in place, and {@link finishRotation} ends the change.
 *
 * Dangers: a kill or a power cut between two steps, and other processes that change the key at the same time. So there is always
 * a complete key file at the path, the former or the new one; the former one gets its second name before it loses the first; and
 * files are exchanged only while this change of keys can neither be finished nor followed by another.
 */
import { renameSync, statSync } from "node:fs";
import { link, realpath, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { defined } from "../../engine/defined.ts";
import { type ErrorCode, HelmdeckError, isHelmdeckError } from "../../engine/errors.ts";
import { isFileError, syncFolder } from "../../engine/private-file.ts";
import { findKey, type LoadedKey } from "../../engine/store/find-key.ts";
import type { KeyChangingStore, ResealProgress } from "../../engine/store/key-change.ts";
import { makeKeyFile, readKeyFile, requireKeyFile } from "../../engine/store/key-file.ts";
import { keyIdOf } from "../../engine/store/key-ring.ts";
import type { MasterKey } from "../../engine/store/master-key.ts";
import type { StoreFacts } from "../../engine/store/memory-store.ts";
import { openSqliteStoreToChangeKey } from "../../engine/store/sqlite/open-sqlite.ts";
import { readStoreFacts } from "../../engine/store/sqlite/store-facts.ts";
import { requireServerKey } from "../database-server/server-key.ts";
import type { OpenMemoryOptions } from "../open-memory-options.ts";

interface RotateKeyOptions extends OpenMemoryOptions {
  /** The file of the new key, created if missing: for a key that is not in our own file. */
  readonly newKeyPath?: string;
  readonly onStep?: (step: RotationStep) => void;
  readonly onProgress?: (progress: ResealProgress) => void;
}

/** Completed steps. */
type RotationStep = "key made" | "begun" | "sealed anew" | "former key kept" | "new key placed" | "finished";

export interface Rotation {
  /** By key id. */
  readonly from: string;
  readonly to: string;
  /** `both_open`: until the new key is in place and {@link finishRotation} has run. */
  readonly state: "finished" | "both_open";
  /** Rows that did not open before and are unchanged. */
  readonly unreadable?: number;
  readonly erased?: "complete" | "pending";
  /** The path of the new key. */
  readonly keyPath?: string;
  readonly formerKeyPath?: string;
}

export interface RotationPlan extends StoreFacts {
  readonly keySource: string;
  readonly from: string;
  /** Absent until one is created. */
  readonly to?: string;
  /** The file for the new key. */
  readonly keyPath?: string;
  readonly formerKeyPath?: string;
}

interface AtHand {
  readonly found: LoadedKey;
  readonly facts: StoreFacts;
  /** By id; the current key when no change has begun. */
  readonly former: string;
  /** Absent when no change has begun. */
  readonly current?: string;
}

/** Throws `store_locked` when another process changes the key at the same time and is ahead. */
export async function rotateKey(options: RotateKeyOptions): Promise<Rotation> {
  const atHand = await look(options);
  const { newKeyPath } = options;
  const rotating =
    newKeyPath === undefined ? rotateFile(options, atHand) : sealUnder(options, atHand, newKeyPath);
  return rotating.catch(async (error: unknown) => {
    throw (await overtaken(error, options, atHand)) ?? error;
  });
}

/** Drops the former key; requires the new one. */
export async function finishRotation(options: RotateKeyOptions): Promise<Rotation> {
  const { found, former, current } = await look(options);
  if (current === undefined)
    throw new HelmdeckError("invalid_input", "There is nothing to finish: no change of the key has begun.", {
      details: { field: "finish" },
    });
  if (keyIdOf(found.key) !== current)
    throw new HelmdeckError(
      "key_wrong",
      `The configured key (from ${found.source}) is still the former one, ${former}. Replace it with the new one, ${current}, and run ` +
        "this command again; until then both open the memory database.",
      { details: { former, current } },
    );
  return endWith(options, found, { to: current });
}

/** What {@link rotateKey} would do. Creates nothing. */
export async function planRotation(options: RotateKeyOptions): Promise<RotationPlan> {
  const { found, facts, former, current } = await look(options);
  const files = options.newKeyPath === undefined ? await filesOf(found, former) : undefined;
  const keyPath = files?.keyPath ?? options.newKeyPath;
  return {
    ...facts,
    ...{ keySource: found.source, from: former },
    ...defined({ to: current, keyPath, formerKeyPath: files?.formerPath }),
  };
}

async function look(options: RotateKeyOptions): Promise<AtHand> {
  const { databasePath: path, driver, server } = options;
  const found = server === undefined ? await findKey(options) : await requireServerKey(options);
  if (found === undefined) throw nothingStored(path);
  const { key } = found;
  const facts = await (server === undefined ? readStoreFacts({ path, driver, key }) : server.look(key));
  const { current = keyIdOf(found.key), former } = facts.keys ?? {};
  return former === undefined ? { found, facts, former: current } : { found, facts, former, current };
}

async function filesOf({ file, source }: LoadedKey, former: string): Promise<KeyFiles> {
  if (file === undefined)
    throw new HelmdeckError(
      "invalid_input",
      `The key comes from ${source}, which only you can change. Give --new-key-file FILE: everything is re-encrypted with the key in it ` +
        "(the file is created if it does not exist). Then put that key in place, and run `rotate-key --finish`.",
      { details: { field: "new_key_file" } },
    );
  const keyPath = await realpath(file); // a symbolic link stays, and points to the new key
  return { keyPath, newPath: `${keyPath}.new`, formerPath: `${keyPath}.former-${former}` };
}

async function rotateFile(options: RotateKeyOptions, atHand: AtHand): Promise<Rotation> {
  const { found, former, current } = atHand;
  const files = await filesOf(found, former);
  const paths = { keyPath: files.keyPath, formerKeyPath: files.formerPath };
  if (current === keyIdOf(found.key))
    return { ...(await endWith(options, found, { to: current })), ...paths };
  const key =
    current === undefined ? (await makeKeyFile(files.newPath)).key : await keyBegunWith(files, current);
  options.onStep?.("key made");
  return withStore(options, found, async (store) => {
    await sealAllUnder(store, key, options);
    const ids = { former, current: keyIdOf(key) };
    await keepFormerKey(files, ids);
    options.onStep?.("former key kept");
    await placeNewKey(files, ids, (exchange) => store.exchangeKeys(exchange));
    options.onStep?.("new key placed");
    const report = await store.finishKeyChange();
    options.onStep?.("finished");
    return { ...report, from: former, state: "finished", ...paths };
  });
}

async function keyBegunWith({ newPath }: KeyFiles, current: string) {
  const key = await readKeyFile(newPath).catch((cause: unknown) => {
    throw newKeyGone(newPath, current, cause);
  });
  if (keyIdOf(key) !== current) throw newKeyGone(newPath, current);
  return key;
}

async function sealUnder(
  options: RotateKeyOptions,
  { found, former }: AtHand,
  path: string,
): Promise<Rotation> {
  const { key } = await makeKeyFile(path);
  options.onStep?.("key made");
  return withStore(options, found, async (store) => {
    await sealAllUnder(store, key, options);
    return { from: former, to: keyIdOf(key), state: "both_open", keyPath: path };
  });
}

async function sealAllUnder(
  store: KeyChangingStore,
  key: MasterKey,
  { onStep, onProgress }: RotateKeyOptions,
): Promise<void> {
  await store.beginKeyChange(key);
  onStep?.("begun");
  await store.reseal(defined({ onProgress }));
  onStep?.("sealed anew");
}

async function endWith(
  options: RotateKeyOptions,
  found: LoadedKey,
  { to }: { readonly to: string },
): Promise<Rotation> {
  return withStore(options, found, async (store) => {
    await store.reseal(defined({ onProgress: options.onProgress }));
    const report = await store.finishKeyChange();
    options.onStep?.("finished");
    return { ...report, to, state: "finished" };
  });
}

async function withStore<T>(
  { databasePath: path, driver, now, server }: RotateKeyOptions,
  { key }: LoadedKey,
  work: (store: KeyChangingStore) => Promise<T>,
): Promise<T> {
  const store = await (server === undefined
    ? openSqliteStoreToChangeKey({ path, key, driver, ...defined({ now }) })
    : server.openToChangeKey(key));
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** Another change takes away the new key's file, or the former key, that this one needs. */
const OF_ANOTHER_CHANGE: readonly ErrorCode[] = ["key_missing", "key_wrong", "invalid_input"];

async function overtaken(
  error: unknown,
  options: RotateKeyOptions,
  { found }: AtHand,
): Promise<HelmdeckError | undefined> {
  if (!isHelmdeckError(error) || !OF_ANOTHER_CHANGE.includes(error.code)) return undefined;
  const now = await look(options).catch(() => undefined);
  if (now === undefined || keyIdOf(now.found.key) === keyIdOf(found.key)) return undefined;
  const said =
    now.current === undefined
      ? `Another process has changed the key meanwhile: it is now ${now.former}. There is nothing left to do.`
      : `Another process is changing the key to ${now.current}. If doctor later says that the change is unfinished, run the command again.`;
  return new HelmdeckError("store_locked", said, { cause: error });
}

function nothingStored(path: string): HelmdeckError {
  return new HelmdeckError(
    "store_unavailable",
    `There is no memory at ${path} and no key: nothing has been stored yet, so there is nothing to re-encrypt.`,
    { details: { path, nothingStored: true } },
  );
}

function newKeyGone(path: string, current: string, cause?: unknown): HelmdeckError {
  return new HelmdeckError(
    "key_missing",
    `A change to the key ${current} has begun, but ${path} does not hold that key. Put it back, or give its file ` +
      "with --new-key-file. Until then both keys open the memory database.",
    { details: { path, current }, cause },
  );
}

interface KeyFiles {
  readonly keyPath: string;
  readonly newPath: string;
  /** `<key file>.former-<key id>`. */
  readonly formerPath: string;
}

/** The expected keys of the files, by id. */
interface KeyIds {
  readonly former: string;
  readonly current: string;
}

async function keepFormerKey({ keyPath, formerPath }: KeyFiles, { former }: KeyIds): Promise<void> {
  await link(keyPath, formerPath).catch((error: unknown) => {
    if (!isFileError(error, "EEXIST")) throw unwritable(formerPath, error);
  });
  await syncFolder(dirname(formerPath));
  await requireKey(formerPath, former);
}

/** `whilePending` runs the work while nobody else can finish this change or begin another one. */
export async function placeNewKey(
  { keyPath, newPath }: KeyFiles,
  { current }: KeyIds,
  whilePending: (exchange: () => void) => Promise<void>,
): Promise<void> {
  const { ino } = await stat(newPath).catch(() => ({ ino: undefined }));
  await requireKey(newPath, current);
  await whilePending(() => {
    // A key file is never rewritten, so the same file holds the same key.
    if (statSync(newPath, { throwIfNoEntry: false })?.ino !== ino)
      throw new HelmdeckError(
        "key_wrong",
        `The key file ${newPath} was replaced meanwhile: another process is changing the key. Run the command again.`,
        { details: { path: newPath } },
      );
    try {
      renameSync(newPath, keyPath);
    } catch (error) {
      throw unwritable(keyPath, error);
    }
  });
  await syncFolder(dirname(keyPath));
  await requireKey(keyPath, current);
}

async function requireKey(path: string, id: string): Promise<void> {
  const found = keyIdOf((await requireKeyFile(path)).key);
  if (found === id) return;
  throw new HelmdeckError(
    "key_wrong",
    `The key file ${path} holds the key ${found} instead of ${id}: another process is changing the key. Run the command again.`,
    { details: { path } },
  );
}

function unwritable(path: string, cause: unknown): HelmdeckError {
  return new HelmdeckError(
    "store_readonly",
    `The key file ${path} cannot be written, so both keys open the memory database. Make its folder writable and run the command ` +
      "again, or put the new key in place and run `rotate-key --finish`.",
    { details: { path }, cause },
  );
}
