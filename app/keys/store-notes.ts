/**
 * A file beside the key with notes: the stores that were opened, the generation of each, the keys that a person has copied, and
 * where backups and exports were written and imports read, so that a person who forgets is told of them.
 *
 * Neither the database nor its backups contain it, so a database that went back in time or was emptied is detected. It holds no
 * secret. A failed write is never an error: the next opening writes it.
 */

import { randomBytes } from "node:crypto";
import { open, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import * as z from "zod/mini";
import { HelmdeckError } from "../../engine/errors.ts";
import { jsonOf } from "../../engine/json.ts";
import { isFileError, syncFolder, writeSynced } from "../../engine/private-file.ts";
import type { MemoryReader } from "../../engine/store/memory-store.ts";

const LARGEST_BYTES = 1024 * 1024;

/** What to do with a key that nobody confirmed to have copied. */
export const KEEP_A_COPY =
  "Keep a copy of the key in a safe place, apart from the database: without it nothing can be read. Then run: helmdeck-memory key saved COPY";

/** Older ones are dropped. */
export const MOST_COPIES = 200;

/** `path`: where it was last opened. `newest`: where the generation is, if an older one was opened since. */
const storeSchema = z.object({
  generation: z.int(),
  path: z.string(),
  newest: z.optional(z.string()),
});
/** A file that was written with what memory held, or from which facts were imported. `at` is in RFC 3339. */
const copySchema = z.object({
  kind: z.enum(["backup", "export", "import"]),
  path: z.string(),
  at: z.string(),
});
const notesSchema = z.object({
  version: z.literal(1),
  stores: z.record(z.string(), storeSchema),
  /** By key id: when a person confirmed a copy. RFC 3339. */
  saved_keys: z.record(z.string(), z.string()),
  /** Oldest first. */
  copies: z.optional(z.array(copySchema)),
});

export type NotedCopy = z.infer<typeof copySchema>;
export type StoreNotes = z.infer<typeof notesSchema>;

export interface NotedStore {
  readonly storeId: string;
  readonly generation: number;
  readonly path: string;
}

/** The path of the notes for this key file. */
export function notesPathOf(keyFile: string): string {
  return `${keyFile}.stores.json`;
}

/** Unreadable notes count as empty. */
export async function readNotes(keyFile: string): Promise<StoreNotes> {
  const text = await readFile(notesPathOf(keyFile), "utf8").catch(() => "");
  const parsed = notesSchema.safeParse(text.length > LARGEST_BYTES ? undefined : jsonOf(text));
  return parsed.success ? parsed.data : { version: 1, stores: {}, saved_keys: {} };
}

/** The opened store, and the key file beside which it is noted. */
export interface Opened {
  readonly keyFile: string;
  readonly storeId?: string;
  readonly generation?: number;
  /** It was opened for the first time, and another one was opened at its path before. */
  readonly isAnother?: boolean;
}

/** Notes the opened store, unless it is read-only. Never throws. */
export async function noteOpened(
  { identity }: Pick<MemoryReader, "identity">,
  {
    keyFile,
    path,
    isReadOnly,
  }: { readonly keyFile: string; readonly path: string; readonly isReadOnly: boolean },
): Promise<Opened> {
  if (identity === undefined) return { keyFile };
  const { stores } = await readNotes(keyFile);
  const isAnother = !(identity.storeId in stores) && isNoted(stores, path);
  if (!isReadOnly) await noteStore(keyFile, { ...identity, path });
  return { keyFile, ...identity, isAnother };
}

/** By then, a process that creates a database has written to it. */
const MAKING_TRIES = 100;
const MAKING_MS = 20;

/**
 * An empty file is a database that is being created; but when this key has opened a store before, it may be what is left of that
 * one, also at another path. Throws `store_corrupt`. A missing file is fine: a person removes it to start over.
 */
export async function refuseEmptied(keyFile: string, path: string): Promise<void> {
  if (!(await isEmpty(path))) return;
  const { stores } = await readNotes(keyFile);
  const [former] = Object.values(stores);
  if (former === undefined) return;
  for (let tries = 0; tries < MAKING_TRIES; tries++) {
    await delay(MAKING_MS);
    if (!(await isEmpty(path))) return;
  }
  throw new HelmdeckError(
    "store_corrupt",
    isNoted(stores, path)
      ? `The memory database ${path} is empty, but was not when it was last opened. ${RESTORE}`
      : `The memory database ${path} is empty, but its key has opened one with data, at ${former.path}. If this is a copy of that, copy it again. ${RESTORE}`,
    { details: { path } },
  );
}

const RESTORE = "Restore a backup with `helmdeck-memory restore`; to start over, delete the empty file.";

async function isEmpty(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found?.isFile() === true && found.size === 0;
}

/** A folder may be on a volume that is not mounted: a new memory in its place would hide the one there. Throws `store_unavailable`. */
export async function refuseWithoutFolder(keyFile: string, path: string): Promise<void> {
  const folder = dirname(path);
  const isGone = await stat(folder).then(
    () => false,
    (error: unknown) => isFileError(error, "ENOENT", "ENOTDIR"),
  );
  if (!isGone || !(await wasOpened(keyFile, path))) return;
  throw new HelmdeckError(
    "store_unavailable",
    `The folder ${folder} is gone, and memory was opened in it before. Mount or put it back, or restore a backup with ` +
      "`helmdeck-memory restore`; to start over with an empty memory, create the folder.",
    { details: { path } },
  );
}

/** Whether a store was opened at this path with this key. */
export async function wasOpened(keyFile: string, path: string): Promise<boolean> {
  return isNoted((await readNotes(keyFile)).stores, path);
}

function isNoted(stores: StoreNotes["stores"], path: string): boolean {
  return Object.values(stores).some((store) => store.path === path);
}

/** Never lowers a generation. Does nothing on read-only storage. */
export async function noteStore(keyFile: string, { storeId, generation, path }: NotedStore): Promise<void> {
  const { stores } = await readNotes(keyFile);
  const known = stores[storeId];
  if (known !== undefined && known.generation >= generation && known.path === path) return;
  await change(keyFile, (notes) => {
    const before = notes.stores[storeId];
    const isOld = before !== undefined && before.generation > generation;
    const now = isOld ? { ...before, newest: before.newest ?? before.path, path } : { generation, path };
    return { ...notes, stores: { ...notes.stores, [storeId]: now } };
  }).catch(() => {});
}

/** Throws the file system's errors. */
export async function noteSavedKey(keyFile: string, keyId: string, at: string): Promise<void> {
  await change(keyFile, (notes) => ({ ...notes, saved_keys: { ...notes.saved_keys, [keyId]: at } }));
}

/** Notes a backup or export that was written, or a file that was imported. Does nothing on read-only storage. */
export async function noteCopy(keyFile: string, copy: NotedCopy): Promise<void> {
  await change(keyFile, (notes) => {
    const others = (notes.copies ?? []).filter(({ path }) => path !== copy.path);
    return { ...notes, copies: [...others, copy].slice(-MOST_COPIES) };
  }).catch(() => {});
}

/** A change takes milliseconds, so an older lock is of a process that was killed. */
const STALE_LOCK_MS = 2_000;
const LOCK_RETRY_MS = 10;

/** One change at a time, of all processes: each begins with the notes that the former one wrote. */
async function change(keyFile: string, changed: (notes: StoreNotes) => StoreNotes): Promise<void> {
  const lock = `${notesPathOf(keyFile)}.lock`;
  while (!(await isAcquired(lock))) await delay(LOCK_RETRY_MS);
  try {
    await write(keyFile, changed(await readNotes(keyFile)));
  } finally {
    await rm(lock, { force: true }).catch(() => undefined);
  }
}

async function isAcquired(lock: string): Promise<boolean> {
  try {
    await (await open(lock, "wx", 0o600)).close();
    return true;
  } catch (error) {
    if (!isFileError(error, "EEXIST")) throw error;
  }
  const since = (await stat(lock).catch(() => undefined))?.mtimeMs;
  if (since !== undefined && Math.abs(Date.now() - since) > STALE_LOCK_MS) await rm(lock, { force: true });
  return false;
}

async function write(keyFile: string, notes: StoreNotes): Promise<void> {
  const path = notesPathOf(keyFile);
  const draft = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    await writeSynced(draft, Buffer.from(`${JSON.stringify(notes, undefined, 2)}\n`));
    await rename(draft, path);
    await syncFolder(dirname(path));
  } finally {
    await rm(draft, { force: true }).catch(() => undefined);
  }
}
