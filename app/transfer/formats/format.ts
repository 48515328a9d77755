/**
 * The interface of import formats: they turn files into entries, one by one.
 *
 * There are two kinds of items. An entry, from a line of our own export, is imported as it is. A note was made from somebody's
 * text or another program's memory: it is tagged with its import, and does not overwrite what a person wrote since.
 */

import { defined } from "../../../engine/defined.ts";
import { HelmdeckError, isHelmdeckError } from "../../../engine/errors.ts";
import {
  FACT_LIMITS,
  factEntry,
  isCategory,
  isReservedCategory,
  validateFact,
} from "../../../engine/facts/facts-policy.ts";
import { endAfter } from "../../../engine/facts/renewal.ts";
import { isToCome } from "../../../engine/rfc3339.ts";
import type { NewEntry, UnixMs } from "../../../engine/store/memory-store.ts";
import type { Namespace } from "../../../engine/store/namespace.ts";
import type { Repetitions } from "./note-keys.ts";

export interface ImportFile {
  /** Shown in messages, and used for keys. */
  readonly name: string;
  /** Called once per reading; standard input can be read only once. */
  readonly open: () => AsyncIterable<Uint8Array>;
}

export interface ReadContext {
  readonly namespace: Namespace;
  readonly now: UnixMs;
  /** The lifetime of items without an expiry; absent: the default. */
  readonly ttlSeconds?: number;
  readonly defaultTtlSeconds?: number;
}

export interface Lines {
  /** From 1; for a file without lines, the number of the item. */
  readonly line: number;
  /** The last line, if there are several. */
  readonly to?: number | undefined;
}

export function linesOf(line: number, last: number): Lines {
  return { line, to: last > line ? last : undefined };
}

export interface Place extends Lines {
  readonly file: string;
  /** The item's own name, which helps a person to find it. */
  readonly key?: string;
}

export type ImportItem = Place &
  (
    | {
        readonly entry: NewEntry;
        /** The common prefix of all keys of the note's file, possibly ""; absent for an entry. */
        readonly noteOf?: string;
        /** The key is a name that several notes may have; the import numbers them. */
        readonly isNamed?: true;
        /** The owner in a source with several owners. */
        readonly from?: string;
      }
    | { readonly problem: HelmdeckError }
    /** Skipped by the format's rules, which the documentation lists. */
    | { readonly leftOut: string }
  );

export type ReadItems = (
  files: readonly ImportFile[],
  context: ReadContext,
) => AsyncGenerator<ImportItem, void, undefined>;

/** A fact as read by a format. */
export interface Note {
  readonly key: string;
  readonly value: string;
  readonly category?: string;
  readonly tags?: readonly string[];
  /** As given by the source: a time, or a day (`readDay`); one that is to come is ignored. */
  readonly createdAt?: UnixMs | undefined;
  readonly updatedAt?: UnixMs | undefined;
  /** The expiry in the source; the earlier of this and the default counts. */
  readonly endsAt?: UnixMs | undefined;
}

/** A note, or why there is none. */
export type Finding = { readonly note: Note } | { readonly leftOut: string } | { readonly refused: string };

/** What a reader finds in a text. Each line of the text is in a note, or in a place that is named with the reason. */
export type Found = Lines & Finding;

/** One tag is reserved for the import's own. */
export const MOST_NOTE_TAGS = FACT_LIMITS.tags - 1;

export interface NoteFile {
  readonly name: string;
  /** The prefix of all keys of the file. */
  readonly root: string;
  readonly repetitions: Repetitions;
}

/** The items of a file: its notes as entries, or why the policy refuses them. */
export function* noteItems(
  { name: file, root: noteOf, repetitions }: NoteFile,
  found: Iterable<Found>,
  context: ReadContext,
): Generator<ImportItem, void, undefined> {
  for (const { line, to, ...one } of found) {
    const place = { file, line, ...defined({ to }) };
    if ("leftOut" in one) yield { ...place, leftOut: one.leftOut };
    else if ("refused" in one) yield { ...place, problem: new HelmdeckError("invalid_input", one.refused) };
    else if (repetitions.has(one.note.key, one.note.value)) yield { ...place, leftOut: "a repetition" };
    else yield noteItem(place, noteOf, one.note, context);
  }
}

function noteItem(place: Place, noteOf: string, note: Note, context: ReadContext): ImportItem {
  try {
    return { ...place, noteOf, isNamed: true, entry: noteEntry(note, context) };
  } catch (error) {
    if (!isHelmdeckError(error)) throw error;
    return { ...place, problem: error };
  }
}

/** Whether a name in a source is one that a fact's category can have. */
export function canBeCategory(name: string): boolean {
  return isCategory(name) && !isReservedCategory(name);
}

function noteEntry(note: Note, { namespace, ttlSeconds, ...context }: ReadContext): NewEntry {
  const { now } = context;
  const fact = validateFact({ ...note, ttlSeconds });
  const usual = endAfter(fact.ttlSeconds, context);
  const isEarlier = note.endsAt !== undefined && note.endsAt < usual.expiresAt;
  const end = isEarlier ? ({ expiresAt: note.endsAt, ending: "chosen" } as const) : usual;
  if (end.expiresAt <= now) throw new HelmdeckError("invalid_input", "It has already expired in its source.");
  const createdAt = pastOf(note.createdAt, now);
  const updatedAt = pastOf(note.updatedAt, now) ?? createdAt;
  return factEntry(namespace, fact, {
    ...end,
    ...(createdAt !== undefined && { createdAt: Math.min(createdAt, updatedAt ?? createdAt) }),
    ...(updatedAt !== undefined && { updatedAt }),
  });
}

function pastOf(time: UnixMs | undefined, now: UnixMs): UnixMs | undefined {
  return time === undefined || isToCome(time, now) ? undefined : time;
}
