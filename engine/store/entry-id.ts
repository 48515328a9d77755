/** The two names of an entry's content: the random id of the entry, and helmdeck's fingerprint of its value. */
import { hash, randomBytes } from "node:crypto";
import type { EntryId, Fingerprint } from "./memory-store.ts";

export function makeEntryId(): EntryId {
  return `mem_${randomBytes(16).toString("hex")}` as EntryId; // made here and below alone
}

/** For the wire and exports only: whoever sees it can confirm a guess at a short value, so it never goes to disk. */
export function fingerprintOf(value: Uint8Array): Fingerprint {
  return hash("sha256", value, "hex").slice(0, 16) as Fingerprint; // the one place that makes the brand
}

/** For a text that no store keeps: one name always gives the same id. */
export function entryIdOf(name: string): EntryId {
  return `mem_${hash("sha256", name, "hex").slice(0, 32)}` as EntryId; // the brand, as above
}
