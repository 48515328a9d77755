/** Hashes that identify entries: namespaces and keys may be too long for PostgreSQL's indexes. */
import { createHash } from "node:crypto";
import { associatedData } from "../envelope.ts";
import type { EntryRef } from "../memory-store.ts";

const NOTHING = new Uint8Array(0);

/**
 * A hash over clear columns, which reveals nothing that they do not. Null for text that is not valid UTF-8, which matches no
 * entry.
 */
export function slotOf({ namespace, origin, key }: EntryRef): Uint8Array | null {
  if (!namespace.isWellFormed() || !key.isWellFormed()) return null;
  return createHash("sha256")
    .update(associatedData(NOTHING, [namespace, origin, key]))
    .digest();
}
