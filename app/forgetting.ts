/** Forgetting what a scope names, or counting it first. */
import { filterOf, HelmdeckError, type Namespace, parseForgetScope } from "../engine/index.ts";
import type { Kit } from "./kit.ts";
import type { ForgetInput, Forgotten } from "./memory.ts";

/** Throws `invalid_input` for an empty or unknown scope, and for a dry run that is neither wanted nor not. */
export async function forget(kit: Kit, namespace: Namespace, input: ForgetInput): Promise<Forgotten> {
  const filter = filterOf(parseForgetScope(input?.scope), namespace);
  const isDryRun: unknown = input.dryRun ?? false;
  if (typeof isDryRun !== "boolean") {
    const message = "dry_run must be true or false; nothing was deleted.";
    throw new HelmdeckError("invalid_input", message, { details: { field: "dry_run" } });
  }
  const scope = input.scope.trim();
  if (isDryRun) {
    return { scope, deleted: await kit.store.countWhere(filter), dryRun: true, erased: "complete" };
  }
  return { scope, ...(await kit.store.deleteWhere(filter)), dryRun: false };
}
