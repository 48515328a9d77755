/** What memory holds for a subject, without values: categories, counts and newest keys, read without decrypting. */
import { harmlessLine } from "../facts/hostile-text.ts";
import type { EntryMeta, MemoryReader } from "../memory/contract.ts";
import type { Namespace } from "../memory/namespace.ts";
import { originOfCategory, pathOf } from "./paths.ts";

export const RECENT_KEYS = 5;

export interface CategorySummary {
  readonly name: string;
  readonly origin: "fact" | "audit";
  readonly count: number;
  /** Newest first, at most five. */
  readonly recentKeys: readonly string[];
}

const PAGE_LIMIT = 1_000;

/** The categories of the corpus: facts by name, then runs. Caches, notes and plans are no part of it. */
export async function summariseMemory(
  reader: MemoryReader,
  namespace: Namespace,
): Promise<readonly CategorySummary[]> {
  const found = new Map<string, CategorySummary>();
  for (const origin of ["fact", "audit"] as const) {
    for await (const page of metaPages(reader, namespace, origin)) {
      for (const { category, key } of page) {
        if (originOfCategory(category) !== origin) continue;
        found.set(category, counted(found.get(category), category, origin, key));
      }
    }
  }
  return [...found.values()].sort(byOriginThenName);
}

/** The same for a reader, as Markdown: the document at `helmdeck/my-memory.md`. */
export function myMemoryDocument(categories: readonly CategorySummary[]): string {
  if (categories.length === 0) return `# ${MY_MEMORY_TITLE}\n\nNothing yet.`;
  return [`# ${MY_MEMORY_TITLE}`, ...categories.map(categorySection)].join("\n\n");
}

export const MY_MEMORY_TITLE = "What helmdeck memory holds";

function counted(
  before: CategorySummary | undefined,
  name: string,
  origin: CategorySummary["origin"],
  key: string,
): CategorySummary {
  const { count, recentKeys } = before ?? { count: 0, recentKeys: [] };
  return {
    name,
    origin,
    count: count + 1,
    recentKeys: count < RECENT_KEYS ? [...recentKeys, key] : recentKeys,
  };
}

function categorySection({ name, origin, count, recentKeys }: CategorySummary): string {
  const [one, many] = origin === "fact" ? ["fact", "facts"] : ["recorded run", "recorded runs"];
  const newest = recentKeys.map((key) => `- ${harmlessLine(key)} (${pathOf(name, key)})`);
  const heading = `## ${name}: ${count} ${count === 1 ? one : many}`;
  return [heading, "", count > newest.length ? "The newest:" : "All of them:", "", ...newest].join("\n");
}

async function* metaPages(
  reader: MemoryReader,
  namespace: Namespace,
  origin: CategorySummary["origin"],
): AsyncGenerator<readonly EntryMeta[]> {
  let cursor: string | undefined;
  do {
    const page = await reader.listMeta({ namespace, origin, limit: PAGE_LIMIT, ...(cursor && { cursor }) });
    yield page.entries;
    cursor = page.nextCursor;
  } while (cursor !== undefined);
}

function byOriginThenName(a: CategorySummary, b: CategorySummary): number {
  if (a.origin !== b.origin) return a.origin === "fact" ? -1 : 1;
  return a.name < b.name ? -1 : 1;
}
