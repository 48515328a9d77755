/** Reads the values that a forget will delete, so that they can be looked for elsewhere. Held in this process's memory only. */
import { isHelmdeckError } from "../../engine/errors.ts";
import { parseForgetScope } from "../../engine/facts/forget-scope.ts";
import { importTag } from "../../engine/facts/import-tag.ts";
import type { FactsQuery, FactView, FormerView, Memory } from "../memory.ts";
import type { Phrases } from "./phrases.ts";

/** Of one scope; the rest is not looked for, and the receipt says so. */
const MOST_FACTS = 500;
const PAGE_FACTS = 100;

export interface ValuesInScope {
  readonly values: readonly string[];
  readonly facts: number;
  /** There were more facts than are looked for. */
  readonly isPartial: boolean;
  /** Facts that do not open: nobody knows what they say. */
  readonly unreadable: number;
  /** The scope covers records of runs, which are not looked for. */
  readonly hasRecords: boolean;
  /** When the oldest of them was stored: no earlier backup has one. Unix milliseconds. */
  readonly since?: number;
  /** When the last of them would have expired. */
  readonly until?: number;
}

export const NO_VALUES: ValuesInScope = {
  ...{ values: [], facts: 0, isPartial: false, unreadable: 0, hasRecords: false },
};

export async function valuesInScope(memory: Memory, caller: string, scope: string): Promise<ValuesInScope> {
  const readings = parseForgetScope(scope);
  const [first] = readings;
  switch (first.kind) {
    case "all":
    case "everything":
      return { ...(await ofListed(memory, caller, {})), hasRecords: true };
    case "category":
      return ofListed(memory, caller, { category: first.name });
    case "import":
      return ofListed(memory, caller, { tag: importTag(first.id) });
    case "key":
    case "document": {
      const keys = readings.map((one) => (one.kind === "key" ? one.key : scope.trim()));
      // The first of the names that a fact has.
      for (const key of keys) {
        try {
          const fact = await memory.getFact(caller, { key });
          if (fact !== undefined) return await valuesOf(memory, caller, [fact]);
        } catch (error) {
          if (isHelmdeckError(error, "entry_unreadable")) return { ...NO_VALUES, unreadable: 1 };
          throw error;
        }
      }
      return NO_VALUES;
    }
    default:
      return { ...NO_VALUES, hasRecords: true };
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
    unreadable: all.reduce((sum, { unreadable }) => sum + unreadable, 0),
    hasRecords: all.some(({ hasRecords }) => hasRecords),
    ...(since.length > 0 && { since: Math.min(...since) }),
    ...(until.length > 0 && { until: Math.max(...until) }),
  };
}

async function ofListed(memory: Memory, caller: string, query: FactsQuery): Promise<ValuesInScope> {
  const { facts, unreadable, isPartial } = await listed(memory, caller, query);
  return { ...(await valuesOf(memory, caller, facts)), unreadable, isPartial };
}

async function listed(memory: Memory, caller: string, query: FactsQuery) {
  const facts: FactView[] = [];
  let unreadable = 0;
  let cursor: string | undefined;
  do {
    const page = await memory.listFacts(caller, { ...query, limit: PAGE_FACTS, ...(cursor && { cursor }) });
    facts.push(...page.facts);
    unreadable += page.unreadable.length;
    cursor = page.nextCursor;
  } while (cursor !== undefined && facts.length < MOST_FACTS);
  return { facts: facts.slice(0, MOST_FACTS), unreadable, isPartial: cursor !== undefined };
}

async function valuesOf(memory: Memory, caller: string, facts: readonly FactView[]): Promise<ValuesInScope> {
  const all: (FactView | FormerView)[] = [];
  for (const fact of facts) {
    const history = await memory.factHistory(caller, { key: fact.path }).catch(() => undefined);
    all.push(fact, ...(history?.former ?? []));
  }
  const ends = all.flatMap(({ expiresAt }) => expiresAt ?? []);
  return {
    ...NO_VALUES,
    values: all.map(({ value }) => value),
    facts: facts.length,
    ...(all.length > 0 && { since: Math.min(...all.map(({ createdAt }) => createdAt)) }),
    ...(ends.length > 0 && { until: Math.max(...ends) }),
  };
}

export interface Holding {
  readonly keys: readonly string[];
  /** Not all facts were looked at. */
  readonly isPartial: boolean;
}

/** The keys of a caller's other facts that hold a phrase: of at most {@link MOST_FACTS}, without their histories. */
export async function factsHolding(
  memory: Memory,
  caller: string,
  { phrases, except }: { readonly phrases: Phrases; readonly except?: string },
): Promise<Holding> {
  const { facts, unreadable, isPartial } = await listed(memory, caller, {});
  const holding = facts.filter(({ key, value }) => key !== except && phrases.isIn(value));
  return { keys: holding.map(({ key }) => key), isPartial: isPartial || unreadable > 0 };
}
