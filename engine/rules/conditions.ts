/** Conditions that a write's own transaction judges: nobody can change what they are about between the judgement and the write. */
import { HelmdeckError, invalidField } from "../errors.ts";
import type {
  ConflictRule,
  DeleteOptions,
  EntryMeta,
  KeysSince,
  Newer,
  Revision,
} from "../store/memory-store.ts";

/** The most keys that a delete names of those that stay. */
export const NEWER_NAMED = 10;

/** `there`: the live entry. Throws `changed_meanwhile`. */
export function requireRevision(
  there: Pick<EntryMeta, "revision"> | undefined,
  ifRevision: Revision | undefined,
): void {
  checkRevision("if_revision", ifRevision);
  const revision = there?.revision ?? 0;
  if (ifRevision !== undefined && ifRevision !== revision) throw changedMeanwhile(revision);
}

/** For one of several facts that a write is about. Throws `changed_meanwhile`, which names it. */
export function requireUpTo(
  { key, revision }: Pick<EntryMeta, "key" | "revision">,
  upTo: Revision | undefined,
): void {
  checkRevision("up_to", upTo);
  if (upTo !== undefined && revision > upTo) throw changedMeanwhile(revision, ` ${JSON.stringify(key)}`);
}

/** `newest`: the greatest number in use. Another store, or a later state of this one, was shown. Throws `changed_meanwhile`. */
export function requireReached({ upTo }: DeleteOptions, newest: Revision): void {
  checkRevision("up_to", upTo);
  if (upTo === undefined || upTo <= newest) return;
  throw new HelmdeckError(
    "changed_meanwhile",
    "The memory was replaced since you looked at it. Look again, then repeat the change.",
    { details: { revision: newest }, unchanged: "Nothing was deleted." },
  );
}

/** Whether keys may have been written since. Most writes find none, and read nothing. */
export function mustJudgeKeys(keysSince: KeysSince | undefined, newest: Revision): keysSince is KeysSince {
  return keysSince !== undefined && keysSince.revision < newest;
}

/** Undefined when there is none. */
export function newerOf(count: number, keys: readonly string[]): Newer | undefined {
  return count === 0 ? undefined : { count, keys: keys.slice(0, NEWER_NAMED) };
}

/** Unix milliseconds. */
interface Times {
  readonly updatedAt?: number;
  /** Absent: never expires. */
  readonly expiresAt?: number;
}

/** Whether the existing entry stays at an import. An entry without a time counts as written now. */
export function keepsExisting(
  there: Required<Pick<Times, "updatedAt">> & Times,
  given: Times,
  rule: ConflictRule,
): boolean {
  if (rule !== "newer") return rule === "keep";
  if (given.updatedAt === undefined) return false;
  if (there.updatedAt !== given.updatedAt) return there.updatedAt > given.updatedAt;
  return endOf(there) >= endOf(given);
}

export function changedMeanwhile(revision: Revision, which = ""): HelmdeckError {
  const now = revision === 0 ? "is gone or cannot be opened" : "has another value, or other times, now";
  return new HelmdeckError(
    "changed_meanwhile",
    `Somebody else changed the fact${which} meanwhile: it ${now}. Read it again, then repeat the change.`,
    { details: { revision }, unchanged: "Nothing was written." },
  );
}

function checkRevision(field: string, revision: unknown): void {
  if (revision === undefined || (Number.isSafeInteger(revision) && Number(revision) >= 0)) return;
  throw invalidField(field, "must be the whole number that was shown, from 0");
}

function endOf({ expiresAt }: Times): number {
  return expiresAt ?? Number.POSITIVE_INFINITY;
}
