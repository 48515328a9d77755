/** Changes an entry's expiry in one transaction, so that concurrent writes are not lost. */
import type { DecideRenewal, Entry, EntryRef } from "../memory-store.ts";
import { livingAt, type Putting, writeEntry } from "./put-entry.ts";
import type { Writing } from "./writing.ts";

/** Undefined when no entry opens. */
export async function renewEntry(
  putting: Putting,
  ref: EntryRef,
  decide: DecideRenewal,
  writing: Writing,
): Promise<Entry | undefined> {
  const there = await livingAt(putting, ref, writing);
  const renewal = there && decide(there, writing.now);
  if (there === undefined || renewal === undefined) return there;
  const { prolonged: _, ...entry } = there;
  const renewed = { ...entry, ...renewal };
  await writeEntry(putting, renewed, writing);
  return renewed;
}
