/** Renews a fact before it expires: by a person, or by use. */
import { defined } from "../engine/defined.ts";
import { HelmdeckError } from "../engine/errors.ts";
import { renewalByHand, renewalByUse } from "../engine/facts/renewal.ts";
import { requireRevision } from "../engine/rules/conditions.ts";
import type { Entry, UnixMs } from "../engine/store/memory-store.ts";
import type { Namespace } from "../engine/store/namespace.ts";
import { keyOfFact } from "./fact-names.ts";
import { factView } from "./fact-view.ts";
import type { FactView, RenewInput } from "./memory.ts";
import type { UseCaseContext } from "./use-case-context.ts";

/** Throws `invalid_input` for an invalid ttl, and `not_found`. */
export async function renewFact(
  context: UseCaseContext,
  namespace: Namespace,
  { key: name, ttlSeconds, ifRevision }: RenewInput,
): Promise<FactView> {
  const decide = renewalByHand(ttlSeconds);
  const key = await keyOfFact(context, namespace, name);
  if (key === undefined) requireRevision(undefined, ifRevision);
  const entry =
    key && (await context.store.renew({ namespace, origin: "fact", key }, decide, defined({ ifRevision })));
  if (entry) return factView(entry);
  throw new HelmdeckError(
    "not_found",
    "There is nothing to renew: there is no fact with this key, or it cannot be opened. Keys are exact and case-sensitive.",
  );
}

/** The expiry after {@link renewFact}; throws `invalid_input` likewise. */
export function endAfterRenewal(
  fact: Pick<FactView, "expiresAt">,
  ttlSeconds: number | undefined,
  now: UnixMs,
): UnixMs | undefined {
  const renewal = renewalByHand(ttlSeconds)(fact, now);
  return renewal?.expiresAt ?? fact.expiresAt;
}

/** For a fact that was just read. Reading succeeds even if the store is read-only or locked. */
export async function renewByUse(context: UseCaseContext, entry: Entry): Promise<void> {
  if (entry.origin !== "fact" || renewalByUse(entry, context.now()) === undefined) return;
  await context.store.renew(entry, renewalByUse, { givesWay: true }).catch(() => undefined);
}
