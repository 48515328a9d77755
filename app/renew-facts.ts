/** Renews many facts in one call, or puts them into a category, and undoes the last such change. */
import { defined } from "../engine/defined.ts";
import { HelmdeckError, invalidField } from "../engine/errors.ts";
import { checkCategory } from "../engine/facts/facts-policy.ts";
import {
  categoryOfMany,
  EXPIRING_WITHIN_MS,
  renewalOfMany,
  undoingRenewal,
} from "../engine/facts/renewal.ts";
import { pagesOf } from "../engine/pages-of.ts";
import type { DecideRenewal, Entry } from "../engine/store/memory-store.ts";
import type { Namespace } from "../engine/store/namespace.ts";
import { unlessUnreadable } from "./fact-view.ts";
import type { Asker, RenewedFacts, RenewFactsInput } from "./memory.ts";
import type { UseCaseContext } from "./use-case-context.ts";

/** Renewed in one transaction: others write in between. */
const AT_ONCE = 250;

/** A fact that was changed after `upTo` stays as it is, and is counted. Throws `changed_meanwhile` if another store was shown. */
export async function renewFacts(
  context: UseCaseContext,
  namespace: Namespace,
  { which, keys, category, dryRun = false, upTo = Number.POSITIVE_INFINITY }: RenewFactsInput,
  asker?: Asker,
): Promise<RenewedFacts> {
  const { store, defaultTtlSeconds } = context;
  const [revision, now] = [await store.revision(namespace), context.now()];
  if (Number.isFinite(upTo) && upTo > revision)
    throw new HelmdeckError(
      "changed_meanwhile",
      "This memory is another one than was shown. Nothing was renewed; look again.",
    );
  const soon = which === "expiring" ? { expiresBefore: now + EXPIRING_WITHIN_MS } : {};
  const query = { namespace, origin: "fact", limit: AT_ONCE, ...soon } as const;
  const pages = () =>
    keys === undefined
      ? pagesOf((more) => store.list({ ...query, ...more }))
      : named(context, namespace, requireKeys(keys, which));
  const change = () =>
    category === undefined
      ? renewalOfMany(defaultTtlSeconds, asker?.isPerson === true, now)
      : categoryOfMany(checkCategory(category), defaultTtlSeconds, now);
  const decide = which === "undo" ? undoingRenewal(await lastRenewal(pages())) : change();
  const shown: DecideRenewal = (entry, at) => (entry.revision > upTo ? undefined : decide(entry, at));
  let [renewed, newer, expiresAt] = [0, 0, Number.POSITIVE_INFINITY];
  for await (const { entries } of pages()) {
    const meant = entries.filter((entry) => decide(entry, now) !== undefined);
    newer += meant.filter((entry) => entry.revision > upTo).length;
    const changed = dryRun
      ? meant.map((entry) => ({ ...entry, ...shown(entry, now) }))
      : await store.renewMany(meant, shown);
    for (const [at, one] of changed.entries()) {
      if (one === undefined) continue;
      renewed += 1;
      if (one.expiresAt !== meant[at]?.expiresAt) expiresAt = Math.min(expiresAt, one.expiresAt ?? expiresAt);
    }
  }
  return {
    ...{ which, renewed, dryRun },
    ...(dryRun && { revision }),
    ...defined({ expiresAt: Number.isFinite(expiresAt) ? expiresAt : undefined, newer: newer || undefined }),
  };
}

function requireKeys(keys: unknown, which: RenewFactsInput["which"]): readonly string[] {
  const isList =
    Array.isArray(keys) && keys.length <= AT_ONCE && keys.every((key) => typeof key === "string");
  if (isList && which === "all") return [...new Set<string>(keys)];
  throw invalidField("keys", `must be a list of at most ${AT_ONCE} exact keys, with all`);
}

/** In one page. A key without a fact that opens is left out. */
async function* named({ store }: UseCaseContext, namespace: Namespace, keys: readonly string[]) {
  const found = keys.map((key) => store.get({ namespace, origin: "fact", key }).catch(unlessUnreadable));
  yield { entries: (await Promise.all(found)).filter((entry) => entry !== undefined) };
}

/** Its time; 0: there was none. */
async function lastRenewal(pages: AsyncIterable<{ readonly entries: readonly Entry[] }>): Promise<number> {
  let last = 0;
  for await (const { entries } of pages)
    for (const { formerEnd } of entries) last = Math.max(last, formerEnd?.at ?? 0);
  return last;
}
