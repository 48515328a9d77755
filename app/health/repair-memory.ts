/**
 * Verifies every row of a database, and writes those that open into a new one; works on damaged databases that no longer open.
 */
import { HelmdeckError, invalidField } from "../../engine/errors.ts";
import { findKey } from "../../engine/store/find-key.ts";
import { compactDatabase } from "../../engine/store/sqlite/open-sqlite.ts";
import {
  repairDatabase,
  type Verified,
  type VerifyOptions,
  verifyDatabase,
} from "../../engine/store/sqlite/repair.ts";
import { requireServerKey } from "../database-server/server-key.ts";
import { readNotes } from "../keys/store-notes.ts";
import type { OpenMemoryOptions } from "../open-memory-options.ts";
import { fileFacts } from "./private-files.ts";

export type VerifyHooks = Pick<VerifyOptions, "onProgress" | "onUnreadable">;

/** A database server has its log in order before it answers. */
export async function verifyMemory(options: OpenMemoryOptions, hooks: VerifyHooks): Promise<Verified> {
  const { server } = options;
  if (server !== undefined) {
    const { key } = await requireServerKey(options);
    return { ...(await server.verify(key, hooks)), log: "whole" };
  }
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

/**
 * Rewrites a database of an older version, so that forgetting returns disk space from then on.
 *
 * False when it was not needed. Throws `store_full` when twice its size is not free, `store_locked` when others use it.
 */
export async function compactMemory(options: OpenMemoryOptions): Promise<boolean> {
  const { databasePath: path, driver, server } = options;
  if (server !== undefined)
    throw invalidField("store", "is on a database server, whose own VACUUM does this", {
      named: "This memory",
    });
  if ((await fileFacts(path)).kind === "absent") return false;
  const found = await findKey(options);
  return found !== undefined && compactDatabase({ path, key: found.key, driver });
}
