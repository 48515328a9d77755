/**
 * Counts the notes that hold what is about to be forgotten, for surfaces that must answer at once: chat, the agent's tool, pages.
 *
 * Only a number leaves: an agent that could see where or what would read notes that a sandbox keeps from it.
 */
import type { Memory } from "../memory.ts";
import { countNotes, type NotesCount } from "./find-traces.ts";
import { Phrases } from "./phrases.ts";
import { valuesInScope } from "./values-in-scope.ts";

/** A person waits for the answer. */
const WITHIN_MS = 1_000;

export interface NotesQuery {
  readonly memory: Memory;
  readonly subject: string;
  readonly scope: string;
  readonly workspaces: readonly string[];
}

/** Read before the forget; the values are dropped as soon as they are counted. Never rejects. */
export async function notesHolding({ memory, subject, scope, workspaces }: NotesQuery): Promise<NotesCount> {
  if (workspaces.length === 0) return NO_NOTES;
  try {
    const { values, isPartial } = await valuesInScope(memory, subject, scope);
    if (values.length === 0) return NO_NOTES;
    const phrases = await Phrases.ofValuesInSlices(values);
    const counts = await Promise.all(
      workspaces.map((folder) => countNotes(folder, phrases, WITHIN_MS).catch(() => UNKNOWN)),
    );
    return {
      count: counts.reduce((sum, { count }) => sum + count, 0),
      isComplete: !isPartial && counts.every(({ isComplete }) => isComplete),
    };
  } catch {
    return UNKNOWN; // the forget itself reports what is wrong
  }
}

/** There are none to look at, or nothing to look for. */
const NO_NOTES: NotesCount = { count: 0, isComplete: true };
const UNKNOWN: NotesCount = { count: 0, isComplete: false };
