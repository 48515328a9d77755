/** Lists facts that expire within 14 days, soonest first. Decrypts only the page that is shown. */

import { EXPIRING_WITHIN_MS } from "../engine/facts/renewal.ts";
import { pagesOf } from "../engine/pages-of.ts";
import { decodeListCursor, encodeListCursor } from "../engine/store/cursors.ts";
import type { EntryMeta } from "../engine/store/memory-store.ts";
import type { Namespace } from "../engine/store/namespace.ts";
import { asUnreadable, factView } from "./fact-view.ts";
import type { FactsPage, FactView } from "./memory.ts";
import type { UseCaseContext } from "./use-case-context.ts";

const PAGE_ROWS = 1_000;

/** A position in this order: an expiry, and its entry. */
interface Place {
  readonly updatedAt: number;
  readonly id: string;
}

export async function listExpiringFacts(
  context: UseCaseContext,
  namespace: Namespace,
  limit: number,
  cursor: string | undefined,
): Promise<FactsPage> {
  const after = cursor === undefined ? undefined : decodeListCursor(cursor);
  const ending = await allExpiring(context, namespace);
  const left = after === undefined ? ending : ending.filter((one) => compare(placeOf(one), after) > 0);
  const page = left.slice(0, limit);
  const facts: FactView[] = [];
  const unreadable: string[] = [];
  for (const { key } of page) {
    const entry = await context.store.get({ namespace, origin: "fact", key }).catch(asUnreadable);
    if (entry === "unreadable") unreadable.push(key);
    else if (entry !== undefined) facts.push(factView(entry));
  }
  const last = page.at(-1);
  const isMore = last !== undefined && left.length > page.length;
  return { facts, unreadable, ...(isMore && { nextCursor: encodeListCursor(placeOf(last)) }) };
}

async function allExpiring(
  { store, now }: UseCaseContext,
  namespace: Namespace,
): Promise<readonly EntryMeta[]> {
  const expiresBefore = now() + EXPIRING_WITHIN_MS;
  const query = { namespace, origin: "fact", expiresBefore, limit: PAGE_ROWS } as const;
  const found: EntryMeta[] = [];
  for await (const { entries } of pagesOf((more) => store.listMeta({ ...query, ...more })))
    found.push(...entries);
  return found.sort((one, other) => compare(placeOf(one), placeOf(other)));
}

/** The list's cursor holds the expiry instead of the time of the last store. */
function placeOf({ expiresAt = 0, id }: EntryMeta): Place {
  return { updatedAt: expiresAt, id };
}

function compare(one: Place, other: Place): number {
  return one.updatedAt - other.updatedAt || (one.id < other.id ? -1 : Number(one.id > other.id));
}
