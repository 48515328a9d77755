/** What was stored while no server ran is embedded when one starts, not when somebody searches. */
import { OPEN_NAMESPACES } from "../../recall/index.ts";
import type { Memory } from "../memory.ts";

/** Of these subjects; of everybody who has entries, when none is named. Never rejects; the status tells what is wrong. */
export async function embedWhatIsThere(memory: Memory, subjects?: readonly string[]): Promise<void> {
  try {
    const { embeddings } = await memory.status();
    if (embeddings === undefined || !("url" in embeddings)) return;
    const all = subjects ?? (await memory.callers()).map(({ subject }) => subject);
    for (const subject of all.slice(0, OPEN_NAMESPACES)) await memory.warm(subject);
  } catch {
    // Memory says at each call what is wrong with it.
  }
}
