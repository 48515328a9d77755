/** Stores, gets and lists facts. */
import { ANSWER_LIMITS, requireCount } from "../engine/answer-limits.ts";
import { defined } from "../engine/defined.ts";
import { HelmdeckError, invalidField } from "../engine/errors.ts";
import { type CheckedFact, checkSupersedes, factEntry, validateFact } from "../engine/facts/facts-policy.ts";
import { isPinned, ownTags } from "../engine/facts/marks.ts";
import { notLongerThanPinned } from "../engine/facts/pins.ts";
import {
  EXPIRING_WITHIN_MS,
  endAfter,
  endOfStore,
  renewalByHand,
  renewalByUse,
} from "../engine/facts/renewal.ts";
import { refuseSecrets } from "../engine/facts/secrets.ts";
import { pagesOf } from "../engine/pages-of.ts";
import { pathOf } from "../engine/projections/paths.ts";
import { requireRevision } from "../engine/rules/conditions.ts";
import { decodeListCursor, encodeListCursor } from "../engine/store/cursors.ts";
import type { Entry, EntryMeta, FillIn, ListQuery, UnixMs } from "../engine/store/memory-store.ts";
import type { Namespace } from "../engine/store/namespace.ts";
import type { Writer } from "../engine/store/writer.ts";
import { asUnreadable, factsNamedBy, factView, keyOfFact, unlessUnreadable } from "./fact-view.ts";
import type {
  Asker,
  FactCheck,
  FactInput,
  FactName,
  FactsPage,
  FactsQuery,
  FactView,
  RenewInput,
  StoredFact,
} from "./memory.ts";
import { pinnedFirst } from "./pins.ts";
import { lookForSimilar } from "./similar-facts.ts";
import type { UseCaseContext } from "./use-case-context.ts";

/** A page ends early at this size, so that no answer takes hundreds of megabytes. */
const PAGE_BYTES = 1_024 * 1_024;
/** Values opened at a time. */
const STEP = 50;

/** Throws `invalid_input` when the policy refuses it, and `secret_refused` for text that looks like a credential. */
export async function storeFact(
  context: UseCaseContext,
  namespace: Namespace,
  input: FactInput,
  writer?: Writer,
): Promise<StoredFact> {
  return (await prepareFact(context, namespace, input, writer))();
}

/** The checks of {@link storeFact} and what it reads. The answer writes; calls of one moment are written in their order. */
export async function prepareFact(
  context: UseCaseContext,
  namespace: Namespace,
  input: FactInput,
  writer?: Writer,
): Promise<() => Promise<StoredFact>> {
  return prepared(context, namespace, { input, ...(await harmlessFact(context, input)) }, writer);
}

/** The same for a person who insists. No input selects it, because an agent would use that. */
export async function storeFactAllowingSecret(
  context: UseCaseContext,
  namespace: Namespace,
  input: FactInput,
  writer?: Writer,
): Promise<StoredFact> {
  return (await prepared(context, namespace, { input, ...checkedFact(context, input) }, writer))();
}

/** The result of {@link storeFact} without storing; throws the same errors. */
export async function checkFact(
  context: UseCaseContext,
  namespace: Namespace,
  input: FactInput,
): Promise<FactCheck> {
  const { fact, names, fillIn } = await harmlessFact(context, input);
  await context.keys.refuseLookalike(namespace, fact.key);
  const upTo = await context.store.revision(namespace);
  const there = await factThere(context, namespace, fact.key);
  requireRevision(there, input.ifRevision);
  const supersedes = await existing(context, namespace, names);
  const alike = input.similar === false ? {} : await lookForSimilar(context, namespace, fact, supersedes);
  const { ttlSeconds, ...given } = fact;
  const now = context.now();
  const { ending: _, ...end } = endAfter(ttlSeconds, { ...context, now });
  const { ending: __, ...filled } = fillIn(there, now);
  const revision = there?.revision ?? 0;
  return { ...given, ...end, ...filled, supersedes, revision, upTo, ...alike };
}

/** Undefined also for one that cannot be opened, which a store replaces. */
async function factThere({ store }: UseCaseContext, namespace: Namespace, key: string) {
  return store.get({ namespace, origin: "fact", key }).catch(unlessUnreadable);
}

async function harmlessFact(context: UseCaseContext, input: FactInput) {
  const checked = checkedFact(context, input);
  await refuseSecrets(checked.fact);
  return checked;
}

