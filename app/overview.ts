/** Summaries of what memory holds, without values. */

import { compareText } from "../engine/compare-text.ts";
import { defined } from "../engine/defined.ts";
import { asHelmdeckError } from "../engine/errors.ts";
import { learnDefaults } from "../engine/projections/my-defaults.ts";
import { expiringFacts, summariseMemory } from "../engine/projections/my-memory.ts";
import { type Namespace, type Subject, subjectOf } from "../engine/store/namespace.ts";
import { reasonOf } from "./availability.ts";
import type { CallerCount, MemoryStatus, MyDefaults, MyMemory, StoredCounts } from "./memory.ts";
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
  return {
    scope: `caller=${subject}`,
    fetchedAt: context.now(),
    categories: summary.map(({ name, count, recentKeys }) => ({ name, count, recentKeys })),
    ...defined({ expiring }),
    ...(summary.length === 0 && { note: "Nothing has been stored yet." }),
  };
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

/** A subject's sessions count toward the subject. */
export async function callersOf(context: UseCaseContext, of?: Subject): Promise<readonly CallerCount[]> {
  if (of !== undefined) {
    const namespace = requireNamespace(of);
    const count = await context.store.countWhere({ namespace, includeSessions: true });
    return count === 0 ? [] : [{ subject: of, count }];
  }
  const counts = new Map<Subject, number>();
  for (const { namespace, count } of await context.store.namespaces()) {
    const subject = subjectOf(namespace);
    counts.set(subject, (counts.get(subject) ?? 0) + count);
  }
  return [...counts]
    .map(([subject, count]) => ({ subject, count }))
    .sort((a, b) => compareText(a.subject, b.subject));
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
  return { facts, auditRows };
}

/** A status with the reason why memory does not work. Accepts any error, and shows only our own messages. */
export function failedStatus(location: OpenedStorage, error: unknown): MemoryStatus {
  const { code, message } = asHelmdeckError(reasonOf(error));
  return { state: "failed", ...location, mode: "keyword", error: { code, message } };
}
