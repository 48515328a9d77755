/**
 * What a put, an undo and a renewal change: the same for every store.
 *
 * In the write's own transaction, a store loads the slots that a rule needs, and applies the plan: it removes, then writes, each
 * under its next change number, and returns the plan's answer. A plan sees opened entries; a store seals what it writes.
 */
import { defined } from "../defined.ts";
import { HelmdeckError } from "../errors.ts";
import { keepingMarks } from "../facts/marks.ts";
import { fingerprintOf } from "../store/entry-id.ts";
import { contentOf, heldOf, metaFieldsOf } from "../store/fields.ts";
import type {
  DecideRenewal,
  Entry,
  EntryId,
  EntryMeta,
  EntryRef,
  FormerValue,
  NewEntry,
  PutManyOptions,
  PutOptions,
  PutResult,
  RenewOptions,
  Revision,
  Undone,
  UndoOptions,
  UnixMs,
} from "../store/memory-store.ts";
import { type Content, isPersons } from "../store/writer.ts";
import { keepsExisting, requireRevision, requireUpTo } from "./conditions.ts";
import { grown, HISTORY_LIMITS, hasHistory, keyInUse, type Retired, undoOf, withoutTag } from "./history.ts";

/** What a store holds under a key. A store's own slots have more, for writing over them. */
export interface Slot {
  readonly ref: EntryRef;
  /** The entry's, or a new one. */
  readonly id: EntryId;
  /** Live, and authenticated. Anything else that is there has ended. */
  readonly entry: Entry | undefined;
  /** The entry's former values, oldest first. A renewal does not need them. */
  readonly history: readonly FormerValue[];
  /** The size of whatever is there, as stored; undefined when nothing is. */
  readonly sizeBytes: number | undefined;
}

/** One entry to write. */
export interface Upsert<S extends Slot> {
  /** Its live entry is replaced; without one, the entry is new. */
  readonly slot: S;
  readonly meta: Omit<EntryMeta, "revision">;
  readonly content: Content;
  /** All former values from now on; undefined: they stay as they are. */
  readonly history: readonly FormerValue[] | undefined;
  /** Whether the quota limits this write, see {@link takesMore}. */
  readonly isLimited: boolean;
}

export interface Plan<S extends Slot, Answer> {
  /** The change feed reports them. */
  readonly remove: readonly S[];
  readonly upsert: readonly Upsert<S>[];
  /** Given the change numbers of the upserts. */
  readonly answer: (revisions: readonly Revision[]) => Answer;
}

export interface PutRules
  extends Pick<PutOptions, "ifRevision" | "upTo" | "fillIn">,
    Pick<PutManyOptions, "onConflict" | "keeps"> {}

/** `others`: the slots of the keys to supersede. Throws `changed_meanwhile` when a condition does not hold. */
export function planPut<S extends Slot>(
  { slot, others }: { readonly slot: S; readonly others: readonly S[] },
  given: NewEntry,
  now: UnixMs,
  { ifRevision, upTo, fillIn, ...rules }: PutRules,
): Plan<S, PutResult> {
  const there = slot.entry;
  requireRevision(there, ifRevision);
  if (there !== undefined && isKept(there, given, rules)) return unchanged(keptResult(there));
  const retired = others.filter(isLive);
  for (const one of retired) requireUpTo(one.entry, upTo);
  const named = { ...given, ...fillIn?.(there, now) };
  const sameValue = isSameValue(there, named);
  const entry = {
    ...named,
    tags: keepingMarks(named.tags, there, sameValue),
    // Whoever repeats a person's word does not take it from them.
    ...(sameValue && there && isPersons(there) && !isPersons(named) && defined({ writer: there.writer })),
  };
  const history = historyAfter(slot, entry, { retired, sameValue });
  const upsert = { ...written(slot, entry, now), history, isLimited: true };
  const result = {
    superseded: retired.map((one) => one.entry.key),
    ...(there && {
      replaced: { updatedAt: there.updatedAt, sameValue, ...defined({ writer: there.writer }) },
    }),
  };
  return planOf(retired, [upsert], ([revision = 0]) => ({ entry: numbered(upsert, revision), ...result }));
}

