/** Keeps facts apart that say the same or contradict each other: a review does not ask about them again. */
import { HelmdeckError, invalidField, partlyDone } from "../engine/errors.ts";
import { APART_LIMITS, askingAgain, keepingApart } from "../engine/facts/apart.ts";
import type { Namespace } from "../engine/store/namespace.ts";
import { keyOfFact } from "./fact-view.ts";
import type { ApartFacts, ApartInput } from "./memory.ts";
import type { UseCaseContext } from "./use-case-context.ts";

/**
 * Each fact gets a mark for every other one. Two are apart only while both have theirs, so a write in between leaves the question open.
 *
 * Throws `not_found`, `changed_meanwhile`, and `invalid_input` beyond a limit.
 */
export async function keepApart(
  context: UseCaseContext,
  namespace: Namespace,
  { keys: names, apart = true, upTo }: ApartInput,
): Promise<ApartFacts> {
  const facts = await Promise.all(checkedNames(names).map((name) => factNamed(context, namespace, name)));
  for (const [marked, { ref, id }] of facts.entries()) {
    const others = facts.filter((other) => other.id !== id).map((other) => other.id);
    const decide = apart ? keepingApart(others, upTo) : askingAgain(others);
    try {
      if ((await context.store.renew(ref, decide)) === undefined) throw noSuchFact();
    } catch (error) {
      if (marked === 0) throw error;
      throw partlyDone(
        error,
        `Marked: ${marked} of ${facts.length} facts. Only pairs of marked facts are settled.`,
        { marked },
      );
    }
  }
  return { keys: facts.map(({ ref }) => ref.key), apart };
}

function checkedNames(names: unknown): readonly string[] {
  const { together } = APART_LIMITS;
  const given = Array.isArray(names) ? [...new Set(names.filter((name) => typeof name === "string"))] : [];
  if (given.length >= 2 && given.length <= together) return given;
  throw invalidField("keys", `must name 2 to ${together} facts`);
}

async function factNamed(context: UseCaseContext, namespace: Namespace, name: string) {
  const key = await keyOfFact(context, namespace, name);
  if (key === undefined) throw noSuchFact();
  const ref = { namespace, origin: "fact", key } as const;
  const entry = await context.store.get(ref);
  if (entry === undefined) throw noSuchFact();
  return { ref, id: entry.id };
}

function noSuchFact(): HelmdeckError {
  return new HelmdeckError(
    "not_found",
    "There is no fact with one of these keys, or it cannot be opened. Keys are exact and case-sensitive.",
  );
}
