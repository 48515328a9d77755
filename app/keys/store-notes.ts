/**
 * A file beside the key with notes: the stores that were opened, the generation of each, and the keys that a person has copied.
 *
 * Neither the database nor its backups contain it, so a database that went back in time or was emptied is detected. It holds no
 * secret. A failed write is never an error: the next opening writes it.
 */
import { randomBytes } from "node:crypto";
import { open, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import * as z from "zod/mini";
import { HelmdeckError, type MemoryReader, syncFolder } from "../../engine/index.ts";

const LARGEST_BYTES = 1024 * 1024;

const storeSchema = z.object({ generation: z.int(), path: z.string() });
const notesSchema = z.object({
  version: z.literal(1),
  stores: z.record(z.string(), storeSchema),
  /** By key id: when a person confirmed a copy. RFC 3339. */
  saved_keys: z.record(z.string(), z.string()),
});

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
  if (!isReadOnly) await noteStore(keyFile, { ...identity, path });
  return { keyFile, ...identity };
}

/** By then, a process that creates a database has written to it. */
const MAKING_TRIES = 25;
const MAKING_MS = 20;

/**
 * An empty file is a database that is being created; but when a store was opened at this path before, it was emptied. Throws
 * `store_corrupt`. A missing file is fine: a person removes it to start over.
 */
export async function refuseEmptied(keyFile: string, path: string): Promise<void> {
  if (!(await isEmpty(path)) || !(await wasOpened(keyFile, path))) return;
  for (let tries = 0; tries < MAKING_TRIES; tries++) {
    await delay(MAKING_MS);
    if (!(await isEmpty(path))) return;
  }
  throw new HelmdeckError(
    "store_corrupt",
    `The memory database ${path} is empty, but was not when it was last opened. Restore a backup with ` +
      "`helmdeck-memory restore`; to start over, delete the empty file.",
    { details: { path } },
  );
}

async function isEmpty(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.size === 0;
}

async function wasOpened(keyFile: string, path: string): Promise<boolean> {
  const { stores } = await readNotes(keyFile);
  return Object.values(stores).some((store) => store.path === path);
}

/** Never lowers a generation. Does nothing on read-only storage. */
export async function noteStore(keyFile: string, { storeId, generation, path }: NotedStore): Promise<void> {
  const notes = await readNotes(keyFile);
  const noted = notes.stores[storeId];
  if (noted !== undefined && noted.generation >= generation && noted.path === path) return;
  const now = { generation: Math.max(generation, noted?.generation ?? 0), path };
  await write(keyFile, { ...notes, stores: { ...notes.stores, [storeId]: now } }).catch(() => {});
}

/** Throws the file system's errors. */
export async function noteSavedKey(keyFile: string, keyId: string, at: string): Promise<void> {
  const notes = await readNotes(keyFile);
  await write(keyFile, { ...notes, saved_keys: { ...notes.saved_keys, [keyId]: at } });
}

async function write(keyFile: string, notes: StoreNotes): Promise<void> {
  const path = notesPathOf(keyFile);
  const draft = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    const handle = await open(draft, "wx", 0o600);
    try {
      await handle.writeFile(`${JSON.stringify(notes, undefined, 2)}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, path);
    await syncFolder(dirname(path));
  } finally {
    await rm(draft, { force: true }).catch(() => undefined);
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