interface CheckedInput {
  readonly fact: CheckedFact;
  /** Of facts to supersede. */
  readonly names: readonly string[];
  readonly fillIn: FillIn;
}

function checkedFact({ defaultTtlSeconds }: UseCaseContext, input: FactInput): CheckedInput {
  const fact = validateFact(input);
  const names = checkSupersedes(input.supersedes);
  return { fact: { ...fact, tags: ownTags(fact.tags) }, names, fillIn: fillingIn(input, defaultTtlSeconds) };
}

/** What the input does not name is as it was. Nobody has chosen the default end, so that begins anew. */
function fillingIn({ category, tags, ttlSeconds }: FactInput, defaultTtlSeconds: number): FillIn {
  return (there, now) => ({
    ...defined({
      category: category ? undefined : there?.category,
      tags: tags ? undefined : there && ownTags(there.tags),
    }),
    ...(!ttlSeconds && endOfStore(there, now, defaultTtlSeconds)),
  });
}

async function prepared(
  context: UseCaseContext,
  namespace: Namespace,
  { input: { ifRevision, upTo, similar }, fact, names, fillIn }: CheckedInput & { readonly input: FactInput },
  writer: Writer | undefined,
): Promise<() => Promise<StoredFact>> {
  const { keysSince, stored } = await context.keys.toStore(namespace, fact.key);
  const supersedes = await existing(context, namespace, names);
  const alike = similar === false ? {} : await lookForSimilar(context, namespace, fact, supersedes);
  return async () => {
    const times = endAfter(fact.ttlSeconds, { ...context, now: context.now() });
    const entry = { ...factEntry(namespace, fact, times), ...defined({ writer }) };
    const conditions = { keysSince, ...defined({ ifRevision, upTo }) };
    const put = await context.store.put(entry, { supersedes, fillIn, ...conditions });
    const { replaced, superseded } = put;
    const refreshed = replaced?.sameValue === true;
    const { key, category, revision, expiresAt = times.expiresAt } = put.entry;
    stored(revision);
    return {
      ...{ key, category, expiresAt, revision },
      path: pathOf(category, key),
      ...(replaced && {
        replaced: {
          refreshed,
          updatedAt: replaced.updatedAt,
          ...defined({ writer: refreshed ? undefined : replaced.writer }),
        },
      }),
      ...(superseded.length > 0 && { superseded }),
      ...alike,
    };
  };
}

/** Exact keys of the existing facts with these names; missing ones need not be superseded. */
async function existing(
  context: UseCaseContext,
  namespace: Namespace,
  names: readonly string[],
): Promise<readonly string[]> {
  const keys = await Promise.all(names.map((name) => keyOfFact(context, namespace, name)));
  return keys.filter((key) => key !== undefined);
}

/** Undefined when there is none, also for a key that no fact can have. Throws `entry_unreadable`. */
export async function getFact(
  context: UseCaseContext,
  namespace: Namespace,
  { key }: FactName,
): Promise<FactView | undefined> {
  for (const name of factsNamedBy(key)) {
    const entry = await context.store.get({ namespace, origin: "fact", key: name.key });
    if (entry !== undefined && entry.category === (name.category ?? entry.category)) return factView(entry);
  }
  return undefined;
}

/** A page may end before its limit when values are large; `nextCursor` then continues it. */
export async function listFacts(
  context: UseCaseContext,
  namespace: Namespace,
  query: FactsQuery,
): Promise<FactsPage> {
  const limit = requireCount("limit", query.limit, ANSWER_LIMITS.facts);
  if (query.soonestFirst) return listExpiringFacts(context, namespace, limit, query.cursor);
  const filter = { namespace, origin: "fact", ...filterFrom(query, context.now()) } as const;
  const first = query.newestFirst
    ? ({ isPage: false, pinned: [], cursor: query.cursor } as const)
    : await pinnedFirst(context, filter, { ...query, limit });
  if (first.isPage) return first.page;
  const ended = query.cursor ? [] : await context.store.ended(namespace);
  const facts = first.pinned.map(factView);
  const unreadable: string[] = [];
  let sizeBytes = 0;
  let nextCursor: string | undefined;
  const read = (more: { readonly cursor?: string }) => {
    const step = Math.min(STEP, limit - facts.length - unreadable.length);
    return context.store.list({ ...filter, limit: step, ...more });
  };
  for await (const page of pagesOf(read, first.cursor)) {
    facts.push(...page.entries.filter((entry) => query.newestFirst || !isPinned(entry)).map(factView));
    unreadable.push(...page.unreadable.map(({ key }) => key));
    sizeBytes += page.entries.reduce((sum, { value }) => sum + value.byteLength, 0);
    ({ nextCursor } = page);
    if (facts.length + unreadable.length >= limit || sizeBytes >= PAGE_BYTES) break;
  }
  return { facts, unreadable, ...defined({ nextCursor }), ...(ended.length > 0 && { ended }) };
}

