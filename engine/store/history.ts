/**
 * What a fact held before: how that grows with each store, goes over to a fact that supersedes it, and is gone back through.
 *
 * A history is a list, the oldest first. One store may add several former values to it: those of the facts that it superseded, and
 * at last the one that stood under its own key. Each of them but the first is `joined` to the one before, so that an undo takes them
 * back together. What a superseded fact brings along keeps its own order, told by `life` and `into`, so that it can go back whole.
 */
import { defined } from "../defined.ts";
import { type HelmdeckError, invalidField } from "../errors.ts";
import { isExpired } from "./entry-rules.ts";
import type { Entry, EntryFilter, FormerKey, FormerValue, NewEntry, UnixMs } from "./memory-store.ts";

export const HISTORY_LIMITS = {
  /** Former values of one fact, the latest. */
  kept: 10,
  /** Facts that one store supersedes: all of them, and what it replaces, are kept together. */
  superseded: 9,
} as const;

/** A fact that is retired, with its history. */
export interface Retired {
  readonly entry: Entry;
  readonly history: readonly FormerValue[];
}

/** What an undo brings about. */
export interface Undo {
  /** What the fact itself held before; absent when it was not there before. */
  readonly before?: FormerValue;
  /** What is left of its history. */
  readonly history: readonly FormerValue[];
  /** The facts that it had superseded. */
  readonly revived: readonly { readonly former: FormerValue; readonly history: readonly FormerValue[] }[];
}

/** Only facts have one: what code keeps for itself has no use for it. */
export function hasHistory({ origin }: Pick<NewEntry, "origin">): boolean {
  return origin === "fact";
}

/** The keys that are meant besides the entry's own; `invalid_input` for too many, or where there is no history to keep them in. */
export function checkSuperseded(entry: NewEntry, keys: readonly string[] = []): readonly string[] {
  const others = [...new Set(keys)].filter((key) => key !== entry.key);
  if (others.length > 0 && !hasHistory(entry)) throw invalidField("supersedes", "is for facts alone");
  if (others.length <= HISTORY_LIMITS.superseded) return others;
  throw invalidField("supersedes", `may name ${HISTORY_LIMITS.superseded} keys, and names ${others.length}`);
}

/** The history of a fact after a store that replaced its value and superseded others. */
export function grown(
  history: readonly FormerValue[],
  {
    replaced,
    superseded,
  }: { readonly replaced?: Entry | undefined; readonly superseded: readonly Retired[] },
): readonly FormerValue[] {
  const brought = superseded.flatMap(({ entry, history: theirs }) =>
    theirs.map((former) => ({ ...former, life: former.life ?? entry.id, into: former.into ?? entry.id })),
  );
  const added = [
    ...superseded.map(({ entry }) => ({ ...formerOf(entry), life: entry.id })),
    ...(replaced === undefined ? [] : [formerOf(replaced)]),
  ].map((former, at) => ({ ...former, joined: at > 0 }));
  return [...history, ...brought, ...added].slice(-HISTORY_LIMITS.kept);
}

/** What was there before the last store that left anything; undefined when nothing of that is there at this time. */
export function undoOf(history: readonly FormerValue[], now: UnixMs): Undo | undefined {
  const own = history.filter(({ into }) => into === undefined);
  const last = own.slice(
    Math.max(
      0,
      own.findLastIndex(({ joined }) => !joined),
    ),
  );
  const alive = last.filter(({ expiresAt }) => !isExpired(expiresAt, now));
  if (alive.length === 0) return undefined;
  const revived = alive
    .filter(({ life }) => life !== undefined)
    .map((former) => ({ former, history: historyOfLife(history, former.life) }));
  const before = alive.find(({ life }) => life === undefined);
  const taken = new Set(last.flatMap((former) => [former, ...broughtBy(history, former.life)]));
  return { ...defined({ before }), revived, history: history.filter((former) => !taken.has(former)) };
}

/** As it was in the fact that brought it. */
function historyOfLife(history: readonly FormerValue[], life: string | undefined): readonly FormerValue[] {
  const brought = new Set(broughtBy(history, life));
  return history
    .filter((former) => brought.has(former))
    .map(({ life: its, into, ...former }) => ({
      ...former,
      ...defined({ life: its === life ? undefined : its, into: into === life ? undefined : into }),
    }));
}

function broughtBy(history: readonly FormerValue[], life: string | undefined): readonly FormerValue[] {
  if (life === undefined) return [];
  const direct = history.filter(({ into }) => into === life);
  const further = direct.filter((former) => former.life !== life);
  return [...direct, ...further.flatMap((former) => broughtBy(history, former.life))];
}

/** What readers are shown: newest first, without what would have ended by itself. The first left of a store is joined to none. */
export function shownHistory(history: readonly FormerValue[], now: UnixMs): readonly FormerValue[] {
  let begins = false;
  const shown = history.flatMap((former) => {
    begins ||= former.into === undefined && !former.joined;
    if (isExpired(former.expiresAt, now)) return [];
    if (former.into !== undefined) return [former];
    const joined = former.joined && !begins;
    begins = false;
    return [{ ...former, joined }];
  });
  return shown.toReversed();
}

/** Why an undo is refused. */
export function keyInUse(key: string): HelmdeckError {
  return invalidField(
    "key",
    `cannot go back: it superseded ${JSON.stringify(key)}, which holds something new by now; forget that, or store what is right`,
  );
}

/** Whether a scope covers a former value. Its fact's namespace is the caller's to compare. */
export function isCovered(
  former: Pick<FormerKey, "key" | "category" | "tags">,
  { origins, category, tag, key, prefix = "" }: EntryFilter,
): boolean {
  return (
    (origins === undefined || origins.includes("fact")) &&
    (category === undefined || former.category === category) &&
    (tag === undefined || former.tags.includes(tag)) &&
    (key === undefined || former.key === key) &&
    prefix.isWellFormed() &&
    former.key.startsWith(prefix)
  );
}

/** A filter that names nothing within a namespace covers all former values with their facts; a place in a listing names none. */
export function mayCoverFormer({ origins, category, tag, key, prefix, cursor }: EntryFilter): boolean {
  const isNarrow = [category, tag, key, prefix].some((named) => named !== undefined);
  return cursor === undefined && isNarrow && (origins === undefined || origins.includes("fact"));
}

function formerOf(entry: Entry): FormerValue {
  const { key, value, category, tags, createdAt, updatedAt, expiresAt, writer } = entry;
  return {
    key,
    value,
    category,
    tags,
    createdAt,
    updatedAt,
    ...defined({ expiresAt, writer }),
    joined: false,
  };
}
