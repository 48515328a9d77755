/**
 * Verifies every row of a database, and writes those that open into a new one; works on damaged databases that no longer open.
 */

import { HelmdeckError } from "../../engine/errors.ts";
import { findKey } from "../../engine/store/find-key.ts";
import {
  repairDatabase,
  type Verified,
  type VerifyOptions,
  verifyDatabase,
} from "../../engine/store/sqlite/repair.ts";
import { readNotes } from "../keys/store-notes.ts";
import type { OpenMemoryOptions } from "../open-memory-options.ts";

export type VerifyHooks = Pick<VerifyOptions, "onProgress" | "onUnreadable">;

export async function verifyMemory(options: OpenMemoryOptions, hooks: VerifyHooks): Promise<Verified> {
  return verifyDatabase({ ...(await placeOf(options)), ...hooks });
}

/** Only reads the old database. Throws `invalid_input` when `to` exists. */
export async function repairMemory(
  options: OpenMemoryOptions & { readonly to: string },
  hooks: VerifyHooks,
): Promise<Verified> {
  return repairDatabase({ ...(await placeOf(options)), ...hooks, to: options.to });
}

async function placeOf(options: OpenMemoryOptions): Promise<VerifyOptions> {
  const { databasePath: path, driver, keyPath } = options;
  const found = await findKey(options);
  if (found === undefined) throw nothingStored(path);
  const { stores } = await readNotes(found.file ?? keyPath);
  return { path, key: found.key, driver, storeIds: Object.keys(stores) };
}

function nothingStored(path: string): HelmdeckError {
  return new HelmdeckError(
    "store_unavailable",
    `There is no memory at ${path} and no key: nothing has been stored yet.`,
    {
      details: { path, nothingStored: true },
    },
  );
}