/** Whether a put of this entry writes nothing: then its plan needs no history. */
export function isKept(
  there: Entry | undefined,
  given: NewEntry,
  { onConflict = "replace", keeps }: Pick<PutRules, "onConflict" | "keeps">,
): boolean {
  return there !== undefined && (keepsExisting(there, given, onConflict) || keeps?.(there) === true);
}

/** The keys that {@link planUndo} may bring back: it needs their slots. */
export function keysToBringBack({ ref, history }: Slot): readonly string[] {
  const keys = history.flatMap(({ key, life }) => (life === undefined ? [] : [key]));
  return [...new Set(keys)].filter((key) => key !== ref.key);
}

/** Answers undefined when the fact does not exist or has no history. Throws what an undo throws. */
export function planUndo<S extends Slot>(
  { slot, others }: { readonly slot: S; readonly others: readonly S[] },
  now: UnixMs,
  { tag, ifRevision }: UndoOptions,
): Plan<S, Undone | undefined> {
  const undone = slot.entry;
  requireRevision(undone, ifRevision);
  if (tag !== undefined && undone?.tags.includes(tag) !== true) return unchanged(undefined);
  const undo = undoOf(withoutTag(slot.history, tag), now);
  if (undone === undefined || undo === undefined) return unchanged(undefined);
  const slots = new Map([slot, ...others].map((one) => [one.ref.key, one]));
  const revived = new Map(undo.revived.map((one) => [one.former.key, one])); // an imported history may name a key twice
  const back = [...revived.values()].flatMap(({ former, history }) => {
    const free = slots.get(former.key);
    if (free === undefined) throw new HelmdeckError("internal", "An undo did not load what it brings back.");
    if (free.entry === undefined) return broughtBack(free, former, history);
    if (tag === undefined) throw keyInUse(former.key);
    return [];
  });
  const own = undo.before && broughtBack(slot, undo.before, undo.history);
  const upsert = own === undefined ? back : [own, ...back];
  return planOf(own === undefined ? [slot] : [], upsert, (revisions) => ({
    undone,
    restored: upsert.map((one, i) => ({
      ...numbered(one, revisions[i] ?? 0),
      ...one.content,
      fingerprint: fingerprintOf(one.content.value),
    })),
  }));
}

/** Answers undefined when there is no entry to renew. `beside`: those of {@link RenewOptions.besideTag}. */
export function planRenewal<S extends Slot>(
  { slot, beside = [] }: { readonly slot: S; readonly beside?: readonly Entry[] },
  decide: DecideRenewal,
  now: UnixMs,
  { ifRevision }: RenewOptions,
): Plan<S, Entry | undefined> {
  const there = slot.entry;
  requireRevision(there, ifRevision);
  const renewal = there && decide(there, now, beside);
  if (there === undefined || renewal === undefined) return unchanged(there);
  const { formerEnd: _, ...entry } = there;
  const renewed = { ...(renewal.expiresAt === undefined ? there : entry), ...renewal };
  const upsert = { ...written(slot, renewed, now), history: undefined, isLimited: false };
  return planOf([], [upsert], ([revision = 0]) => ({ ...renewed, revision }));
}

/** Tells whether a decision changed something: `kept` answers undefined otherwise. */
export function judged(decide: DecideRenewal) {
  let isRenewed = false;
  const judge: DecideRenewal = (...asked) => {
    const renewal = decide(...asked);
    isRenewed = renewal !== undefined;
    return renewal;
  };
  return { judge, kept: (entry: Entry | undefined) => (isRenewed ? entry : undefined) };
}

