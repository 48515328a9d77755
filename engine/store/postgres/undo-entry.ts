/** Undoes the last store of a fact, in one transaction. */
import { HelmdeckError } from "../../errors.ts";
import { keyInUse, undoOf } from "../history.ts";
import type { Entry, EntryRef, FormerValue, Undone, UndoOptions } from "../memory-store.ts";
import { readFormer, writeFormer } from "./former-rows.ts";
import { livingAt, type Putting, takeOut, writeEntry } from "./put-entry.ts";
import type { Writing } from "./writing.ts";

/** Undefined when the fact does not exist or has no history. */
export async function undoEntry(
  putting: Putting,
  ref: EntryRef,
  writing: Writing,
  { tag }: UndoOptions = {},
): Promise<Undone | undefined> {
  const { connection, now } = writing;
  const present = await livingAt(putting, ref, writing);
  if (tag !== undefined && present?.tags.includes(tag) !== true) return undefined;
  const known = present === undefined ? [] : await readFormer(connection, putting.sealer, present.id);
  const undo = undoOf(known, now);
  if (present === undefined || undo === undefined) return undefined;
  for (const { former } of undo.revived) {
    const taken = await livingAt(putting, { ...ref, key: former.key }, writing);
    if (taken !== undefined) throw keyInUse(former.key);
  }
  const { before, history, revived } = undo;
  if (before === undefined) await takeOut(putting, present, writing);
  const bringBack = async (former: FormerValue, theirs: readonly FormerValue[]): Promise<Entry> => {
    const entry = { ...former, namespace: ref.namespace, origin: ref.origin };
    const { subject, columns } = await writeEntry(putting, entry, writing);
    const there = columns.id === present.id ? known : [];
    await writeFormer(
      writing,
      putting.sealer,
      { subject, entryId: columns.id },
      { before: there, history: theirs },
    );
    const back = await livingAt(putting, entry, writing);
    if (back === undefined) throw new HelmdeckError("internal", "An entry restored by an undo is missing.");
    return back;
  };
  const restored = before === undefined ? [] : [await bringBack(before, history)];
  for (const { former, history: theirs } of revived) restored.push(await bringBack(former, theirs));
  return { undone: present, restored };
}
