/** What commands embed on the way, after they have answered: within a moment, and without a word when it does not work. */
import type { EmbedReport, OpenMemory } from "../app/index.ts";

/** As long as a question waits for its vector. */
const AFTER_WRITING_MS = 1_500;
/** A search is asked for its answer: on an idle machine this is enough for some ten texts. */
const AFTER_SEARCH_MS = 300;

/** The fact that was stored, which is acknowledged by now. */
export async function embedStored(memory: OpenMemory, caller: string, key: string): Promise<void> {
  await memory.embedFact(caller, key, { withinMs: AFTER_WRITING_MS }).catch(() => {});
}

/** What was imported, or as much of it as the time allows; undefined where that is not known. */
export function embedImported(memory: OpenMemory, caller: string): Promise<EmbedReport | undefined> {
  return memory.embed(caller, { withinMs: AFTER_WRITING_MS }).catch(() => undefined);
}

/** What the search found without vectors. */
export async function embedSearched(memory: OpenMemory, caller: string): Promise<void> {
  await memory.embed(caller, { withinMs: AFTER_SEARCH_MS }).catch(() => {});
}
