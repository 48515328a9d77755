/** Summarises a subject's memory without values: categories, counts and newest keys, read without decrypting. */
import { harmlessLine } from "../facts/hostile-text.ts";
import { isPinned } from "../facts/marks.ts";
import { EXPIRING_WITHIN_MS } from "../facts/renewal.ts";
import { pagesOf } from "../pages-of.ts";
import type { MemoryReader, UnixMs } from "../store/memory-store.ts";
import type { Namespace } from "../store/namespace.ts";
import { originOfCategory, pathOf } from "./paths.ts";

const RECENT_KEYS = 5;

export interface CategorySummary {
  readonly name: string;
  readonly origin: "fact" | "audit";
  readonly count: number;
  /** Newest first, at most five. */
  readonly recentKeys: readonly string[];
}

/** The categories of the corpus: facts by name, then runs. Without caches, notes and plans. */
export async function summariseMemory(
  reader: MemoryReader,
  namespace: Namespace,
): Promise<readonly CategorySummary[]> {
  const summaries: CategorySummary[] = [];
  for (const { origin, category, count } of await reader.categories(namespace)) {
    if (origin !== originOfCategory(category)) continue;
    const newest = await reader.listMeta({ namespace, origin, category, limit: RECENT_KEYS });
    summaries.push({ name: category, origin, count, recentKeys: newest.entries.map(({ key }) => key) });
  }
  return summaries.sort((a, b) => {
    if (a.origin !== b.origin) return a.origin === "fact" ? -1 : 1;
    return a.name < b.name ? -1 : 1;
  });
}

/** The summary as Markdown: the document at `helmdeck/my-memory.md`. */
export function myMemoryDocument(
  categories: readonly CategorySummary[],
  expiring?: ExpiringFacts,
  ended = "",
): string {
  if (categories.length === 0) return `# ${MY_MEMORY_TITLE}\n\n${ended || "Nothing yet."}`;
  const ending = [...(ended ? [ended] : []), ...(expiring === undefined ? [] : [expiringSection(expiring)])];
  return [`# ${MY_MEMORY_TITLE}`, ...ending, ...categories.map(categorySection)].join("\n\n");
}

function expiringSection({ count, soonest }: ExpiringFacts): string {
  const heading = `## Expiring within 14 days: ${count} ${count === 1 ? "fact" : "facts"}`;
  const lines = soonest.map(({ key, category, expiresAt, pinned }) => {
    const note = pinned ? ", pinned" : "";
    return `- ${harmlessLine(key)} (${pathOf(category, key)}${note}) on ${new Date(expiresAt).toISOString().slice(0, 10)}`;
  });
  const confirm = soonest.some(({ pinned }) => pinned)
    ? " Only the user can keep a pinned fact: /pin KEY keeps it another year."
    : "";
  const which = count > soonest.length ? [`The next ${soonest.length}:`, ""] : [];
  const advice = `To keep a fact that is still true, renew it or store it again.${confirm}`;
  return [heading, "", ...which, ...lines, "", advice].join("\n");
}

export const MY_MEMORY_TITLE = "What helmdeck memory holds";

function categorySection({ name, origin, count, recentKeys }: CategorySummary): string {
  const [one, many] = origin === "fact" ? ["fact", "facts"] : ["recorded run", "recorded runs"];
  const newest = recentKeys.map((key) => `- ${harmlessLine(key)} (${pathOf(name, key)})`);
  const heading = `## ${name}: ${count} ${count === 1 ? one : many}`;
  return [heading, "", count > newest.length ? "The newest:" : "All of them:", "", ...newest].join("\n");
}

/** Pinned ones first. */
function rankOf({ pinned }: ExpiringFact): number {
  return pinned ? 0 : 1;
}

const NAMED = 10;
const PAGE = 1_000;

export interface ExpiringFacts {
  readonly count: number;
  /** Ten: pinned ones first, then the next to expire. */
  readonly soonest: readonly ExpiringFact[];
}

interface ExpiringFact {
  readonly key: string;
  readonly category: string;
  readonly expiresAt: UnixMs;
  readonly pinned?: true;
}

/**
 * Facts that expire soon, without their values.
 *
 * Facts that expire within 14 days; undefined when there are none.
 */
export async function expiringFacts(
  reader: MemoryReader,
  namespace: Namespace,
): Promise<ExpiringFacts | undefined> {
  const expiresBefore = reader.now() + EXPIRING_WITHIN_MS;
  const query = { namespace, origin: "fact", limit: PAGE, expiresBefore } as const;
  const found: ExpiringFact[] = [];
  for await (const { entries } of pagesOf((more) => reader.listMeta({ ...query, ...more })))
    for (const { key, category, tags, expiresAt = expiresBefore } of entries)
      found.push({ key, category, expiresAt, ...(isPinned({ tags }) && { pinned: true }) });
  if (found.length === 0) return undefined;
  found.sort((one, other) => rankOf(one) - rankOf(other) || one.expiresAt - other.expiresAt);
  return { count: found.length, soonest: found.slice(0, NAMED) };
}
