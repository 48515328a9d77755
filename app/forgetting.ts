/** Deletes or counts the entries of a scope, and suggests similar keys when it matches none. */
import { defined } from "../engine/defined.ts";
import { invalidField } from "../engine/errors.ts";
import {
  type ForgetReadings,
  type ForgetScope,
  filterOf,
  isWideScope,
  parseForgetScope,
  settleScope,
} from "../engine/facts/forget-scope.ts";
import { nearestKeys } from "../engine/facts/near.ts";
import { pagesOf } from "../engine/pages-of.ts";
import { ownNote } from "../engine/rules/ended.ts";
import type { EntryFilter, Erasure } from "../engine/store/memory-store.ts";
import type { Namespace } from "../engine/store/namespace.ts";
import { countFormer, partlyRestored, restoreReplaced } from "./history.ts";
import type { ForgetInput, Forgotten } from "./memory.ts";
import type { UseCaseContext } from "./use-case-context.ts";

/** Keys compared per turn of the event loop. */
const PAGE_KEYS = 250;
/** Similar keys are searched among this many of the newest facts. */
const MOST_KEYS = 10_000;

/** Throws `invalid_input` for an empty scope, one that matches several entries, and a `dry_run` that is not a boolean. */
export async function forget(
  context: UseCaseContext,
  namespace: Namespace,
  input: ForgetInput,
): Promise<Forgotten> {
  const readings = parseForgetScope(input?.scope);
  const dryRun = requireDryRun(input.dryRun);
  const revision = dryRun ? await context.store.revision(namespace, { includeSessions: true }) : undefined;
  const bound = defined({ upTo: input.upTo ?? revision });
  const meant = await settle(context, { namespace, ...bound }, readings);
  const filter = { ...filterOf(meant, namespace), ...bound };
  // How many facts ended goes with all of them, and is an entry only if there is no other.
  const ended = meant.kind === "all" ? await context.store.ended(namespace) : [];
  const scope = input.scope.trim();
  const restored = await restoreReplaced(context, filter, dryRun);
  const erase = () => context.store.deleteWhere(filter).catch(partlyRestored(restored));
  const counted = dryRun ? await countCovered(context, filter) : await erase();
  const counts =
    dryRun || ended.length === 0 ? undefined : await context.store.delete(ownNote(namespace, "ended"));
  const { former = 0, newer } = counted;
  const erased = counts?.erased === "pending" ? "pending" : counted.erased;
  const deleted = counted.deleted + (dryRun ? 0 : restored) || Math.min(1, ended.length);
  const others = {
    ...(former > 0 && { former }),
    ...(restored > 0 && { restored }),
    ...(scope === "everything" && !dryRun && { nameStays: true as const }),
  };
  const forgotten = { scope, deleted, dryRun, ...defined({ revision, newer }) };
  if (deleted + former > 0) return { ...forgotten, erased, ...others };
  if (newer !== undefined) return { ...forgotten, erased: "nothing" };
  return { ...forgotten, erased: "nothing", near: await keysNear(context, namespace, scope) };
}

/** Whether a scope names a kind of entries rather than one. Throws `invalid_input` like forgetting. */
export function isWideForget(scope: unknown): boolean {
  return parseForgetScope(scope).some(isWideScope);
}

async function countCovered({ store }: UseCaseContext, filter: EntryFilter): Promise<CountedForget> {
  const deleted = await store.countWhere(filter);
  return { deleted, former: await countFormer(store, filter), erased: "nothing" };
}

type CountedForget = Omit<Erasure, "erased"> & Pick<Forgotten, "erased">;

/** What is neither true nor false could have meant true. */
export function requireDryRun(wanted: unknown): boolean {
  const dryRun = wanted ?? false;
  if (typeof dryRun === "boolean") return dryRun;
  throw invalidField("dry_run", "must be true or false; nothing was deleted");
}

async function settle(
  context: UseCaseContext,
  { namespace, ...bound }: Pick<EntryFilter, "namespace" | "upTo">,
  readings: ForgetReadings,
): Promise<ForgetScope> {
  if (readings.length === 1) return readings[0];
  const counts = await Promise.all(
    readings.map((scope) => context.store.countWhere({ ...filterOf(scope, namespace), ...bound })),
  );
  return settleScope(
    readings,
    counts.map((count) => count > 0),
  );
}

async function keysNear(
  context: UseCaseContext,
  namespace: Namespace,
  scope: string,
): Promise<readonly string[]> {
  let near: readonly string[] = [];
  let seen = 0;
  const query = { namespace, origin: "fact", limit: PAGE_KEYS } as const;
  for await (const { entries } of pagesOf((more) => context.store.listMeta({ ...query, ...more }))) {
    near = nearestKeys(scope, [...near, ...entries.map(({ key }) => key)]);
    seen += PAGE_KEYS;
    if (seen >= MOST_KEYS) break;
  }
  return near;
}
