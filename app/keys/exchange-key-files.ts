/**
 * Putting a new key file in the place of the former one, which stays beside it under a name of its own.
 *
 * Who attacks: a kill or a power cut between two steps. What stops it: at every moment there is a whole key file at the path, the
 * former one or the new one, and the former one has its other name before it loses this one.
 */
import { link, rename } from "node:fs/promises";
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

export async function placeNewKey({ keyPath, newPath }: KeyFiles, { current }: KeyIds): Promise<void> {
  await requireKey(newPath, current);
  await rename(newPath, keyPath).catch((error: unknown) => {
    throw unwritable(keyPath, error);
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

function unwritable(path: string, cause: unknown): HelmdeckError {
  return new HelmdeckError(
    "store_readonly",
    `The key file ${path} cannot be written, so both keys open the memory database. Make its folder writable and run it ` +
      "again, or put the new key in place and run `rotate-key --finish`.",
    { details: { path }, cause },
  );
}
