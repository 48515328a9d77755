/**
 * Changing the key: a new one is made or taken, everything is sealed anew under it, and it takes the former one's place.
 *
 * From its beginning to its end both keys open the database, so that it can be interrupted anywhere: whichever of them is in
 * place opens everything, and the next run goes on where this one was. What holds the key outside of our files (an environment,
 * a SecretRef, a command) we cannot write: there a person puts the new key in place, and {@link finishRotation} ends it.
 */
import { realpath } from "node:fs/promises";
import {
  defined,
  findKey,
  HelmdeckError,
  keyIdOf,
  type LoadedKey,
  lookAtStore,
  type MasterKey,
  makeKeyFile,
  openSqliteStoreToChangeKey,
  type ResealProgress,
  readKeyFile,
  type StoreFacts,
} from "../../engine/index.ts";
import type { OpenMemoryOptions } from "../open-memory-options.ts";
import { type KeyFiles, keepFormerKey, placeNewKey } from "./exchange-key-files.ts";

export interface RotateKeyOptions extends OpenMemoryOptions {
  /** The file of the new key, made if it is not there: for a key that is not in a file of ours. */
  readonly newKeyPath?: string;
  readonly onStep?: (step: RotationStep) => void;
  readonly onProgress?: (progress: ResealProgress) => void;
}

type KeyChangingStore = Awaited<ReturnType<typeof openSqliteStoreToChangeKey>>;

/** What has been done. */
type RotationStep = "key made" | "begun" | "sealed anew" | "former key kept" | "new key placed" | "finished";

export interface Rotation {
  /** By key id. */
  readonly from: string;
  readonly to: string;
  /** `both_open`: until the new key is in place and {@link finishRotation} has run. */
  readonly state: "finished" | "both_open";
  /** Rows that did not open before, and so are as they were. */
  readonly unreadable?: number;
  readonly erased?: "complete" | "pending";
  /** Where the new key is. */
  readonly keyPath?: string;
  readonly formerKeyPath?: string;
}

export interface RotationPlan extends StoreFacts {
  readonly keySource: string;
  readonly from: string;
  /** Absent while none is made. */
  readonly to?: string;
  /** The file that will hold the new key. */
  readonly keyPath?: string;
  readonly formerKeyPath?: string;
}

interface AtHand {
  readonly found: LoadedKey;
  readonly facts: StoreFacts;
  /** By id: the one in use when no change has begun. */
  readonly former: string;
  /** Absent when no change has begun. */
  readonly current?: string;
}

export async function rotateKey(options: RotateKeyOptions): Promise<Rotation> {
  const atHand = await look(options);
  return options.newKeyPath === undefined
    ? rotateFile(options, atHand)
    : sealUnder(options, atHand, options.newKeyPath);
}

/** The former key goes: only when the new one is at hand. */
export async function finishRotation(options: RotateKeyOptions): Promise<Rotation> {
  const { found, former, current } = await look(options);
  if (current === undefined) throw nothingBegun();
  if (keyIdOf(found.key) !== current) throw stillTheFormer(found.source, former, current);
  return endWith(options, found, { to: current });
}

/** What {@link rotateKey} would do. Makes nothing. */
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
  const { databasePath: path, driver } = options;
  const found = await findKey(options);
  if (found === undefined) throw nothingStored(path);
  const facts = await lookAtStore({ path, driver, key: found.key });
  const { current = keyIdOf(found.key), former } = facts.keys ?? {};
  return former === undefined ? { found, facts, former: current } : { found, facts, former, current };
}

async function filesOf({ file, source }: LoadedKey, former: string): Promise<KeyFiles> {
  if (file === undefined) throw notInFile(source);
  const keyPath = await realpath(file); // a link stays, and leads to the new key
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
  await store.sealAnew(defined({ onProgress }));
  onStep?.("sealed anew");
}

async function endWith(
  options: RotateKeyOptions,
  found: LoadedKey,
  { to }: { readonly to: string },
): Promise<Rotation> {
  return withStore(options, found, async (store) => {
    await store.sealAnew(defined({ onProgress: options.onProgress }));
    const report = await store.finishKeyChange();
    options.onStep?.("finished");
    return { ...report, to, state: "finished" };
  });
}

async function withStore<T>(
  { databasePath: path, driver, now }: RotateKeyOptions,
  { key }: LoadedKey,
  work: (store: KeyChangingStore) => Promise<T>,
): Promise<T> {
  const store = await openSqliteStoreToChangeKey({ path, key, driver, ...defined({ now }) });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

function nothingStored(path: string): HelmdeckError {
  return new HelmdeckError(
    "store_unavailable",
    `There is no memory at ${path} and no key: nothing has been stored yet, so there is nothing to seal anew.`,
    { details: { path, nothingStored: true } },
  );
}

function notInFile(source: string): HelmdeckError {
  return new HelmdeckError(
    "invalid_input",
    `The key comes from ${source}, which only you can change. Give --new-key-file FILE: everything is sealed under the key in it ` +
      "(one is made if there is no such file); then put that key in place, and run `rotate-key --finish`.",
    { details: { field: "new_key_file" } },
  );
}

function nothingBegun(): HelmdeckError {
  return new HelmdeckError(
    "invalid_input",
    "No change of the key has begun, so there is nothing to finish: one key alone opens the memory database.",
    { details: { field: "finish" } },
  );
}

function stillTheFormer(source: string, former: string, current: string): HelmdeckError {
  return new HelmdeckError(
    "key_wrong",
    `The key at hand (from ${source}) is still the former one, ${former}. Put the new one, ${current}, in its place, and run ` +
      "this again; until then both open the memory database.",
    { details: { former, current } },
  );
}

function newKeyGone(path: string, current: string, cause?: unknown): HelmdeckError {
  return new HelmdeckError(
    "key_missing",
    `A change to the key ${current} has begun, and ${path} does not hold that key. Put it back, or name the file that holds it ` +
      "with --new-key-file. Until then both keys open the memory database.",
    { details: { path, current }, cause },
  );
}
