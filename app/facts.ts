/** Stores, gets and lists facts. */
import {
  ANSWER_LIMITS,
  checkSupersedes,
  defined,
  EXPIRING_WITHIN_MS,
  factEntry,
  invalidField,
  isImportTag,
  type ListQuery,
  type Namespace,
  pathOf,
  refuseSecrets,
  requireCount,
  type UnixMs,
  validateFact,
  type Writer,
} from "../engine/index.ts";
import { factsNamedBy, keyOfFact } from "./fact-names.ts";
import { factView } from "./fact-view.ts";
import { listExpiringFacts } from "./list-expiring-facts.ts";
import type { FactCheck, FactInput, FactsPage, FactsQuery, FactView, StoredFact } from "./memory.ts";
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
  return keepFact(context, namespace, await harmlessFact(input), writer);
}

/** The same for a person who insists. No input selects it, because an agent would use that. */
export async function storeFactAllowingSecret(
  context: UseCaseContext,
  namespace: Namespace,
  input: FactInput,
  writer?: Writer,
): Promise<StoredFact> {
  return keepFact(context, namespace, checkedFact(input), writer);
}

/** The result of {@link storeFact} without storing; throws the same errors. */
export async function checkFact(
  context: UseCaseContext,
  namespace: Namespace,
  input: FactInput,
): Promise<FactCheck> {
  const { supersedes: names, ttlSeconds, ...fact } = await harmlessFact(input);
  await context.keys.refuseLookalike(namespace, fact.key);
  const supersedes = await existing(context, namespace, names);
  const alike = await lookForSimilar(context, namespace, fact, supersedes);
  return { ...fact, expiresAt: context.now() + ttlSeconds * 1_000, supersedes, ...alike };
}

async function harmlessFact(input: FactInput) {
  const fact = checkedFact(input);
  await refuseSecrets(fact);
  return fact;
}

function checkedFact(input: FactInput) {
  const { tags, ...fact } = validateFact(input);
  const own = tags.filter((tag) => !isImportTag(tag)); // storing a fact detaches it from its import
  return { ...fact, tags: own, supersedes: checkSupersedes(input.supersedes) };
}

async function keepFact(
  context: UseCaseContext,
  namespace: Namespace,
  fact: ReturnType<typeof checkedFact>,
  writer: Writer | undefined,
): Promise<StoredFact> {
  await context.keys.refuseLookalike(namespace, fact.key);
  const supersedes = await existing(context, namespace, fact.supersedes);
  const alike = await lookForSimilar(context, namespace, fact, supersedes);
  const expiresAt = context.now() + fact.ttlSeconds * 1_000;
  const entry = { ...factEntry(namespace, fact, { expiresAt }), ...defined({ writer }) };
  const { replaced, superseded } = await context.store.put(entry, { supersedes });
  return {
    key: fact.key,
    category: fact.category,
    expiresAt,
    path: pathOf(fact.category, fact.key),
    ...(replaced && { replaced: { updatedAt: replaced.updatedAt, refreshed: replaced.sameValue } }),
    ...(superseded.length > 0 && { superseded }),
    ...alike,
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

/**
 * By its exact key or, when no fact has that, by its path, docid or citation. Undefined when there is none, also for a key that
 * no fact can have. Throws `entry_unreadable`.
 */
export async function getFact(
  context: UseCaseContext,
  namespace: Namespace,
  key: string,
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
  const filter = filterFrom(query, context.now());
  const facts: FactView[] = [];
  const unreadable: string[] = [];
  let sizeBytes = 0;
  let cursor = query.cursor;
  do {
    const step = Math.min(STEP, limit - facts.length - unreadable.length);
    const page = await context.store.list({
      namespace,
      origin: "fact",
      ...filter,
      limit: step,
      ...(cursor && { cursor }),
    });
    facts.push(...page.entries.map(factView));
    unreadable.push(...page.unreadable.map(({ key }) => key));
    sizeBytes += page.entries.reduce((sum, { value }) => sum + value.byteLength, 0);
    cursor = page.nextCursor;
  } while (cursor !== undefined && facts.length + unreadable.length < limit && sizeBytes < PAGE_BYTES);
  return { facts, unreadable, ...(cursor && { nextCursor: cursor }) };
}

function filterFrom(
  { prefix, category, tag, expiring = false }: FactsQuery,
  now: UnixMs,
): Pick<ListQuery, "prefix" | "category" | "tag" | "expiresBefore"> {
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
