/** Validates search queries: surfaces pass a model's arguments unchecked. */
import { ANSWER_LIMITS, RECALL_MODES, type RecallMode, requireCount } from "../engine/answer-limits.ts";
import { defined } from "../engine/defined.ts";
import { invalidField } from "../engine/errors.ts";
import { withoutEnvelope } from "../engine/message-envelope.ts";
import { withoutCitation } from "../engine/projections/naming.ts";
import type { Namespace } from "../engine/store/namespace.ts";
import type { RecallQuery } from "../recall/search-contract.ts";
import type { SearchAnswer, StoredCounts } from "./memory.ts";
import { storedCounts } from "./overview.ts";
import { OTHER_LANGUAGE, SEMANTIC_OFF } from "./presenters/words.ts";
import type { UseCaseContext } from "./use-case-context.ts";

/** Recall's results; when there are none, also how much was searched. */
export async function search(
  context: UseCaseContext,
  namespace: Namespace,
  given: RecallQuery,
): Promise<SearchAnswer> {
  const query = requireQuery(given);
  const { otherLanguage = false, ...answer } = await context.recall.search(namespace, query);
  if (answer.results.length > 0 || answer.incomplete) return answer;
  const unmatched = await storedCounts(context, namespace);
  return { ...answer, unmatched, ...defined({ hint: hintFor(answer, unmatched, otherLanguage) }) };
}

function hintFor(
  { mode, reason }: Pick<SearchAnswer, "mode" | "reason">,
  { facts }: StoredCounts,
  otherLanguage: boolean,
): string | undefined {
  if (facts === 0) return undefined;
  const hints = [
    ...(otherLanguage ? [OTHER_LANGUAGE] : []),
    ...(mode === "keyword" && reason === undefined ? [SEMANTIC_OFF] : []),
  ];
  return hints.length === 0 ? undefined : hints.join(" ");
}

/**
 * The query, truncated to a useful length; throws `invalid_input` when it is not text. Removes a host's envelope, and the line
 * numbers of a citation, which are not words of its document.
 */
export function requireQuery(given: RecallQuery): RecallQuery {
  const query: unknown = given?.query;
  if (typeof query !== "string") throw invalidField("query", "must be text: a question or search words");
  const limit = requireCount("limit", given.limit, ANSWER_LIMITS.hits);
  const words = withoutCitation(
    withoutEnvelope(query.slice(0, ANSWER_LIMITS.queryCharacters).toWellFormed()),
  );
  const recall = requireRecallMode(given.recall);
  return { ...given, query: words, limit, ...defined({ recall }) };
}

/** Undefined when none is given; throws `invalid_input` for an unknown mode. */
function requireRecallMode(given: unknown): RecallMode | undefined {
  const mode = RECALL_MODES.find((known) => known === given);
  if (mode !== undefined || given === undefined) return mode;
  throw invalidField("recall", `must be one of ${RECALL_MODES.join(", ")}`);
}
