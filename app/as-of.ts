/**
 * What a memory said at a time in the past, as far as its facts and their histories still tell.
 *
 * A value counts from its last store until another one replaced or superseded it, or it expired. What was forgotten or undone, and what
 * has expired by now, is in no history, and so in no answer; neither are values beyond the last ten of a fact, nor those whose
 * successor was forgotten: nothing tells when they ended. If a value has expired by now, the one before it fills its time.
 */
import { ANSWER_LIMITS, requireCount } from "../engine/answer-limits.ts";
import { invalidField } from "../engine/errors.ts";
import { pagesOf } from "../engine/pages-of.ts";
import { pathOf } from "../engine/projections/paths.ts";
import { DAY_OR_TIME, hasBegun, type Moment, readMoment } from "../engine/rfc3339.ts";
import { spansOf } from "../engine/rules/history.ts";
import type { Entry, Held } from "../engine/store/memory-store.ts";
import type { Namespace } from "../engine/store/namespace.ts";
import { factsNamedBy, valueView } from "./fact-view.ts";
import { formerKeys } from "./history.ts";
import type { FactsPage, FactsQuery, FactView, GetInput } from "./memory.ts";
import type { UseCaseContext } from "./use-case-context.ts";

/** Throws `invalid_input` for what is no day or time. A time that is still to come is now. */
function requireMoment({ now }: UseCaseContext, asOf: unknown): Moment {
  const then = readMoment(asOf, "end");
  if (then !== undefined) return { ...then, at: Math.min(then.at, now()) };
  throw invalidField("as_of", `must be ${DAY_OR_TIME}`);
}

async function heldAt({ store }: UseCaseContext, entry: Entry, then: Moment): Promise<readonly Held[]> {
  // What it superseded or replaced ended when its value was stored.
  const former = hasBegun(entry.updatedAt, then) ? [] : await store.history(entry);
  // What had expired by then has expired now, and is in no history.
  return spansOf(entry, former)
    .filter((span) => hasBegun(span.held.updatedAt, then) && !hasBegun(span.until, then))
    .map(({ held }) => held);
}

/** As `getFact`, at that time. */
export async function getFactAsOf(
  context: UseCaseContext,
  namespace: Namespace,
  { key: name, asOf }: GetInput,
): Promise<FactView | undefined> {
  const then = requireMoment(context, asOf);
  const names = factsNamedBy(name);
  const keys = new Set(names.map(({ key }) => key));
  for await (const former of formerKeys(context.store, namespace))
    if (keys.has(former.key)) keys.add(former.of.key);
  const held: Held[] = [];
  for (const key of keys) {
    const entry = await context.store.get({ namespace, origin: "fact", key });
    if (entry !== undefined) held.push(...(await heldAt(context, entry, then)));
  }
  for (const { key, category } of names) {
    const found = newestOfEach(held).find(
      (one) => one.key === key && one.category === (category ?? one.category),
    );
    if (found !== undefined) return viewOf(found);
  }
  return undefined;
}

/** Newest first. A key that a store superseded, and that was stored anew, has two values if that store was repeated since. */
function newestOfEach(held: readonly Held[]): readonly Held[] {
  const sorted = held.toSorted(
    (one, other) => other.updatedAt - one.updatedAt || (one.key < other.key ? -1 : 1),
  );
  const keys = new Set<string>();
  return sorted.filter(({ key }) => !keys.has(key) && keys.add(key));
}

function viewOf(held: Held): FactView {
  return { ...valueView(held), path: pathOf(held.category, held.key) };
}

/** As `listFacts`, at that time: reads every fact. The cursor is a position in the whole list. */
export async function listFactsAsOf(
  context: UseCaseContext,
  namespace: Namespace,
  { asOf, limit: given, cursor, ...filter }: FactsQuery,
): Promise<FactsPage> {
  const then = requireMoment(context, asOf);
  const limit = requireCount("limit", given, ANSWER_LIMITS.facts);
  const from = placeOf(cursor);
  if (filter.expiring === true || filter.soonestFirst === true)
    throw invalidField("expiring", "is about now; leave it out with as_of");
  const held: Held[] = [];
  const unreadable: string[] = [];
  for await (const page of pagesOf((more) => context.store.list({ namespace, origin: "fact", ...more }))) {
    for (const entry of page.entries) held.push(...(await heldAt(context, entry, then)));
    unreadable.push(...page.unreadable.map(({ key }) => key));
  }
  const found = newestOfEach(held).filter(
    (held) =>
      held.key.startsWith(filter.prefix || "") &&
      held.category === (filter.category || held.category) &&
      (!filter.tag || held.tags.includes(filter.tag)),
  );
  return {
    facts: found.slice(from, from + limit).map(viewOf),
    unreadable: from === 0 ? unreadable : [],
    ...(found.length > from + limit && { nextCursor: `${from + limit}` }),
  };
}

function placeOf(cursor: string | undefined): number {
  const place = Number(cursor || 0);
  if (Number.isSafeInteger(place) && place >= 0) return place;
  throw invalidField("cursor", "is not from an earlier page; leave it out");
}
