/**
 * What a format is: how the bytes of files become entries to import, one after another.
 *
 * Two kinds of items come out of one. An entry as a memory of ours had it (a line of an export; facts and audit rows) goes in as it
 * is. A note is what was made of somebody's text, or of another program's memory: its import is marked on it, and it gives way to
 * what a person wrote since.
 */
import {
  FACT_LIMITS,
  factEntry,
  HelmdeckError,
  isHelmdeckError,
  type Namespace,
  type NewEntry,
  type UnixMs,
  validateFact,
} from "../../../engine/index.ts";

export interface ImportFile {
  /** As messages show it, and as keys are made of it. */
  readonly name: string;
  /** Called once for each reading of it: what comes by standard input is gone afterwards. */
  readonly open: () => AsyncIterable<Uint8Array>;
}

export interface ReadContext {
  readonly namespace: Namespace;
  readonly now: UnixMs;
  /** The life of what says no end itself; absent: the usual one. */
  readonly ttlSeconds?: number;
}

export interface Place {
  readonly file: string;
  /** From 1; of a file that has no lines, the number of the item. */
  readonly line: number;
  /** Of what has a name of its own, by which a person finds it sooner. */
  readonly key?: string;
}

export type ImportItem = Place &
  (
    | {
        readonly entry: NewEntry;
        /** What all keys of the note's file begin with, "" for nothing; absent for an entry as some memory had it. */
        readonly noteOf?: string;
        /** Whose it is where it comes from, for a source with several owners. */
        readonly from?: string;
      }
    | { readonly problem: HelmdeckError }
    /** By the format's own rules, which the documentation lists. */
    | { readonly leftOut: string }
  );

export type ReadItems = (
  files: readonly ImportFile[],
  context: ReadContext,
) => AsyncGenerator<ImportItem, void, undefined>;

/** What a format found out about a fact. */
export interface Note {
  readonly key: string;
  readonly value: string;
  readonly category?: string;
  readonly tags?: readonly string[];
  /** As the source says it; a time that lies ahead of now is not believed. */
  readonly createdAt?: UnixMs | undefined;
  readonly updatedAt?: UnixMs | undefined;
  /** When the source would have ended it: the earlier of that and the usual end counts. */
  readonly endsAt?: UnixMs | undefined;
}

/** The mark of the import is one of a fact's tags. */
export const MOST_NOTE_TAGS = FACT_LIMITS.tags - 1;

/** The item of a note: its entry, or why the policy refuses it. */
export function noteItem(place: Place, noteOf: string, note: Note, context: ReadContext): ImportItem {
  try {
    return { ...place, noteOf, entry: noteEntry(note, context) };
  } catch (error) {
    if (!isHelmdeckError(error)) throw error;
    return { ...place, problem: error };
  }
}

function noteEntry(note: Note, { namespace, now, ttlSeconds }: ReadContext): NewEntry {
  const fact = validateFact({ ...note, ttlSeconds });
  const usualEnd = now + fact.ttlSeconds * 1_000;
  const expiresAt = Math.min(note.endsAt ?? usualEnd, usualEnd);
  if (expiresAt <= now) throw new HelmdeckError("invalid_input", "It has expired where it comes from.");
  const createdAt = pastOf(note.createdAt, now);
  const updatedAt = pastOf(note.updatedAt, now) ?? createdAt;
  return factEntry(namespace, fact, {
    expiresAt,
    ...(createdAt !== undefined && { createdAt: Math.min(createdAt, updatedAt ?? createdAt) }),
    ...(updatedAt !== undefined && { updatedAt }),
  });
}

function pastOf(time: UnixMs | undefined, now: UnixMs): UnixMs | undefined {
  return time === undefined || time > now ? undefined : time;
}
