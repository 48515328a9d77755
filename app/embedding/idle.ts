/** What was stored while no server ran is embedded when one starts, not when somebody searches. */
import type { Memory } from "../memory.ts";

/** Recall keeps no more indexes in memory. */
const MOST_SUBJECTS = 16;

/** Of these subjects; of everybody who has entries, when none is named. Never rejects; the status tells what is wrong. */
export async function embedWhatIsThere(memory: Memory, subjects?: readonly string[]): Promise<void> {
  try {
    const { embeddings } = await memory.status();
    if (embeddings === undefined || !("url" in embeddings)) return;
    const all = subjects ?? (await memory.callers()).map(({ subject }) => subject);
    for (const subject of all.slice(0, MOST_SUBJECTS)) await memory.warm(subject);
  } catch {
    // Memory says at each call what is wrong with it.
  }
}