function filterFrom(
  { prefix, category, tag, expiring = false }: FactsQuery,
  now: UnixMs,
): Pick<ListQuery, "prefix" | "tag" | "expiresBefore"> & Pick<FactsQuery, "category"> {
  return {
    ...(expiring && { expiresBefore: now + EXPIRING_WITHIN_MS }),
    ...(prefix && { prefix: requireText("prefix", prefix) }),
    ...(category && { category: requireText("category", category) }),
    ...(tag && { tag: requireText("tag", tag) }),
  };
}

function requireText(field: string, text: unknown): string {
  if (typeof text === "string" && text.isWellFormed()) return text;
  throw invalidField(field, "must be valid Unicode");
}

/**
 * Renews a fact before it expires: by a person, or by use.
 *
 * Throws `invalid_input` for an invalid ttl, or if a model would keep a pinned fact longer, and `not_found`.
 */
export async function renewFact(
  context: UseCaseContext,
  namespace: Namespace,
  { key: name, ttlSeconds, ifRevision, dryRun }: RenewInput,
  asker?: Asker,
): Promise<FactView> {
  const isPerson = asker?.isPerson === true;
  const byHand = renewalByHand(ttlSeconds, context.defaultTtlSeconds, isPerson);
  const decide = isPerson ? byHand : notLongerThanPinned(byHand);
  const key = await keyOfFact(context, namespace, name);
  if (key === undefined) requireRevision(undefined, ifRevision);
  const ref = key && ({ namespace, origin: "fact", key } as const);
  const entry =
    ref &&
    (dryRun
      ? await factThere(context, namespace, ref.key)
      : await context.store.renew(ref, decide, defined({ ifRevision })));
  if (entry) return factView(dryRun ? { ...entry, ...decide(entry, context.now()) } : entry);
  throw new HelmdeckError(
    "not_found",
    "There is nothing to renew: there is no fact with this key, or it cannot be opened. Keys are exact and case-sensitive.",
  );
}

/** For a fact that was just read. Reading succeeds even if the store is read-only or locked. */
export async function renewByUse(context: UseCaseContext, entry: Entry): Promise<void> {
  const byUse = renewalByUse(context.defaultTtlSeconds);
  if (entry.origin !== "fact" || byUse(entry, context.now()) === undefined) return;
  await context.store.renew(entry, byUse, { givesWay: true }).catch(() => undefined);
}

const PAGE_ROWS = 1_000;

/** A position in this order: pinned ones first, then by expiry, then by entry. */
interface Place {
  readonly updatedAt: number;
  readonly id: string;
}

/** Lists facts that expire within 14 days, pinned ones first, then soonest first. Decrypts only the page that is shown. */
async function listExpiringFacts(
  context: UseCaseContext,
  namespace: Namespace,
  limit: number,
  cursor: string | undefined,
): Promise<FactsPage> {
  const after = cursor === undefined ? undefined : decodeListCursor(cursor);
  const { store, now } = context;
  const expiresBefore = now() + EXPIRING_WITHIN_MS;
  const query = { namespace, origin: "fact", expiresBefore, limit: PAGE_ROWS } as const;
  const found: EntryMeta[] = [];
  for await (const { entries } of pagesOf((more) => store.listMeta({ ...query, ...more })))
    found.push(...entries);
  const ending = found.sort((one, other) => compare(placeOf(one), placeOf(other)));
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

/** The list's cursor holds the expiry instead of the time of the last store; that of a pinned fact is before all others. */
function placeOf({ expiresAt = 0, id, tags }: EntryMeta): Place {
  return { updatedAt: isPinned({ tags }) ? expiresAt - EXPIRING_WITHIN_MS : expiresAt, id };
}

function compare(one: Place, other: Place): number {
  return one.updatedAt - other.updatedAt || (one.id < other.id ? -1 : Number(one.id > other.id));
}
