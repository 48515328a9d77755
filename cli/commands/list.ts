/** `list`: facts by prefix and category, newest first. */
import {
  defined,
  type FactsQuery,
  type FactView,
  harmlessLine,
  isHelmdeckError,
  type Memory,
} from "../../app/index.ts";
import { type CommandContext, withMemory } from "../command-context.ts";
import { EXIT_DONE } from "../exit-codes.ts";
import { factJson } from "../fact-json.ts";
import { expiryFrom, localMinute } from "../local-times.ts";

const PAGE_LIMIT = 1_000;

export interface ListRequest {
  readonly prefix?: string;
  readonly category?: string;
  readonly limit: number;
}

interface Listing {
  readonly facts: readonly FactView[];
  readonly unreadable: readonly string[];
  /** There are more than the limit. */
  readonly more: boolean;
  /** What the prefix names, where no key begins with it: a path or docid that was taken for a key. */
  readonly named?: string;
}

export async function listCommand(context: CommandContext, request: ListRequest): Promise<number> {
  const { output, options } = context;
  const listing = await withMemory(context, (memory) => collect(memory, options.caller, request));
  if (options.json) {
    const { facts, unreadable, more } = listing;
    await output.json({ facts: facts.map(factJson), unreadable, more });
  } else {
    await print(context, request, listing);
  }
  return EXIT_DONE;
}

async function collect(memory: Memory, caller: string, { limit, ...filter }: ListRequest): Promise<Listing> {
  const facts: FactView[] = [];
  const unreadable: string[] = [];
  let cursor: string | undefined;
  do {
    const left = limit - facts.length;
    const query: FactsQuery = {
      ...filter,
      limit: Math.min(left, PAGE_LIMIT),
      ...defined({ cursor }),
    };
    const page = await memory.listFacts(caller, query);
    facts.push(...page.facts);
    unreadable.push(...page.unreadable);
    cursor = page.nextCursor;
  } while (cursor !== undefined && facts.length < limit);
  const isEmpty = facts.length + unreadable.length === 0;
  const named =
    isEmpty && filter.category === undefined ? await keyNamedBy(memory, caller, filter.prefix) : undefined;
  return { facts, unreadable, more: cursor !== undefined, ...defined({ named }) };
}

async function keyNamedBy(
  memory: Memory,
  caller: string,
  prefix: string | undefined,
): Promise<string | undefined> {
  if (prefix === undefined) return undefined;
  try {
    return (await memory.getFact(caller, prefix))?.key;
  } catch (error) {
    if (isHelmdeckError(error, "entry_unreadable")) return undefined; // a hint that cannot be given is no failure
    throw error;
  }
}

async function print(
  context: CommandContext,
  request: ListRequest,
  { facts, unreadable, more, named }: Listing,
): Promise<void> {
  const { shell, output } = context;
  if (facts.length === 0 && unreadable.length === 0) await output.note(nothing(context, request, named));
  if (facts.length > 0)
    await output.line(output.styled("bold", row("UPDATED", "EXPIRES", "CATEGORY", "KEY", facts)));
  for (const fact of facts) {
    const { updatedAt, expiresAt, category, key } = fact;
    await output.line(
      row(localMinute(updatedAt), expiryFrom(shell.now(), expiresAt), category, harmlessLine(key), facts),
    );
  }
  for (const key of unreadable) {
    await output.note(
      `entry_unreadable: ${harmlessLine(key)} is there but cannot be opened; helmdeck-memory doctor says more.`,
    );
  }
  if (more) await output.note(`These are the newest ${request.limit}; --limit shows more.`);
}

/** The key comes last: it is the only column whose width on a terminal is not known. */
function row(
  updated: string,
  expires: string,
  category: string,
  key: string,
  facts: readonly FactView[],
): string {
  const categoryWidth = Math.max("CATEGORY".length, ...facts.map((fact) => fact.category.length));
  return `${updated.padEnd(16)}  ${expires.padEnd(13)}  ${category.padEnd(categoryWidth)}  ${key}`;
}

function nothing(
  { options }: CommandContext,
  { prefix, category }: ListRequest,
  named: string | undefined,
): string {
  const caller = harmlessLine(options.caller);
  if (named !== undefined) {
    return `No key in the memory of ${caller} begins so. This is where a fact stands whose key is ${harmlessLine(named)}`;
  }
  if (prefix === undefined && category === undefined) {
    return `The memory of ${caller} holds no facts yet. Store one: helmdeck-memory store KEY VALUE`;
  }
  return `The memory of ${caller} holds no such facts. Without a prefix and --category, list shows every one; search looks for words.`;
}
