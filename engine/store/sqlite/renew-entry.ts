/** Giving an entry another life, in one transaction, so that what somebody else stores meanwhile is not undone. */
import type { DecideRenewal, Entry, EntryRef } from "../memory-store.ts";
import { livingAt, type Putting, writeEntry } from "./put-entry.ts";
import type { Writing } from "./transactions.ts";

/** To be called in a write transaction; undefined when there is nothing that opens. */
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
