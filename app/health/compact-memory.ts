/** Rewrites a database of an older version, so that forgetting returns disk space from then on. */

import { invalidField } from "../../engine/errors.ts";
import { findKey } from "../../engine/store/find-key.ts";
import { compactDatabase } from "../../engine/store/sqlite/open-sqlite.ts";
import type { OpenMemoryOptions } from "../open-memory-options.ts";
import { fileFacts } from "./private-files.ts";

/** False when it was not needed. Throws `store_full` when twice its size is not free, `store_locked` when others use it. */
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
