/** Records that a person has a copy of the key, after comparing the two, so that doctor stops reminding them. */

import { stat } from "node:fs/promises";
import { HelmdeckError, invalidField, isHelmdeckError } from "../../engine/errors.ts";
import { isFileError } from "../../engine/private-file.ts";
import { findKey, type LoadedKey } from "../../engine/store/find-key.ts";
import { requireKeyFile } from "../../engine/store/key-file.ts";
import { keyIdOf } from "../../engine/store/key-ring.ts";
import { type MasterKey, parseKey } from "../../engine/store/master-key.ts";
import { requireServerKey } from "../database-server/server-key.ts";
import type { OpenMemoryOptions } from "../open-memory-options.ts";
import { noteSavedKey, notesPathOf } from "./store-notes.ts";

/** The path of a copy, or the text of one, such as a password manager prints it. */
type KeyCopy = { readonly path: string } | { readonly text: string };

/** Throws if the copy is not one of the current key; a new key needs its own. */
export async function confirmKeySaved(
  options: OpenMemoryOptions,
  copy: KeyCopy,
): Promise<{ readonly keyId: string }> {
  const found = await (options.server === undefined ? findKey(options) : requireServerKey(options));
  if (found === undefined)
    throw new HelmdeckError(
      "key_missing",
      `There is no key at ${options.keyPath} yet: it is created when something is stored.`,
      {
        details: { keyPath: options.keyPath },
      },
    );
  const keyId = keyIdOf(found.key);
  const copied = keyIdOf("path" in copy ? await keyIn(copy.path, found) : parseKey(copy.text, "The text"));
  if (copied !== keyId)
    throw new HelmdeckError(
      "key_wrong",
      `The copy is of the key ${copied}, but the key in use is ${keyId}, from ${found.source}: copy that one. Nothing was recorded.`,
      { details: { copy: copied, keyId } },
    );
  const keyFile = found.file ?? options.keyPath;
  const { now = Date.now } = options;
  await noteSavedKey(keyFile, keyId, new Date(now()).toISOString()).catch((cause: unknown) => {
    const path = notesPathOf(keyFile);
    const code = isFileError(cause, "ENOSPC", "EDQUOT") ? "store_full" : "store_readonly";
    throw new HelmdeckError(code, `${path}, which records this, is not writable. Make its folder writable.`, {
      details: { path },
      cause,
    });
  });
  return { keyId };
}

async function keyIn(path: string, { file }: LoadedKey): Promise<MasterKey> {
  const { key } = await requireKeyFile(path).catch((error: unknown) => {
    throw isHelmdeckError(error, "key_missing") ? noCopy(path, error) : error;
  });
  const [copy, used] = await Promise.all([path, file ?? ""].map((one) => stat(one).catch(() => undefined)));
  if (copy === undefined || copy.ino !== used?.ino || copy.dev !== used.dev) return key;
  throw invalidField("copy", "is the key file itself, not a copy. Copy it to another place", { named: path });
}

function noCopy(path: string, cause: unknown): HelmdeckError {
  const message = `There is no copy of the key at ${path}. Copy the key there, or name the copy that you have.`;
  return new HelmdeckError("key_missing", message, { details: { path }, cause });
}
