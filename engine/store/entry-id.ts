/** Identifies an entry's content: the entry's random id, and helmdeck's fingerprint of its value. */
import { hash, randomBytes } from "node:crypto";
import type { EntryId, Fingerprint } from "./memory-store.ts";

export function makeEntryId(): EntryId {
  return `mem_${randomBytes(16).toString("hex")}` as EntryId; // ids are branded only here and below
}

/** For the wire and exports only. It confirms a guess at a short value, so it is never written to disk. */
export function fingerprintOf(value: Uint8Array): Fingerprint {
  return hash("sha256", value, "hex").slice(0, 16) as Fingerprint; // the only place that brands a fingerprint
}

/** A deterministic id for a text that no store holds. */
export function entryIdOf(name: string): EntryId {
  return `mem_${hash("sha256", name, "hex").slice(0, 32)}` as EntryId; // branded as above
}
