/** Records that a person has a copy of the key, so that doctor stops reminding them. */

import { HelmdeckError } from "../../engine/errors.ts";
import { isFileError } from "../../engine/private-file.ts";
import { findKey } from "../../engine/store/find-key.ts";
import { keyIdOf } from "../../engine/store/key-ring.ts";
import { requireServerKey } from "../database-server/server-key.ts";
import type { OpenMemoryOptions } from "../open-memory-options.ts";
import { noteSavedKey, notesPathOf } from "./store-notes.ts";

/** For the current key; a new key needs its own copy. */
export async function confirmKeySaved(options: OpenMemoryOptions): Promise<{ readonly keyId: string }> {
  const found = await (options.server === undefined ? findKey(options) : requireServerKey(options));
  if (found === undefined) throw noKey(options.keyPath);
  const keyFile = found.file ?? options.keyPath;
  const keyId = keyIdOf(found.key);
  const { now = Date.now } = options;
  await noteSavedKey(keyFile, keyId, new Date(now()).toISOString()).catch((cause: unknown) => {
    throw unwritable(notesPathOf(keyFile), cause);
  });
  return { keyId };
}

function noKey(keyPath: string): HelmdeckError {
  return new HelmdeckError(
    "key_missing",
    `There is no key at ${keyPath} yet: it is created when something is stored.`,
    {
      details: { keyPath },
    },
  );
}

function unwritable(path: string, cause: unknown): HelmdeckError {
  const code = isFileError(cause, "ENOSPC", "EDQUOT") ? "store_full" : "store_readonly";
  return new HelmdeckError(code, `${path}, which records this, is not writable. Make its folder writable.`, {
    details: { path },
    cause,
  });
}
