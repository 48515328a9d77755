/** The name of an entry's place, by which it is found: namespaces and keys may be too long for PostgreSQL's indexes. */
import { createHash } from "node:crypto";
import { associatedData } from "../envelope.ts";
import type { EntryRef } from "../memory-store.ts";

const NOTHING = new Uint8Array(0);

/** A hash over clear columns: it tells nothing that they do not. Texts that cannot be UTF-8 share the place of none. */
export function slotOf({ namespace, origin, key }: EntryRef): Uint8Array | null {
  if (!namespace.isWellFormed() || !key.isWellFormed()) return null;
  return createHash("sha256")
    .update(associatedData(NOTHING, [namespace, origin, key]))
    .digest();
}
