/** `list` on both command lines: facts by prefix and category, newest first, in text without their values. */
import {
  ANSWER_LIMITS,
  defined,
  harmlessLine,
  isHelmdeckError,
  originOfCategory,
} from "../../engine/index.ts";
import type { FactsPage, FactView, Memory } from "../memory.ts";
import { unmatchedText } from "../searching.ts";
import { expiryFrom, localMinute } from "./local-times.ts";
import type { Presented, Voice } from "./presented.ts";

export interface ListRequest {
  readonly prefix?: string;
  readonly category?: string;
  /** Only what ends within 14 days. */
  readonly expiring?: boolean;
  readonly limit: number;
}

/** The newest facts up to the limit, however many pages they are; `nextCursor` when there are more. */
export async function collectFacts(
  memory: Memory,
  subject: string,
  { limit, ...filter }: ListRequest,
): Promise<FactsPage> {
  const facts: FactView[] = [];
  const unreadable: string[] = [];
  let cursor: string | undefined;
  do {
    const left = limit - facts.length;
    const query = { ...filter, limit: Math.min(left, ANSWER_LIMITS.facts.most), ...defined({ cursor }) };
    const page = await memory.listFacts(subject, query);
    facts.push(...page.facts);
    unreadable.push(...page.unreadable);
    cursor = page.nextCursor;
  } while (cursor !== undefined && facts.length < limit);
  return { facts, unreadable, ...defined({ nextCursor: cursor }) };
}

export async function listText(
  memory: Memory,
  { facts, unreadable, nextCursor }: FactsPage,
  request: ListRequest,
  voice: Voice,
): Promise<Presented> {
  const isEmpty = facts.length + unreadable.length === 0;
  return {
    answer: tableOf(facts, voice),
    notes: [
      ...(isEmpty ? [await nothing(memory, request, voice)] : []),
      ...unreadable.map((key) => unreadableNote(key, voice)),
      ...(nextCursor === undefined ? [] : [`These are the newest ${request.limit}; --limit shows more.`]),
    ],
  };
}

/** The key comes last: it is the only column whose width on a terminal is not known. */
function tableOf(facts: readonly FactView[], { now, style }: Voice): readonly string[] {
  if (facts.length === 0) return [];
  const categoryWidth = Math.max("CATEGORY".length, ...facts.map(({ category }) => category.length));
  const row = (updated: string, expires: string, category: string, key: string) =>
    `${updated.padEnd(16)}  ${expires.padEnd(13)}  ${category.padEnd(categoryWidth)}  ${key}`;
  return [
    style("bold", row("UPDATED", "EXPIRES", "CATEGORY", "KEY")),
    ...facts.map(({ updatedAt, expiresAt, category, key }) =>
      row(localMinute(updatedAt), expiryFrom(now, expiresAt), category, harmlessLine(key)),
    ),
  ];
}

/** What the prefix names, where no key begins with it: a path or docid that was taken for a key. */
async function keyNamedBy(
  memory: Memory,
  { prefix, category }: ListRequest,
  { caller }: Voice,
): Promise<string | undefined> {
  if (prefix === undefined || category !== undefined) return undefined;
  try {
    return (await memory.getFact(caller, prefix))?.key;
  } catch (error) {
    if (isHelmdeckError(error, "entry_unreadable")) return undefined; // a hint that cannot be given is no failure
    throw error;
  }
}

async function nothing(memory: Memory, request: ListRequest, voice: Voice): Promise<string> {
  const { caller, storing } = voice;
  const whose = `memory of ${harmlessLine(caller)}`;
  if (request.expiring)
    return `No ${isNarrow(request) ? "such " : ""}fact in the ${whose} ends within 14 days.`;
  if (!isNarrow(request)) return `The ${whose} holds no facts yet. ${storing}`;
  const named = await keyNamedBy(memory, request, voice);
  if (named !== undefined) {
    return `No key in the ${whose} begins so. This is where a fact stands whose key is ${harmlessLine(named)}`;
  }
  const facts = await countFacts(memory, caller);
  if (facts === 0) return `The ${whose} holds no facts yet. ${storing}`;
  const counted = unmatchedText(
    { facts, auditRows: 0 },
    "without a prefix and --category, list shows every one",
  );
  return `The ${whose} holds no such facts. ${counted} Search looks for words.`;
}

async function countFacts(memory: Memory, caller: string): Promise<number> {
  const { categories } = await memory.myMemory(caller);
  const ofFacts = categories.filter(({ name }) => originOfCategory(name) === "fact");
  return ofFacts.reduce((sum, { count }) => sum + count, 0);
}

function unreadableNote(key: string, { command }: Voice): string {
  return `entry_unreadable: ${harmlessLine(key)} is there but cannot be opened; ${command} doctor says more.`;
}

function isNarrow({ prefix, category }: ListRequest): boolean {
  return prefix !== undefined || category !== undefined;
}
