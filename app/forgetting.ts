/** Forgetting what a scope names, or counting it first. */
import { filterOf, type Namespace, parseForgetScope } from "../engine/index.ts";
import type { Kit } from "./kit.ts";
import type { ForgetInput, Forgotten } from "./memory.ts";

/** Throws `invalid_input` for an empty or unknown scope. */
export async function forget(kit: Kit, namespace: Namespace, input: ForgetInput): Promise<Forgotten> {
  const filter = filterOf(parseForgetScope(input.scope), namespace);
  const scope = input.scope.trim();
  if (input.dryRun === true) {
    return { scope, deleted: await kit.store.countWhere(filter), dryRun: true, erased: "complete" };
  }
  return { scope, ...(await kit.store.deleteWhere(filter)), dryRun: false };
}
