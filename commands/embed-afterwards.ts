/** Embeds new entries after a command has answered: for a short time, and silently if it fails. */
import type { CommandMemory } from "../app/compose.ts";
import type { EmbedReport } from "../app/embedding/on-request.ts";

/** The same time that a query waits for its vector. */
const AFTER_WRITING_MS = 1_500;
/** Short, because a search is run for its answer. Enough for about ten texts on an idle machine. */
const AFTER_SEARCH_MS = 300;

/** Embeds the stored fact, which has already been acknowledged. */
export async function embedStored(memory: CommandMemory, caller: string, key: string): Promise<void> {
  await memory.embedFact(caller, key, { withinMs: AFTER_WRITING_MS }).catch(() => {});
}

/** Embeds as many imported entries as the time allows; undefined if the number is unknown. */
export function embedImported(memory: CommandMemory, caller: string): Promise<EmbedReport | undefined> {
  return memory.embed(caller, { withinMs: AFTER_WRITING_MS }).catch(() => undefined);
}

/** Embeds the hits without vectors. */
export async function embedSearched(memory: CommandMemory, caller: string): Promise<void> {
  await memory.embed(caller, { withinMs: AFTER_SEARCH_MS }).catch(() => {});
}
