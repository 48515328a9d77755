/** Reads the values that a forget will delete, so that they can be looked for elsewhere. Held in this process's memory only. */
import { isHelmdeckError } from "../../engine/errors.ts";
import { parseForgetScope } from "../../engine/facts/forget-scope.ts";
import { importTag } from "../../engine/facts/import-tag.ts";
import type { FactsQuery, FactView, FormerView, Memory } from "../memory.ts";

/** Of one scope; the rest is not looked for, and the receipt says so. */
const MOST_FACTS = 500;
const PAGE_FACTS = 100;

export interface ValuesInScope {
  readonly values: readonly string[];
  readonly facts: number;
  /** There were more facts than are looked for. */
  readonly isPartial: boolean;
  /** When the oldest of them was stored: no earlier backup has one. Unix milliseconds. */
  readonly since?: number;
  /** When the last of them would have expired. */
  readonly until?: number;
}

/** Facts that do not open are left out: nobody knows what they say. */
export async function valuesInScope(memory: Memory, caller: string, scope: string): Promise<ValuesInScope> {
  const readings = parseForgetScope(scope);
  const [first] = readings;
  switch (first.kind) {
    case "all":
    case "everything":
      return ofListed(memory, caller, {});
    case "category":
      return ofListed(memory, caller, { category: first.name });
    case "import":
      return ofListed(memory, caller, { tag: importTag(first.id) });
    case "key":
    case "document": {
      const keys = readings.map((one) => (one.kind === "key" ? one.key : scope.trim()));
      return valuesOf(memory, caller, await firstOf(memory, caller, keys), false);
    }
    default:
      return { values: [], facts: 0, isPartial: false };
  }
}

/** Several of them as one. */
export function joined(all: readonly ValuesInScope[]): ValuesInScope {
  const times = (name: "since" | "until") => all.flatMap((one) => one[name] ?? []);
  const [since, until] = [times("since"), times("until")];
  return {
    values: all.flatMap(({ values }) => values),
    facts: all.reduce((sum, { facts }) => sum + facts, 0),
    isPartial: all.some(({ isPartial }) => isPartial),
    ...(since.length > 0 && { since: Math.min(...since) }),
    ...(until.length > 0 && { until: Math.max(...until) }),
  };
}

async function firstOf(
  memory: Memory,
  caller: string,
  keys: readonly string[],
): Promise<readonly FactView[]> {
  for (const key of keys) {
    const fact = await memory.getFact(caller, { key }).catch(unlessUnreadable);
    if (fact !== undefined) return [fact];
  }
  return [];
}

async function ofListed(memory: Memory, caller: string, query: FactsQuery): Promise<ValuesInScope> {
  const facts: FactView[] = [];
  let cursor: string | undefined;
  do {
    const page = await memory.listFacts(caller, { ...query, limit: PAGE_FACTS, ...(cursor && { cursor }) });
    facts.push(...page.facts);
    cursor = page.nextCursor;
  } while (cursor !== undefined && facts.length < MOST_FACTS);
  return valuesOf(memory, caller, facts.slice(0, MOST_FACTS), cursor !== undefined);
}

async function valuesOf(
  memory: Memory,
  caller: string,
  facts: readonly FactView[],
  isPartial: boolean,
): Promise<ValuesInScope> {
  const all: (FactView | FormerView)[] = [];
  for (const fact of facts) {
    const history = await memory.factHistory(caller, { key: fact.path }).catch(() => undefined);
    all.push(fact, ...(history?.former ?? []));
  }
  const ends = all.flatMap(({ expiresAt }) => expiresAt ?? []);
  return {
    values: all.map(({ value }) => value),
    facts: facts.length,
    isPartial,
    ...(all.length > 0 && { since: Math.min(...all.map(({ createdAt }) => createdAt)) }),
    ...(ends.length > 0 && { until: Math.max(...ends) }),
  };
}

function unlessUnreadable(error: unknown): undefined {
  if (!isHelmdeckError(error, "entry_unreadable")) throw error;
}
