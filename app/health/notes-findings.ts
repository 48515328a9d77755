/** Doctor's findings from the notes beside the key: a database that went back in time, and whether the key has a copy. */
import type { StoreReport } from "../../engine/store/memory-store.ts";
import { type Opened, readNotes, type StoreNotes } from "../keys/store-notes.ts";
import type { Finding } from "../memory.ts";

/** When a person confirmed a copy of the current key; undefined when nobody did. */
export async function savedKeyOf(
  { keys }: StoreReport,
  notes: Opened | undefined,
): Promise<string | undefined> {
  if (keys === undefined || notes === undefined) return undefined;
  return (await readNotes(notes.keyFile)).saved_keys[keys.current];
}

export async function oldCopyFindings(
  notes: Opened | undefined,
  databasePath: string,
): Promise<readonly Finding[]> {
  if (notes?.storeId === undefined || notes.generation === undefined) return [];
  const { stores } = await readNotes(notes.keyFile);
  const noted = stores[notes.storeId]?.generation ?? 0;
  if (notes.generation >= noted) return formerStoreFindings(stores, notes.storeId, databasePath);
  return [
    {
      level: "warning",
      check: "database",
      message: `An old copy of the database was put in its place by hand. It has generation ${notes.generation}, and ${noted} was in use. Facts stored in between are missing, and facts forgotten in between may be back.`,
      remedy:
        "Put the newer copy back. If you want the old one: helmdeck-memory backup FILE, then helmdeck-memory restore FILE.",
    },
  ];
}

function formerStoreFindings(
  stores: StoreNotes["stores"],
  storeId: string,
  databasePath: string,
): readonly Finding[] {
  const isFormer = ([id, { path }]: [string, { path: string }]) => id !== storeId && path === databasePath;
  if (!Object.entries(stores).some(isFormer)) return [];
  const message = `Another memory was opened at ${databasePath} before this one. If you miss facts, restore its backup.`;
  return [{ level: "ok", check: "database", message }];
}
