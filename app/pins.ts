/** Pins a fact, so that it stands in every prompt of its agent, and unpins it; lists the pinned facts first. */
import { compareText } from "../engine/compare-text.ts";
import { defined } from "../engine/defined.ts";
import { HelmdeckError } from "../engine/errors.ts";
import { isPinned, PINNED } from "../engine/facts/marks.ts";
import { pinning, unpinning } from "../engine/facts/pins.ts";
import { requireRevision } from "../engine/rules/conditions.ts";
import { isCovered } from "../engine/rules/history.ts";
import type { Entry, ListQuery } from "../engine/store/memory-store.ts";
import type { Namespace } from "../engine/store/namespace.ts";
import { factView, keyOfFact, unlessUnreadable } from "./fact-view.ts";
import type { Asker, FactsPage, FactsQuery, FactView, PinInput } from "./memory.ts";
import type { UseCaseContext } from "./use-case-context.ts";

/**
 * Throws `not_found`, and `invalid_input` beyond a limit. Pinning again confirms the pin for another year if a person asks, and
 * changes nothing otherwise.
 */
export async function pinFact(
  context: UseCaseContext,
  namespace: Namespace,
  { key: name, pinned = true, ifRevision }: PinInput,
  asker?: Asker,
): Promise<FactView> {
  const key = await keyOfFact(context, namespace, name);
  if (key === undefined) requireRevision(undefined, ifRevision);
  const decide = pinned ? pinning(asker?.isPerson === true, context.defaultTtlSeconds) : unpinning;
  const options = { besideTag: PINNED, ...defined({ ifRevision }) };
  const entry = key && (await context.store.renew({ namespace, origin: "fact", key }, decide, options));
  if (entry) return factView(entry);
  throw new HelmdeckError(
    "not_found",
    "There is nothing to pin or unpin: there is no fact with this key, or it cannot be opened. Keys are exact and case-sensitive.",
  );
}

type Filter = Pick<ListQuery, "namespace" | "prefix" | "tag" | "expiresBefore"> &
  Pick<FactsQuery, "category">;

interface PinnedFirst extends Pick<FactsQuery, "pinned" | "cursor"> {
  readonly limit: number;
}

/**
 * The beginning of a list of facts: its pinned ones, in an order that does not change (by creation, then key). Or the whole page, if
 * only these were asked for, or there is no room for others. `cursor`: where the others begin.
 */
export async function pinnedFirst(
  context: UseCaseContext,
  filter: Filter,
  { pinned: isOnly = false, limit, cursor }: PinnedFirst,
): Promise<
  | { readonly isPage: true; readonly page: FactsPage }
  | { readonly isPage: false; readonly pinned: readonly Entry[]; readonly cursor: string | undefined }
> {
  const from = placeAmongPinned(cursor || undefined);
  if (from === undefined) return { isPage: false, pinned: [], cursor };
  const { store, pinned } = context;
  const { namespace, expiresBefore } = filter;
  const found: Entry[] = [];
  for (const key of await pinned.of(namespace)) {
    const entry = await store.get({ namespace, origin: "fact", key }).catch(unlessUnreadable);
    if (entry === undefined || !isPinned(entry) || !isCovered(entry, filter)) continue;
    if (expiresBefore === undefined || (entry.expiresAt ?? expiresBefore) < expiresBefore) found.push(entry);
  }
  const all = found.sort(byCreation);
  const left = all.slice(from);
  if (!isOnly && left.length < limit) return { isPage: false, pinned: left, cursor: undefined };
  const isMore = left.length > limit || (!isOnly && (await hasOthers(context, filter, all.length)));
  const page = {
    facts: left.slice(0, limit).map(factView),
    unreadable: [], // a row that does not open is in the list of all facts
    ...(isMore && { nextCursor: `${AMONG_PINNED}${from + limit}` }),
  };
  return { isPage: true, page };
}

/** Any other cursor is the store's: it comes after them. */
const AMONG_PINNED = "pinned-";

function placeAmongPinned(cursor: string | undefined): number | undefined {
  if (cursor === undefined) return 0;
  const place = cursor.startsWith(AMONG_PINNED) ? Number(cursor.slice(AMONG_PINNED.length)) : undefined;
  return Number.isSafeInteger(place) ? place : undefined;
}

/** The order of pinned facts. */
export function byCreation(one: Entry, other: Entry): number {
  return one.createdAt - other.createdAt || compareText(one.key, other.key);
}

async function hasOthers({ store }: UseCaseContext, filter: Filter, pinned: number): Promise<boolean> {
  const { entries } = await store.listMeta({ ...filter, origin: "fact", limit: pinned + 1 });
  return entries.some((entry) => !isPinned(entry));
}
