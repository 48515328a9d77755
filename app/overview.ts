/** Summaries of what memory holds, without values. */

import { ANSWER_LIMITS, requireCount } from "../engine/answer-limits.ts";
import { defined } from "../engine/defined.ts";
import { asHelmdeckError } from "../engine/errors.ts";
import { EXPIRING_WITHIN_MS } from "../engine/facts/renewal.ts";
import { pagesOf } from "../engine/pages-of.ts";
import { learnDefaults } from "../engine/projections/my-defaults.ts";
import { expiringFacts, summariseMemory } from "../engine/projections/my-memory.ts";
import { ownNote } from "../engine/rules/ended.ts";
import { type Quota, quotaOf } from "../engine/rules/quota.ts";
import type { Usage } from "../engine/store/memory-store.ts";
import { type Namespace, type Subject, subjectOf } from "../engine/store/namespace.ts";
import { reasonOf } from "./availability.ts";
import type {
  CallerCount,
  CallersPage,
  Memory,
  MemoryStatus,
  MyDefaults,
  MyMemory,
  PageQuery,
  StoredCounts,
} from "./memory.ts";
import { endedText, NOTHING_STORED } from "./presenters/words.ts";
import { requireNamespace } from "./subject.ts";
import type { UseCaseContext } from "./use-case-context.ts";

/** The location of an open memory, for status. */
export interface OpenedStorage {
  readonly databasePath: string;
  readonly keySource: string;
  readonly driver: string;
}

export async function myMemory(
  context: UseCaseContext,
  namespace: Namespace,
  subject: Subject,
): Promise<MyMemory> {
  const summary = await summariseMemory(context.store, namespace);
  const expiring = await expiringFacts(context.store, namespace);
  const note =
    endedText(await context.store.ended(namespace)) || (summary.length === 0 ? NOTHING_STORED : "");
  return {
    scope: `caller=${subject}`,
    fetchedAt: context.now(),
    categories: summary.map(({ name, count, recentKeys }) => ({ name, count, recentKeys })),
    ...defined({ expiring }),
    ...(note !== "" && { note }),
  };
}

/**
 * Who asked for an end within 14 days need not be told of it: what was stored for so long or less does not count. Throws where
 * nobody can note that a person was told.
 */
export async function tellEnding({ store, now }: UseCaseContext, namespace: Namespace) {
  const note = ownNote(namespace, "told");
  if ((await store.get(note)) !== undefined) return { facts: 0 };
  let facts = 0;
  const soon = {
    namespace,
    origin: "fact",
    expiresBefore: now() + EXPIRING_WITHIN_MS,
    limit: 1_000,
  } as const;
  for await (const { entries } of pagesOf((more) => store.listMeta({ ...soon, ...more })))
    facts += entries.filter((one) => (one.expiresAt ?? 0) - one.updatedAt > EXPIRING_WITHIN_MS).length;
  const expiresAt = new Date(now()).setHours(24, 0, 0, 0);
  const told = { ...note, value: new Uint8Array(), category: "cache", tags: [], expiresAt };
  // One who comes first has told it; `keeps` judges that in the write's own transaction.
  const put = facts === 0 ? [] : await store.putMany([told], { keeps: () => true });
  return { facts: put[0]?.kept ? 0 : facts };
}

export async function myDefaults(
  context: UseCaseContext,
  namespace: Namespace,
  subject: Subject,
): Promise<MyDefaults> {
  const now = context.now();
  const learnt = await learnDefaults(context.store, namespace, now);
  return { scope: `caller=${subject}`, fetched_at: new Date(now).toISOString(), ...learnt };
}

export async function callersOf(
  { store }: UseCaseContext,
  of?: Subject,
  { cursor, ...query }: PageQuery = {},
): Promise<CallersPage> {
  const limit = requireCount("limit", query.limit, ANSWER_LIMITS.callers);
  if (of !== undefined) {
    const { entries: count, bytes } = await store.usage(requireNamespace(of));
    return { callers: count === 0 ? [] : [{ subject: of, count, bytes }] };
  }
  const after = cursor === undefined ? undefined : requireNamespace(cursor);
  const found = await store.subjects(after, limit + 1);
  const callers = found.slice(0, limit).map(({ namespace, entries, bytes }) => {
    return { subject: subjectOf(namespace), count: entries, bytes };
  });
  return { callers, ...(found.length > limit && defined({ nextCursor: callers.at(-1)?.subject })) };
}

export async function everyCaller(memory: Pick<Memory, "callers">): Promise<readonly CallerCount[]> {
  const all: CallerCount[] = [];
  const limit = ANSWER_LIMITS.callers.most;
  for await (const page of pagesOf((more) => memory.callers(undefined, { limit, ...more })))
    all.push(...page.callers);
  return all;
}

export interface TotalUsage extends Usage {
  /** The greatest part of what it may store that one subject has used: 1 is full. */
  readonly fullest: Usage;
}

export async function totalUsage(memory: Pick<Memory, "callers">, quota: Quota): Promise<TotalUsage> {
  const total = { entries: 0, bytes: 0, fullest: { entries: 0, bytes: 0 } };
  for (const { subject, count: entries, bytes } of await everyCaller(memory)) {
    const may = quotaOf(quota, subject);
    total.entries += entries;
    total.bytes += bytes;
    total.fullest.entries = Math.max(total.fullest.entries, entries / may.entries);
    total.fullest.bytes = Math.max(total.fullest.bytes, bytes / may.bytes);
  }
  return total;
}

export async function subjectCounts(
  context: UseCaseContext,
  namespace: Namespace,
  name: Subject,
): Promise<NonNullable<MemoryStatus["subject"]>> {
  const expiring = await expiringFacts(context.store, namespace);
  return { name, ...(await storedCounts(context, namespace)), ...defined({ expiring }) };
}

/** Counts live entries, not all that were ever indexed. */
export async function storedCounts(context: UseCaseContext, namespace: Namespace): Promise<StoredCounts> {
  const [facts, auditRows] = await Promise.all([
    context.store.countWhere({ namespace, origins: ["fact"] }),
    context.store.countWhere({ namespace, origins: ["audit"] }),
  ]);
  const ended = await context.store.ended(namespace);
  return { facts, auditRows, ...(ended.length > 0 && { ended }) };
}

/** A status with the reason why memory does not work. Accepts any error, and shows only our own messages. */
export function failedStatus(location: OpenedStorage, error: unknown): MemoryStatus {
  const { code, message } = asHelmdeckError(reasonOf(error));
  return { state: "failed", ...location, mode: "keyword", error: { code, message } };
}
