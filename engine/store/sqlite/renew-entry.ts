/** Changes an entry's expiry in one transaction, so that concurrent writes are not lost. */
import type { DecideRenewal, Entry, EntryRef } from "../memory-store.ts";
import { livingAt, type Putting, writeEntry } from "./put-entry.ts";
import type { Writing } from "./transactions.ts";

/** Call it in a write transaction; undefined when no entry opens. */
export function renewEntry(
  putting: Putting,
  ref: EntryRef,
  decide: DecideRenewal,
  writing: Writing,
): Entry | undefined {
  const there = livingAt(putting, ref, writing.moment);
  const renewal = there && decide(there, writing.moment.now);
  if (there === undefined || renewal === undefined) return there;
  const { prolonged: _, ...entry } = there;
  const renewed = { ...entry, ...renewal };
  writeEntry(putting, renewed, writing);
  return renewed;
}