/** A subject over its quota may still overwrite with less, and renew entries. */
export function takesMore({ slot, isLimited }: Upsert<Slot>, sizeBytes: number): boolean {
  return isLimited && sizeBytes > (slot.sizeBytes ?? -1);
}

/** The rows of a history to delete, and the values to append. */
export interface HistoryChange<Row extends FormerValue> {
  readonly gone: readonly Row[];
  readonly added: readonly FormerValue[];
}

/** Unchanged rows stay, unless a new value comes before them. */
export function historyChange<Row extends FormerValue>(
  before: readonly Row[],
  history: readonly FormerValue[],
): HistoryChange<Row> {
  const known = new Set<FormerValue>(before);
  const staying = history.findIndex((former) => !known.has(former));
  const stay = new Set(staying === -1 ? history : history.slice(0, staying));
  return { gone: before.filter((former) => !stay.has(former)), added: history.slice(stay.size) };
}

function unchanged<Answer>(answer: Answer): Plan<never, Answer> {
  return { remove: [], upsert: [], answer: () => answer };
}

/** What has ended in a slot is removed before something is written there. */
function planOf<S extends Slot, Answer>(
  remove: readonly S[],
  upsert: readonly Upsert<S>[],
  answer: Plan<S, Answer>["answer"],
): Plan<S, Answer> {
  const ended = upsert
    .map(({ slot }) => slot)
    .filter(({ entry, sizeBytes }) => entry === undefined && sizeBytes !== undefined);
  return { remove: [...remove, ...ended], upsert, answer };
}

/** A history never gets what is stored again, unless that store superseded other facts. An imported one is for a fact without. */
function historyAfter(
  { entry: there, history: known }: Slot,
  entry: NewEntry,
  { retired, sameValue }: { readonly retired: readonly Retired[]; readonly sameValue: boolean },
): readonly FormerValue[] | undefined {
  if (!hasHistory(entry)) return undefined;
  const replaced = sameValue && retired.length === 0 ? undefined : there;
  const history = grown(known, { replaced, superseded: retired });
  return history.length > 0 ? history : (entry.history ?? []).slice(-HISTORY_LIMITS.kept);
}

function isSameValue(there: Entry | undefined, { value }: Pick<NewEntry, "value">): boolean {
  return there !== undefined && Buffer.compare(there.value, value) === 0;
}

function isLive<S extends Slot>(slot: S): slot is S & { readonly entry: Entry } {
  return slot.entry !== undefined;
}

function keptResult(there: Entry): PutResult {
  return { entry: metaFieldsOf(there), superseded: [], kept: true };
}

/** Marks are those of the fact as it is: a former value brings none back, and takes none away. */
function broughtBack<S extends Slot>(
  slot: S,
  former: FormerValue,
  history: readonly FormerValue[],
): Upsert<S> {
  const held = heldOf(former);
  const tags = keepingMarks(held.tags, slot.entry, isSameValue(slot.entry, held));
  return { ...written(slot, { ...held, tags }, former.updatedAt), history, isLimited: false };
}

/** An entry takes over id and creation time from the one that it replaces. */
function written<S extends Slot>(
  slot: S,
  entry: Omit<NewEntry, keyof EntryRef>,
  now: UnixMs,
): Pick<Upsert<S>, "slot" | "meta" | "content"> {
  const { namespace, origin, key } = slot.ref;
  const { category, tags, expiresAt } = entry;
  const meta = {
    id: slot.id,
    ...{ namespace, origin, key, category },
    tags: [...tags],
    createdAt: entry.createdAt ?? slot.entry?.createdAt ?? now,
    updatedAt: entry.updatedAt ?? now,
    ...defined({ expiresAt }),
  };
  return { slot, meta, content: contentOf(entry) };
}

/** As the change with this number leaves it. */
function numbered({ meta: { id, ...meta } }: Upsert<Slot>, revision: Revision): EntryMeta {
  return { id, revision, ...meta };
}
