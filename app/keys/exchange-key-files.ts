/**
 * Replaces a key file by a new one, and keeps the former one beside it under its own name.
 *
 * Dangers: a kill or a power cut between two steps, and other processes that change the key at the same time. So there is always
 * a complete key file at the path, the former or the new one; the former one gets its second name before it loses the first; and
 * files are exchanged only while this change of keys can neither be finished nor followed by another.
 */
import { renameSync, statSync } from "node:fs";
import { link, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { HelmdeckError } from "../../engine/errors.ts";
import { isFileError, syncFolder } from "../../engine/private-file.ts";
import { requireKeyFile } from "../../engine/store/key-file.ts";
import { keyIdOf } from "../../engine/store/key-ring.ts";

export interface KeyFiles {
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

export async function keepFormerKey({ keyPath, formerPath }: KeyFiles, { former }: KeyIds): Promise<void> {
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
    if (statSync(newPath, { throwIfNoEntry: false })?.ino !== ino) throw changedMeanwhile(newPath);
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

function changedMeanwhile(path: string): HelmdeckError {
  return new HelmdeckError(
    "key_wrong",
    `The key file ${path} was replaced meanwhile: another process is changing the key. Run the command again.`,
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
