/** What memory holds and how it is, without values. */
import {
  asHelmdeckError,
  learnDefaults,
  type Namespace,
  type Subject,
  subjectOf,
  summariseMemory,
} from "../engine/index.ts";
import type { Kit } from "./kit.ts";
import type { CallerCount, MemoryStatus, MyDefaults, MyMemory, StoredCounts } from "./memory.ts";

/** Where an open memory is, as status shows it. */
export interface Whereabouts {
  readonly databasePath: string;
  readonly keySource: string;
  readonly driver: string;
}

export async function myMemory(kit: Kit, namespace: Namespace, subject: Subject): Promise<MyMemory> {
  const summary = await summariseMemory(kit.store, namespace);
  return {
    scope: `caller=${subject}`,
    fetchedAt: kit.now(),
    categories: summary.map(({ name, count, recentKeys }) => ({ name, count, recentKeys })),
    ...(summary.length === 0 && { note: "Nothing has been stored yet." }),
  };
}

export async function myDefaults(kit: Kit, namespace: Namespace, subject: Subject): Promise<MyDefaults> {
  const now = kit.now();
  const learnt = await learnDefaults(kit.store, namespace, now);
  return { scope: `caller=${subject}`, fetched_at: new Date(now).toISOString(), ...learnt };
}

/** A subject's sessions count as the subject. */
export async function callersOf(kit: Kit): Promise<readonly CallerCount[]> {
  const counts = new Map<Subject, number>();
  for (const { namespace, count } of await kit.store.namespaces()) {
    const subject = subjectOf(namespace);
    counts.set(subject, (counts.get(subject) ?? 0) + count);
  }
  return [...counts]
    .map(([subject, count]) => ({ subject, count }))
    .sort((a, b) => (a.subject < b.subject ? -1 : 1));
}

export async function subjectCounts(
  kit: Kit,
  namespace: Namespace,
  name: Subject,
): Promise<NonNullable<MemoryStatus["subject"]>> {
  return { name, ...(await storedCounts(kit, namespace)) };
}

/** What is alive, not what was ever indexed. */
export async function storedCounts(kit: Kit, namespace: Namespace): Promise<StoredCounts> {
  const [facts, auditRows] = await Promise.all([
    kit.store.countWhere({ namespace, origins: ["fact"] }),
    kit.store.countWhere({ namespace, origins: ["audit"] }),
  ]);
  return { facts, auditRows };
}

/** A status that says why memory does not work. Takes any error, and shows the text of our own ones only. */
export function failedStatus(whereabouts: Whereabouts, error: unknown): MemoryStatus {
  const { code, message } = asHelmdeckError(error);
  return { state: "failed", ...whereabouts, mode: "keyword", error: { code, message } };
}
