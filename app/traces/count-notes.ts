/**
 * Counts the notes that hold what is about to be forgotten, for surfaces that must answer at once: chat, the agent's tool, pages.
 *
 * Only a number leaves: an agent that could see where or what would read notes that a sandbox keeps from it.
 */
import type { Memory } from "../memory.ts";
import { countNotes } from "./find-traces.ts";
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

/** Read before the forget; the values are dropped as soon as they are counted. 0 too when they cannot be looked for. Never rejects. */
export async function notesHolding({ memory, subject, scope, workspaces }: NotesQuery): Promise<number> {
  if (workspaces.length === 0) return 0;
  try {
    const { values } = await valuesInScope(memory, subject, scope);
    const phrases = Phrases.ofValues(values);
    const counts = workspaces.map((folder) => countNotes(folder, phrases, WITHIN_MS));
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  } catch {
    return 0; // the forget itself reports what is wrong
  }
}
