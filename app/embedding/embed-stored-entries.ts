/** Embeds what was stored while no server ran, when one starts. */
import type { Memory } from "../memory.ts";
import { MOST_MEMORIES } from "./change-watch.ts";

/** For these subjects, or for everybody with entries. Never rejects; the status reports problems. */
export async function embedStoredEntries(memory: Memory, subjects?: readonly string[]): Promise<void> {
  try {
    const { embeddings } = await memory.status();
    if (embeddings === undefined || !("url" in embeddings)) return;
    const all = subjects ?? (await memory.callers()).map(({ subject }) => subject);
    for (const subject of all.slice(0, MOST_MEMORIES)) await memory.warm(subject);
  } catch {
    // Each call reports the memory's problem.
  }
}
