/** Declares `list`. */
import type { Command } from "commander";
import type { FactsPage, FactView, Memory } from "../app/memory.ts";
import { endingNote } from "../app/presenters/ending-text.ts";
import type { Presented, Voice } from "../app/presenters/presented.ts";
import { endedText, expiryFrom, firstWords, localMinute, unmatchedText } from "../app/presenters/words.ts";
import { toWire } from "../app/wire/codec.ts";
import { ANSWER_LIMITS } from "../engine/answer-limits.ts";
import { defined } from "../engine/defined.ts";
import { isHelmdeckError } from "../engine/errors.ts";
import { harmlessLine } from "../engine/facts/hostile-text.ts";
import { pagesOf } from "../engine/pages-of.ts";
import { originOfCategory } from "../engine/projections/paths.ts";
import { isKnownTime } from "../engine/rfc3339.ts";
import { type CommandContext, present, type Runs, voiceOf } from "./command-line.ts";
import { EXIT_DONE } from "./exit-codes.ts";
import { AS_OF, asOfMoment, count, withExamples } from "./option-parsers.ts";
import { withMemory } from "./with-memory.ts";

export function declareList(program: Command, runs: Runs): void {
  const list = program
    .command("list")
    .alias("ls")
    .summary("List facts: pinned ones, then the newest.")
    .description("List facts: pinned ones first, then the newest.")
    .argument("[prefix]", "Only keys that begin with this; case matters, no wildcards.")
    .option("--category <name>", "Only this category.")
    .option("--expiring", "Only facts that expire within 14 days.")
    .option("--pinned", "Only pinned facts.")
    .option("--as-of <date>", AS_OF, asOfMoment)
    .option("--limit <count>", "Maximum number.", count, ANSWER_LIMITS.facts.byDefault)
    .action((prefix: string | undefined, _options: unknown, command: Command) => {
      const { category, expiring, pinned, asOf, limit } = command.opts<ListOptions>();
      return runs(command, async (context) => {
        return listCommand(context, {
          limit,
          ...defined({ prefix, category, expiring, pinned, asOf }),
        });
      });
    });
  withExamples(list, [
    "helmdeck-memory list",
    "helmdeck-memory list deploy/ --limit 20",
    "helmdeck-memory list --category team --json",
    "helmdeck-memory list --expiring",
    "helmdeck-memory list --as-of 2026-04-01",
  ]);
}

interface ListOptions {
  readonly category?: string;
  readonly expiring?: boolean;
  readonly pinned?: boolean;
  readonly asOf?: string;
  readonly limit: number;
}

/** With its indentation, the width of a terminal. */
const VALUE_CHARACTERS = 76;

export interface ListRequest {
  readonly prefix?: string;
  readonly category?: string;
  /** Only facts that expire within 14 days. */
  readonly expiring?: boolean;
  readonly pinned?: boolean;
  /** What the memory said then; Unix milliseconds. */
  readonly asOf?: string;
  readonly limit: number;
}

/** `list`: facts by prefix and category, pinned ones first, then newest first, with the beginnings of their values. */
async function listCommand(context: CommandContext, request: ListRequest): Promise<number> {
  const { output, options } = context;
  return withMemory(context, async (memory) => {
    const page = await collectFacts(memory, options.caller, request);
    if (options.json) await output.json(toWire(page));
    else await present(context, await listText(memory, page, request, voiceOf(context)));
    return EXIT_DONE;
  });
}

/** The newest facts up to the limit, over several pages; `nextCursor` when there are more. */
async function collectFacts(
  memory: Memory,
  subject: string,
  { limit, ...filter }: ListRequest,
): Promise<FactsPage> {
  const facts: FactView[] = [];
  const unreadable: string[] = [];
  let nextCursor: string | undefined;
  let ended: FactsPage["ended"];
  const read = (more: { readonly cursor?: string }) => {
    const left = Math.min(limit - facts.length, ANSWER_LIMITS.facts.most);
    return memory.listFacts(subject, { ...filter, limit: left, ...more });
  };
  for await (const page of pagesOf(read)) {
    facts.push(...page.facts);
    unreadable.push(...page.unreadable);
    ({ nextCursor } = page);
    ended ??= page.ended;
    if (facts.length >= limit) break;
  }
  return { facts, unreadable, ...defined({ nextCursor, ended }) };
}

