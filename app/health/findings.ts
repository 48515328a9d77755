/** Doctor's finding about facts that were stored while a clock was far ahead: they live longer than they should. */

import { readdir } from "node:fs/promises";
import { basename, dirname, isAbsolute, join } from "node:path";
import { FACT_LIMITS } from "../../engine/facts/facts-policy.ts";
import { pagesOf } from "../../engine/pages-of.ts";
import type { EntryMeta, MemoryStore, StoreReport, UnixMs } from "../../engine/store/memory-store.ts";
import { type Opened, readNotes } from "../keys/store-notes.ts";
import type { Finding } from "../memory.ts";
import { fileFacts } from "./private-files.ts";

const PAGE_ROWS = 1_000;
/** Clocks of several machines may differ. */
const SLACK_MS = 86_400_000;
const LONGEST_LIFE_MS = FACT_LIMITS.mostTtlSeconds * 1_000;

/** Only reports: when this machine's clock is the wrong one, an earlier end would delete what is meant to stay. */
export async function lifetimeFindings(store: MemoryStore): Promise<readonly Finding[]> {
  let far = 0;
  for (const { namespace } of await store.namespaces()) {
    const query = { namespace, origin: "fact", limit: PAGE_ROWS } as const;
    for await (const { entries } of pagesOf((more) => store.listMeta({ ...query, ...more })))
      far += entries.filter((fact) => isFar(fact, store.now())).length;
  }
  if (far === 0) return [];
  return [
    {
      level: "warning",
      check: "lifetime",
      message: `${far === 1 ? "1 fact was" : `${far} facts were`} stored after today, or would stay for more than 365 days: a clock was far ahead then, or this machine's is behind now.`,
      remedy:
        "Check this machine's clock. If it is right, list shows these facts first or with their late end: helmdeck-memory renew KEY --ttl 90d sets the end, and storing a fact again with --ttl 90d the time, too.",
    },
  ];
}

function isFar({ updatedAt, expiresAt = updatedAt }: EntryMeta, now: UnixMs): boolean {
  return updatedAt > now + SLACK_MS || expiresAt > now + LONGEST_LIFE_MS + SLACK_MS;
}

/**
 * Doctor's findings from the notes beside the key: a database that went back in time, and whether the key has a copy.
 *
 * When a person confirmed a copy of the current key; undefined when nobody did.
 */
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
  const noted = stores[notes.storeId];
  if (noted === undefined || notes.generation >= noted.generation) {
    const isFormer = ([id, { path }]: [string, { path: string }]) =>
      id !== notes.storeId && path === databasePath;
    if (!Object.entries(stores).some(isFormer)) return [];
    const message = `Another memory was opened at ${databasePath} before this one. If you miss facts, restore its backup.`;
    return [{ level: "ok", check: "database", message }];
  }
  const { newest = databasePath } = noted;
  if (newest !== databasePath) return [await twinFinding(newest)];
  return [
    {
      level: "warning",
      check: "database",
      message: `This may be an old copy of the database: it has generation ${notes.generation}, and ${noted.generation} was in use. Then facts stored in between are missing, and facts forgotten in between are back.`,
      remedy:
        "Put the newer copy back. If you want the old one: helmdeck-memory backup FILE, then helmdeck-memory restore FILE.",
    },
  ];
}

/** Neither is an old copy of the other: each has what was stored in it. `newest`: a file, or a database on a server. */
async function twinFinding(newest: string): Promise<Finding> {
  const check = "database";
  if (isAbsolute(newest) && (await fileFacts(newest)).kind === "absent") {
    const message = `A backup of this memory was restored to ${newest}, and is no longer there.`;
    return { level: "ok", check, message };
  }
  return {
    level: "warning",
    check,
    message: `This memory is also in ${newest}, restored from a backup or moved. What is stored, corrected or forgotten in one is not in the other.`,
    remedy: "Use one of them. Delete the other when you no longer need it: it keeps what you forget.",
  };
}

/** Doctor's findings about keys, by their ids: an unfinished change of keys, and a former key that was not destroyed. */
export async function rotationFindings(
  { keys }: StoreReport,
  file: string | undefined,
): Promise<readonly Finding[]> {
  if (keys === undefined) return [];
  return [
    keys.former === undefined
      ? { level: "ok", check: "key", message: `The key in use is ${keys.current}.` }
      : unfinished(keys.former, keys.current),
    ...(await formerFiles(file)),
  ];
}

function unfinished(former: string, current: string): Finding {
  return {
    level: "warning",
    check: "key",
    message: `The key is being changed from ${former} to ${current}. The change is not finished, and both keys open everything.`,
    remedy: "Run helmdeck-memory rotate-key again. If you keep the key elsewhere, add --finish.",
  };
}

async function formerFiles(file: string | undefined): Promise<readonly Finding[]> {
  if (file === undefined) return [];
  const folder = dirname(file);
  const names = await readdir(folder).catch(() => []);
  const former = names.filter((name) => name.startsWith(`${basename(file)}.former-`)).sort();
  return former.map((name) => ({
    level: "warning",
    check: "key",
    message: `A former key is still in ${join(folder, name)}. It can still open older backups.`,
    remedy: "Make a new backup, then destroy that key and every copy of it.",
  }));
}
