/** A person says that a copy of the key is kept, and is not reminded of it any longer. */
import { findKey, HelmdeckError, isFileError, keyIdOf } from "../../engine/index.ts";
import type { OpenMemoryOptions } from "../open-memory-options.ts";
import { noteSavedKey, notesPathOf } from "./store-notes.ts";

/** Of the key that is in use now: another one wants a copy of its own. */
export async function sayKeySaved(options: OpenMemoryOptions): Promise<{ readonly keyId: string }> {
  const found = await findKey(options);
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
    `There is no key at ${keyPath} yet: it is made when something is stored.`,
    {
      details: { keyPath },
    },
  );
}

function unwritable(path: string, cause: unknown): HelmdeckError {
  const code = isFileError(cause, "ENOSPC", "EDQUOT") ? "store_full" : "store_readonly";
  return new HelmdeckError(
    code,
    `${path} cannot be written, where it would be noted. Make its folder writable.`,
    {
      details: { path },
      cause,
    },
  );
}
