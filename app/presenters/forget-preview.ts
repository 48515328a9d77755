/** Previews a scope before it is deleted: keys and first words of facts, and the number of run records. */
import { harmlessLine, originOfCategory } from "../../engine/index.ts";
import type { FactsQuery, Memory } from "../memory.ts";
import { firstWords } from "./excerpt.ts";

const PREVIEWED_FACTS = 10;

/** The newest facts of a category or of all, or the named one. Empty for scopes that are self-explanatory. */
export async function forgetPreview(
  memory: Memory,
  caller: string,
  scope: string,
): Promise<readonly string[]> {
  const text = scope.trim();
  if (text === "all" || text === "everything") {
    return [...(await newestFacts(memory, caller)), ...(await countedRuns(memory, caller))];
  }
  if (text.startsWith("category:"))
    return newestFacts(memory, caller, { category: text.slice("category:".length).trim() });
  if (text.startsWith("import:")) return newestFacts(memory, caller, { tag: text.replace(/:\s*/, ":") });
  const fact = await memory.getFact(caller, text.startsWith("key:") ? text.slice("key:".length) : text);
  return fact === undefined ? [] : [lineOf(fact)];
}

async function newestFacts(
  memory: Memory,
  caller: string,
  filter: Pick<FactsQuery, "category" | "tag"> = {},
): Promise<readonly string[]> {
  const query = { limit: PREVIEWED_FACTS, ...filter };
  const { facts, unreadable, nextCursor } = await memory.listFacts(caller, query);
  return [
    ...facts.map(lineOf),
    ...unreadable.map((key) => `${harmlessLine(key)} (cannot be opened)`),
    ...(nextCursor === undefined ? [] : ["…"]),
  ];
}

async function countedRuns(memory: Memory, caller: string): Promise<readonly string[]> {
  const { categories } = await memory.myMemory(caller);
  const runs = categories.filter(({ name }) => originOfCategory(name) === "audit");
  const count = runs.reduce((sum, { count }) => sum + count, 0);
  return count === 0 ? [] : [`${count} ${count === 1 ? "record" : "records"} of tool runs`];
}

/** `deploy/konflux: We deploy through Konflux` */
export function lineOf({ key, value }: { readonly key: string; readonly value: string }): string {
  return `${harmlessLine(key)}: ${firstWords(value)}`;
}
