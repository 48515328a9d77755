/** What somebody does about a finding of a review: each by what every memory can do, on the condition that nothing changed since. */
import { defined } from "../engine/defined.ts";
import { HelmdeckError, partlyDone } from "../engine/errors.ts";
import { NEWER_NAMED, requireUpTo } from "../engine/rules/conditions.ts";
import type { Subject } from "../engine/store/namespace.ts";
import { isPersons } from "../engine/store/writer.ts";
import type { Asker, FactView, ForgetInput, Forgotten, Memory, ReviewFinding, StoredFact } from "./memory.ts";

export interface Merge {
  /** Of the fact that stays. */
  readonly key: string;
  /** Of those that become its history; at most nine. */
  readonly over: readonly string[];
  /** The `revision` of what was shown. */
  readonly upTo?: number;
}

/**
 * Stores the fact's value once more, over the others. Its category, tags, chosen end and pin stay. An undo of that store brings the
 * others back, but for their pins.
 *
 * Throws `not_found`, `changed_meanwhile`, and what a store throws.
 */
export async function mergeFacts(
  memory: Pick<Memory, "getFact" | "storeFact">,
  subject: Subject,
  { key: name, over, upTo }: Merge,
  writer: Asker,
): Promise<StoredFact> {
  const fact = await memory.getFact(subject, { key: name });
  if (fact === undefined)
    throw new HelmdeckError(
      "not_found",
      "There is no fact with this key. Keys are exact and case-sensitive.",
    );
  const { key, value, revision } = fact;
  if (revision !== undefined) requireUpTo({ key, revision }, upTo);
  const conditions = defined({ ifRevision: revision, upTo });
  return memory.storeFact(subject, { key, value, supersedes: over, ...conditions }, writer);
}

/** Forgets this fact and no other; what was written since it was shown stays. */
export async function forgetFact(
  memory: Pick<Memory, "getFact" | "forget">,
  subject: Subject,
  { key, path }: Pick<FactView, "key" | "path">,
  options: Pick<ForgetInput, "upTo" | "dryRun">,
  asker?: Asker,
): Promise<Forgotten> {
  const scope = `key:${key}`;
  const isTaken = (await memory.getFact(subject, { key: scope }))?.key === scope;
  return memory.forget(subject, { scope: isTaken ? path : scope, ...options }, asker);
}

/** The same for each of several facts, in a transaction of its own: a process of version 0.3 knows no filter of several keys. */
export async function forgetFacts(
  memory: Pick<Memory, "getFact" | "forget">,
  subject: Subject,
  facts: readonly Pick<FactView, "key" | "path">[],
  options: Pick<ForgetInput, "upTo" | "dryRun">,
  asker?: Asker,
): Promise<Forgotten> {
  const all: Forgotten[] = [];
  const sum = (count: (one: Forgotten) => number) => all.reduce((total, one) => total + count(one), 0);
  for (const fact of facts) {
    try {
      all.push(await forgetFact(memory, subject, fact, options, asker));
    } catch (error) {
      if (all.length === 0) throw error;
      throw partlyDone(error, `Forgotten: ${sum(({ deleted }) => deleted)} of these facts. The others stay.`);
    }
  }
  const [deleted, former] = [sum((one) => one.deleted), sum((one) => one.former ?? 0)];
  const count = sum(({ newer }) => newer?.count ?? 0);
  const keys = all.flatMap(({ newer }) => newer?.keys ?? []).slice(0, NEWER_NAMED);
  const erased = (["pending", "complete"] as const).find((state) => all.some((one) => one.erased === state));
  return {
    ...{ scope: "", deleted, dryRun: options.dryRun ?? false, erased: erased ?? "nothing" },
    ...(former > 0 && { former }),
    ...(count > 0 && { newer: { count, keys } }),
  };
}

/** The one to keep if nobody says another: a pinned one, or a person's, or the newest. */
export function toKeep({ facts }: ReviewFinding): FactView | undefined {
  return facts.find(({ pinned }) => pinned) ?? facts.find(isPersons) ?? facts[0];
}
