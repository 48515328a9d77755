/**
 * Putting a new key file in the place of the former one, which stays beside it under a name of its own.
 *
 * Who attacks: a kill or a power cut between two steps, and other processes that change the key at the same time. What stops them: at
 * every moment there is a whole key file at the path, the former one or the new one, and the former one has its other name before it
 * loses this one; and files are exchanged only while the change that they belong to can be neither finished nor followed by another.
 */
import { renameSync, statSync } from "node:fs";
import { link, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { HelmdeckError, isFileError, keyIdOf, requireKeyFile, syncFolder } from "../../engine/index.ts";

export interface KeyFiles {
  readonly keyPath: string;
  readonly newPath: string;
  /** `<key file>.former-<key id>`. */
  readonly formerPath: string;
}

/** By id, what must be in the files. */
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

/** `whilePending` does the work while nobody else can finish this change, nor begin another one. */
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
    `The key file ${path} holds the key ${found}, and ${id} was expected: another process changes the key too. Run it again.`,
    { details: { path } },
  );
}

function changedMeanwhile(path: string): HelmdeckError {
  return new HelmdeckError(
    "key_wrong",
    `The key file ${path} was exchanged meanwhile: another process changes the key too. Run it again.`,
    { details: { path } },
  );
}

function unwritable(path: string, cause: unknown): HelmdeckError {
  return new HelmdeckError(
    "store_readonly",
    `The key file ${path} cannot be written, so both keys open the memory database. Make its folder writable and run it ` +
      "again, or put the new key in place and run `rotate-key --finish`.",
    { details: { path }, cause },
  );
}
