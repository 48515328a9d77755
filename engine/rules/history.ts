/**
 * The history of a fact: how it grows with each store, moves to a fact that supersedes it, and is undone.
 *
 * A history is a list, oldest first. One store may add several former values: those of the facts that it superseded and finally
 * the one under its own key. Each of them except the first is `joined` to the previous one, so that an undo takes them back
 * together. Values of a superseded fact keep their own order by `life` and `into`, so that the whole fact can be restored.
 */
import { defined } from "../defined.ts";
import { type HelmdeckError, invalidField } from "../errors.ts";
import { isExpired } from "../store/entry-rules.ts";
import { heldOf } from "../store/fields.ts";
import type {
  Entry,
  EntryFilter,
  FormerKey,
  FormerValue,
  Held,
  NewEntry,
  UnixMs,
} from "../store/memory-store.ts";

export const HISTORY_LIMITS = {
  /** The most recent former values of a fact. */
  kept: 10,
  /** The most facts that one store supersedes; they and the replaced value are kept together. */
  superseded: 9,
} as const;

/** A superseded fact with its history. */
export interface Retired {
  readonly entry: Entry;
  readonly history: readonly FormerValue[];
}

/** The effect of an undo. */
export interface Undo {
  /** The fact's value before; absent when the fact did not exist. */
  readonly before?: FormerValue;
  /** The remaining history. */
  readonly history: readonly FormerValue[];
  /** The facts that it had superseded. */
  readonly revived: readonly { readonly former: FormerValue; readonly history: readonly FormerValue[] }[];
}

/** Only facts have a history. */
export function hasHistory({ origin }: Pick<NewEntry, "origin">): boolean {
  return origin === "fact";
}

/**
 * The superseded keys other than the entry's own. Throws `invalid_input` when there are too many, or for an entry without a
 * history.
 */
export function checkSuperseded(entry: NewEntry, keys: readonly string[] = []): readonly string[] {
  const others = [...new Set(keys)].filter((key) => key !== entry.key);
  if (others.length > 0 && !hasHistory(entry)) throw invalidField("supersedes", "is allowed for facts only");
  if (others.length <= HISTORY_LIMITS.superseded) return others;
  throw invalidField(
    "supersedes",
    `may name at most ${HISTORY_LIMITS.superseded} keys, but names ${others.length}`,
  );
}

/** A fact's history after a store that replaced its value and superseded others. */
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

/** The history as if nothing had been stored with this tag. */
export function withoutTag(history: readonly FormerValue[], tag: string | undefined): readonly FormerValue[] {
  return tag === undefined ? history : historyWithout(history, ({ tags }) => tags.includes(tag));
}

/** The state before the last store that left anything; undefined when all of that has expired. */
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

/** A life's own history, as it was in its fact. */
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

/** The history for readers: newest first, without expired values. */
export function shownHistory(history: readonly FormerValue[], now: UnixMs): readonly FormerValue[] {
  return historyWithout(history, ({ expiresAt }) => isExpired(expiresAt, now)).toReversed();
}

/** The history without some values. The first remaining value of a store is joined to none; the others stay as they are. */
export function historyWithout<Former extends FormerValue>(
  history: readonly Former[],
  isGone: (former: Former) => boolean,
): readonly Former[] {
  let begins = false;
  return history.flatMap((former) => {
    begins ||= former.into === undefined && !former.joined;
    if (isGone(former)) return [];
    if (former.into !== undefined) return [former];
    const isFirst = begins && former.joined;
    begins = false;
    return [isFirst ? { ...former, joined: false } : former];
  });
}

/** A value, and when another one took its place; Infinity: none has. */
export interface Span {
  readonly held: Held;
  readonly until: UnixMs;
}

/** The values of a fact, and of those that it superseded. `former`: newest first, as a store shows it. */
export function spansOf(current: Held, former: readonly FormerValue[]): readonly Span[] {
  return spansUntil(current, former.toReversed(), Number.POSITIVE_INFINITY);
}

/** `history`: oldest first. */
function spansUntil(current: Held, history: readonly FormerValue[], until: UnixMs): readonly Span[] {
  const spans: Span[] = [{ held: current, until }];
  let stored = current.updatedAt;
  for (const kept of byStore(history).toReversed()) {
    for (const former of kept) {
      if (former.life === undefined) spans.push({ held: former, until: stored });
      else spans.push(...spansUntil(former, historyOfLife(history, former.life), stored));
    }
    stored = kept.find(({ life }) => life === undefined)?.updatedAt ?? stored;
  }
  return spans;
}

/** What each store kept of the fact that it changed. */
function byStore(history: readonly FormerValue[]): readonly (readonly FormerValue[])[] {
  const groups: FormerValue[][] = [];
  for (const former of history.filter(({ into }) => into === undefined)) {
    const last = groups.at(-1);
    if (last === undefined || !former.joined) groups.push([former]);
    else last.push(former);
  }
  return groups;
}

/** The error for a refused undo. */
export function keyInUse(key: string): HelmdeckError {
  return invalidField(
    "key",
    `cannot be undone: it superseded ${JSON.stringify(key)}, which has a new value now; forget that one first, or store the right value`,
  );
}

/** Whether a scope covers a former value. The caller compares the fact's namespace. */
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

/** A former value of a row, undefined when it does not open; and the fact of its history. */
export interface FoundFormer {
  readonly former: FormerValue | undefined;
  readonly of: FormerKey["of"];
}

/** Whether a scope covers it, and not its fact. An unreadable value may be covered. */
export function isCoveredAlone({ former, of }: FoundFormer, filter: EntryFilter): boolean {
  return !isCovered(of, filter) && (former === undefined || isCovered(former, filter));
}

/** One of {@link FormerKey}, or none when the value does not open. */
export function formerKeyOf({ former, of }: FoundFormer): readonly FormerKey[] {
  if (former === undefined) return [];
  const { key, category, tags, updatedAt } = former;
  return [{ of, key, category, tags, updatedAt }];
}

/** The number in a cursor of former keys; throws `invalid_input`. */
export function formerCursor(cursor: string): number {
  const after = Number(cursor);
  if (Number.isSafeInteger(after)) return after;
  throw invalidField("cursor", "is not from an earlier page; leave it out");
}

/** A filter that covers a whole namespace covers all former values with their facts; a position in a listing covers none. */
export function mayCoverFormer({ origins, category, tag, key, prefix, cursor }: EntryFilter): boolean {
  const isNarrow = [category, tag, key, prefix].some((named) => named !== undefined);
  return cursor === undefined && isNarrow && (origins === undefined || origins.includes("fact"));
}

function formerOf(entry: Entry): FormerValue {
  return { ...heldOf(entry), joined: false };
}
