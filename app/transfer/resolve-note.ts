/**
 * Decides what happens to a note whose key is in use. What a person wrote since an import is kept. What an import brought and
 * nobody changed follows its source.
 */

import { defined } from "../../engine/defined.ts";
import { isHelmdeckError } from "../../engine/errors.ts";
import { DEFAULT_CATEGORY } from "../../engine/facts/facts-policy.ts";
import { isImportTag } from "../../engine/facts/import-tag.ts";
import { heldOf } from "../../engine/store/fields.ts";
import type {
  ConflictRule,
  Entry,
  MemoryStore,
  NewEntry,
  Revision,
} from "../../engine/store/memory-store.ts";

export type Resolution =
  /** `there`: the revision of what is replaced, or 0. */
  | { readonly outcome: "stored" | "replaced"; readonly write: NewEntry; readonly there: Revision }
  /** `write`: with the new expiry or category; absent when it has the category and already expires later. */
  | { readonly outcome: "refreshed"; readonly write?: NewEntry }
  | { readonly outcome: "kept" };

interface NoteRules {
  readonly rule: ConflictRule;
  readonly isUnseen: (there: Entry) => boolean;
  /** Asked for by the operator. Otherwise a fact keeps its category, unless the source of the note names one. */
  readonly category?: string | undefined;
}

export async function resolveNote(
  store: MemoryStore,
  note: NewEntry,
  { rule, isUnseen, category }: NoteRules,
): Promise<Resolution> {
  const there = await entryAt(store, note);
  if (there === undefined) return { outcome: "stored", write: note, there: 0 };
  if (isSame(there, note)) return { outcome: "refreshed", ...refreshed(there, note, category) };
  if (rule !== "replace" && isUnseen(there)) return { outcome: "kept" };
  const stays = rule === "newer" ? await isNewer(store, there, note) : rule === "keep";
  if (stays) return { outcome: "kept" };
  const isUnnamed = category === undefined && note.category === DEFAULT_CATEGORY;
  const write = isUnnamed ? { ...note, category: there.category } : note;
  return { outcome: "replaced", write, there: there.revision };
}

/** An entry that does not open is replaced, as by any store. */
async function entryAt(store: MemoryStore, note: NewEntry): Promise<Entry | undefined> {
  try {
    return await store.get(note);
  } catch (error) {
    if (isHelmdeckError(error, "entry_unreadable")) return undefined;
    throw error;
  }
}

async function isNewer(store: MemoryStore, there: Entry, note: NewEntry): Promise<boolean> {
  if (note.updatedAt !== undefined && there.updatedAt > note.updatedAt) return true;
  if (there.tags.some(isImportTag)) return false;
  if (there.origin !== "fact") return true; // it has no history to restore from
  return (await store.history(there)).some((former) => isSame(former, note));
}

function isSame(one: Pick<Entry, "value">, other: Pick<NewEntry, "value">): boolean {
  return Buffer.compare(one.value, other.value) === 0;
}

/** Keeps its writer, tags and times. */
function refreshed(
  there: Entry,
  { expiresAt, ending }: NewEntry,
  category = there.category,
): { readonly write?: NewEntry } {
  const isLonger = there.expiresAt !== undefined && expiresAt !== undefined && expiresAt > there.expiresAt;
  if (!isLonger && category === there.category) return {};
  const { namespace, origin } = there;
  const renewed = { ...heldOf(there), ...(isLonger && defined({ expiresAt, ending })), category };
  return { write: { namespace, origin, ...renewed } };
}
