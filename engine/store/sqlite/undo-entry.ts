/** Undoes the last store of a fact, in one transaction. */
import { HelmdeckError } from "../../errors.ts";
import { keyInUse, undoOf } from "../history.ts";
import type { Entry, EntryRef, FormerValue, Undone, UndoOptions } from "../memory-store.ts";
import { readFormer, writeFormer } from "./former-rows.ts";
import { livingAt, type Putting, takeOut, writeEntry } from "./put-entry.ts";
import type { Writing } from "./transactions.ts";

/** Call it in a write transaction; undefined when the fact does not exist or has no history. */
export function undoEntry(
  putting: Putting,
  ref: EntryRef,
  writing: Writing,
  { tag }: UndoOptions = {},
): Undone | undefined {
  const { moment } = writing;
  const present = livingAt(putting, ref, moment);
  if (tag !== undefined && present?.tags.includes(tag) !== true) return undefined;
  const known = present === undefined ? [] : readFormer(putting, present.id);
  const undo = undoOf(known, moment.now);
  if (present === undefined || undo === undefined) return undefined;
  for (const { former } of undo.revived) {
    if (livingAt(putting, { ...ref, key: former.key }, moment) !== undefined) throw keyInUse(former.key);
  }
  const { before, history, revived } = undo;
  if (before === undefined) takeOut(putting, present, writing);
  const bringBack = (former: FormerValue, theirs: readonly FormerValue[]): Entry => {
    const entry = { ...former, namespace: ref.namespace, origin: ref.origin };
    const { columns } = writeEntry(putting, entry, writing);
    writeFormer(putting, columns.id, columns.id === present.id ? known : [], theirs);
    const back = livingAt(putting, entry, moment);
    if (back === undefined) throw new HelmdeckError("internal", "An entry restored by an undo is missing.");
    return back;
  };
  const restored = [
    ...(before === undefined ? [] : [bringBack(before, history)]),
    ...revived.map(({ former, history: theirs }) => bringBack(former, theirs)),
  ];
  return { undone: present, restored };
}
