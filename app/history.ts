/** Former values of a fact, and undoing its last store. */
import { defined } from "../engine/defined.ts";
import { HelmdeckError, invalidField, isHelmdeckError, partlyDone } from "../engine/errors.ts";
import { pagesOf } from "../engine/pages-of.ts";
import { DAY_OR_TIME, isDay, type Moment, readMoment } from "../engine/rfc3339.ts";
import { requireRevision } from "../engine/rules/conditions.ts";
import { isCovered, mayCoverFormer, spansOf, undoOf } from "../engine/rules/history.ts";
import type {
  EntryFilter,
  EntryMeta,
  EntryRef,
  FormerKey,
  FormerValue,
  MemoryStore,
  UndoOptions,
  UnixMs,
} from "../engine/store/memory-store.ts";
import type { Namespace } from "../engine/store/namespace.ts";
import { factsNamedBy, factView, keyOfFact, unlessUnreadable, valueView } from "./fact-view.ts";
import type { ChangeInput, FactHistory, HistoryInput, UndoneFact } from "./memory.ts";
import type { UseCaseContext } from "./use-case-context.ts";

/**
 * For the fact with this key, path, docid or citation or, when there is none, the fact that superseded it. Undefined when neither
 * exists.
 */
export async function factHistory(
  context: UseCaseContext,
  namespace: Namespace,
  { key: name, since }: HistoryInput,
): Promise<FactHistory | undefined> {
  const key =
    (await keyOfFact(context, namespace, name)) ?? (await keyThatSuperseded(context, namespace, name));
  if (key === undefined) return undefined;
  const ref = { namespace, origin: "fact", key } as const;
  const former = await context.store.history(ref);
  const shown = since === undefined ? former : await endedAfter(context, ref, former, requireSince(since));
  const undo = lastStored(former).filter((one) => shown.includes(one));
  return { key, former: shown.map(valueView), undo: undo.map(valueView) };
}

function requireSince(since: unknown): Moment {
  const moment = readMoment(since, "begin");
  if (moment !== undefined) return moment;
  throw invalidField("since", `must be ${DAY_OR_TIME}`);
}

async function endedAfter(
  { store }: UseCaseContext,
  ref: EntryRef,
  former: readonly FormerValue[],
  since: Moment,
): Promise<readonly FormerValue[]> {
  const entry = await store.get(ref).catch(unlessUnreadable);
  if (entry === undefined) return former;
  const spans = spansOf(entry, former);
  const isLater = (at: UnixMs) => (isDay(at) ? at >= since.day : at > since.at);
  const later = new Set(spans.filter(({ until }) => isLater(until)).map(({ held }) => held.value));
  return former.filter(({ value }) => later.has(value));
}

/** What the last store added to a fact's history; newest first, like the input. */
function lastStored(former: readonly FormerValue[]): readonly FormerValue[] {
  const own = former.filter(({ into }) => into === undefined);
  const first = own.findIndex(({ joined }) => !joined);
  return own.slice(0, first + 1);
}

/** Throws `not_found` when the fact does not exist or has no history. */
export async function undoFact(
  context: UseCaseContext,
  namespace: Namespace,
  { key: name, ifRevision }: ChangeInput,
): Promise<UndoneFact> {
  const key = await keyOfFact(context, namespace, name);
  if (key === undefined) requireRevision(undefined, ifRevision);
  const condition = defined({ ifRevision });
  const undone = key && (await context.store.undo({ namespace, origin: "fact", key }, condition));
  if (!undone) {
    throw new HelmdeckError(
      "not_found",
      "There is nothing to undo: there is no such fact, or it has no former value. See the history of its key.",
    );
  }
  return { undone: factView(undone.undone), restored: undone.restored.map(factView) };
}

/** Counts the former values that a scope covers in facts that it does not cover, up to its bound. */
export async function countFormer(store: MemoryStore, filter: EntryFilter): Promise<number> {
  if (!mayCoverFormer(filter)) return 0;
  let count = 0;
  for await (const former of formerKeys(store, filter.namespace)) {
    const isShown = filter.upTo === undefined || former.of.revision <= filter.upTo;
    if (isShown && isCovered(former, filter) && !isCovered(former.of, filter)) count += 1;
  }
  return count;
}

/** All former values of a namespace. */
export async function* formerKeys(store: MemoryStore, namespace: Namespace): AsyncGenerator<FormerKey> {
  for await (const { keys } of pagesOf((more) => store.formerKeys({ namespace, ...more }))) yield* keys;
}

async function keyThatSuperseded(
  { store }: UseCaseContext,
  namespace: Namespace,
  name: string,
): Promise<string | undefined> {
  const names = factsNamedBy(name);
  for await (const former of formerKeys(store, namespace)) {
    const isMeant = names.some(
      ({ key, category = former.category }) => key === former.key && category === former.category,
    );
    if (isMeant) return former.of.key;
  }
  return undefined;
}

const PAGE_KEYS = 1_000;

/**
 * When an import is forgotten, restores the facts that it replaced or superseded.
 *
 * Restores those facts covered by a tag filter that had another value before, or superseded others: undoes the tagged value, and
 * leaves erasing it to the delete that follows. Returns their number; a dry run only counts. Does nothing for a filter without a tag, which deletes
 * whole facts.
 */
export async function restoreReplaced(
  context: UseCaseContext,
  filter: EntryFilter,
  dryRun: boolean,
): Promise<number> {
  const { tag, upTo } = filter;
  if (tag === undefined) return 0;
  let restored = 0;
  for (const fact of await tagged(context, filter, tag)) {
    if (fact.revision > (upTo ?? fact.revision) || !(await hasOther(context, fact, tag))) continue;
    const options = { tag, ...defined({ ifRevision: upTo === undefined ? undefined : fact.revision }) };
    if (dryRun || (await restore(context, fact, options).catch(partlyRestored(restored)))) restored += 1;
  }
  return restored;
}

/** What a failure of an import's forgetting says, once facts went back to what the import had replaced. */
export function partlyRestored(restored: number): (error: unknown) => never {
  return (error) => {
    if (restored === 0) throw error;
    const done = `Restored: ${restored} of the facts that the import had replaced. Nothing else was forgotten; forget the import again to continue.`;
    throw partlyDone(error, done, { restored });
  };
}

/** False for a fact that somebody changed since it was listed. */
async function restore({ store }: UseCaseContext, ref: EntryRef, options: UndoOptions): Promise<boolean> {
  try {
    return (await store.undo(ref, { ...options, erasesLater: true })) !== undefined;
  } catch (error) {
    if (isHelmdeckError(error, "changed_meanwhile")) return false;
    throw error;
  }
}

/** Collects all of them before changing the first, since pages depend on the order. */
async function tagged(
  { store }: UseCaseContext,
  { namespace }: EntryFilter,
  tag: string,
): Promise<readonly EntryMeta[]> {
  const found: EntryMeta[] = [];
  const query = { namespace, origin: "fact", tag, limit: PAGE_KEYS } as const;
  for await (const { entries } of pagesOf((more) => store.listMeta({ ...query, ...more })))
    found.push(...entries);
  return found;
}

async function hasOther({ store, now }: UseCaseContext, ref: EntryRef, tag: string): Promise<boolean> {
  const former = (await store.history(ref)).filter(({ tags }) => !tags.includes(tag));
  return undoOf(former.toReversed(), now()) !== undefined;
}
