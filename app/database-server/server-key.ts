/** The key of a memory on a database server: shared by all engines and never created here. */

import { HelmdeckError } from "../../engine/errors.ts";
import { findKey, type LoadedKey } from "../../engine/store/find-key.ts";
import type { OpenMemoryOptions } from "../open-memory-options.ts";

/** Throws `key_missing`. */
export async function requireServerKey(options: OpenMemoryOptions): Promise<LoadedKey> {
  const found = await findKey({ ...options, databasePath: "" }); // no local database file matters here
  if (found !== undefined) return found;
  throw new HelmdeckError(
    "key_missing",
    "There is no key for the memory database on the server. All its engines share one key: set HELMDECK_MEMORY_KEY_FILE " +
      `(create the file once, with: openssl rand -hex 32 > FILE), or put the key file at ${options.keyPath}.`,
  );
}