export async function listText(
  memory: Memory,
  { facts, unreadable, nextCursor, ended }: FactsPage,
  request: ListRequest,
  voice: Voice,
): Promise<Presented> {
  const isEmpty = facts.length + unreadable.length === 0;
  return {
    answer: facts.flatMap((fact) => linesOf(fact, voice)),
    notes: [
      ...(isEmpty ? [await nothing(memory, request, voice, ended ? "any more" : "yet")] : []),
      ...(ended ? [endedText(ended)] : []),
      ...unreadable.map((key) => unreadableNote(key, voice)),
      ...(nextCursor === undefined ? [] : [`These are the newest ${request.limit}; --limit shows more.`]),
      ...(isEmpty || request.expiring ? [] : await endingNotes(memory, voice)),
    ],
  };
}

async function endingNotes(memory: Memory, { caller, command }: Voice): Promise<readonly string[]> {
  const { expiring } = await memory.myMemory(caller);
  return endingNote(expiring, { renew: `${command} renew`, pin: `${command} pin` });
}

/** Two lines per fact; the second has the beginning of its value. */
function linesOf(
  { key, value, category, updatedAt, expiresAt, pinned }: FactView,
  { now, style }: Voice,
): readonly string[] {
  const about = `(${pinned ? "pinned, " : ""}${category}, ${isKnownTime(updatedAt) ? `${localMinute(updatedAt)}, ${endFrom(now, expiresAt)}` : "times unknown"})`;
  return [
    `${harmlessLine(key)}  ${style("dim", about)}`,
    `    ${style("bold", firstWords(value, VALUE_CHARACTERS))}`,
  ];
}

function endFrom(now: number, expiresAt: number | undefined): string {
  return expiresAt === undefined ? "never expires" : `expires ${expiryFrom(now, expiresAt)}`;
}

/** The fact that the prefix names when no key begins with it: a path or docid was given as a key. */
async function keyNamedBy(
  memory: Memory,
  { prefix, category }: ListRequest,
  { caller }: Voice,
): Promise<string | undefined> {
  if (prefix === undefined || category !== undefined) return undefined;
  try {
    return (await memory.getFact(caller, { key: prefix }))?.key;
  } catch (error) {
    if (isHelmdeckError(error, "entry_unreadable")) return undefined; // a hint that cannot be computed is no failure
    throw error;
  }
}

async function nothing(memory: Memory, request: ListRequest, voice: Voice, yet: string): Promise<string> {
  const { caller, storing } = voice;
  const whose = `memory of ${harmlessLine(caller)}`;
  if (request.pinned) return `No ${isNarrow(request) ? "such " : ""}fact in the ${whose} is pinned.`;
  if (request.expiring)
    return `No ${isNarrow(request) ? "such " : ""}fact in the ${whose} expires within 14 days.`;
  if (!isNarrow(request)) return `The ${whose} holds no facts ${yet}. ${storing}`;
  const named = await keyNamedBy(memory, request, voice);
  if (named !== undefined) {
    return `No key in the ${whose} begins with this. It is the path of the fact with the key ${harmlessLine(named)}`;
  }
  if (request.asOf !== undefined)
    return `As far as histories tell, the ${whose} held no ${request.prefix || request.category ? "such " : ""}facts then.`;
  const facts = await countFacts(memory, caller);
  if (facts === 0) return `The ${whose} holds no facts ${yet}. ${storing}`;
  const counted = unmatchedText(
    { facts, auditRows: 0 },
    "without a prefix and --category, list shows every one",
  );
  return `The ${whose} holds no such facts. ${counted} Use search to find words in values.`;
}

async function countFacts(memory: Memory, caller: string): Promise<number> {
  const { categories } = await memory.myMemory(caller);
  const ofFacts = categories.filter(({ name }) => originOfCategory(name) === "fact");
  return ofFacts.reduce((sum, { count }) => sum + count, 0);
}

function unreadableNote(key: string, { command }: Voice): string {
  return `${harmlessLine(key)} exists but cannot be opened; run ${command} doctor for details.`;
}

function isNarrow({ prefix, category, asOf }: ListRequest): boolean {
  return prefix !== undefined || category !== undefined || asOf !== undefined;
}
