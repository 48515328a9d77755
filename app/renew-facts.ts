/** Renews many facts in one call, and undoes the last such renewal. */
import { defined } from "../engine/defined.ts";
import { HelmdeckError } from "../engine/errors.ts";
import { EXPIRING_WITHIN_MS, renewalOfMany, undoingRenewal } from "../engine/facts/renewal.ts";
import { pagesOf } from "../engine/pages-of.ts";
import type { DecideRenewal, Entry } from "../engine/store/memory-store.ts";
import type { Namespace } from "../engine/store/namespace.ts";
import type { Asker, RenewedFacts, RenewFactsInput } from "./memory.ts";
import type { UseCaseContext } from "./use-case-context.ts";

/** Renewed in one transaction: others write in between. */
const AT_ONCE = 250;

/** A fact that was changed after `upTo` stays as it is, and is counted. Throws `changed_meanwhile` if another store was shown. */
export async function renewFacts(
  context: UseCaseContext,
  namespace: Namespace,
  { which, dryRun = false, upTo = Number.POSITIVE_INFINITY }: RenewFactsInput,
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
  const pages = () => pagesOf((more) => store.list({ ...query, ...more }));
  const decide =
    which === "undo"
      ? undoingRenewal(await lastRenewal(pages()))
      : renewalOfMany(defaultTtlSeconds, asker?.isPerson === true, now);
  const shown: DecideRenewal = (entry, at) => (entry.revision > upTo ? undefined : decide(entry, at));
  const ends: number[] = [];
  let newer = 0;
  for await (const { entries } of pages()) {
    const meant = entries.filter((entry) => decide(entry, now) !== undefined);
    newer += meant.filter((entry) => entry.revision > upTo).length;
    const renewed = dryRun
      ? meant.map((entry) => ({ ...entry, ...shown(entry, now) }))
      : await store.renewMany(meant, shown);
    ends.push(...renewed.flatMap((one) => one?.expiresAt ?? []));
  }
  const expiresAt = ends.length === 0 ? undefined : ends.reduce((one, other) => Math.min(one, other));
  return {
    ...{ which, renewed: ends.length, dryRun },
    ...(dryRun && { revision }),
    ...defined({ expiresAt, newer: newer || undefined }),
  };
}

/** Its time; 0: there was none. */
async function lastRenewal(pages: AsyncIterable<{ readonly entries: readonly Entry[] }>): Promise<number> {
  let last = 0;
  for await (const { entries } of pages)
    for (const { formerEnd } of entries) last = Math.max(last, formerEnd?.at ?? 0);
  return last;
}
