/** Checking what is searched for: surfaces hand over a model's arguments unchecked. */
import {
  ANSWER_LIMITS,
  defined,
  invalidField,
  type Namespace,
  RECALL_MODES,
  type RecallMode,
  requireCount,
  withoutCitation,
} from "../engine/index.ts";
import type { RecallQuery } from "../recall/index.ts";
import type { SearchAnswer, StoredCounts } from "./memory.ts";
import { storedCounts } from "./overview.ts";
import type { UseCaseContext } from "./use-case-context.ts";

export const NOTHING_STORED = "Nothing is stored yet.";

/** What recall finds; and where that is nothing, how much there is, which silence would hide. */
export async function search(
  context: UseCaseContext,
  namespace: Namespace,
  given: RecallQuery,
): Promise<SearchAnswer> {
  const query = requireQuery(given);
  const answer = await context.recall.search(namespace, query);
  if (answer.results.length > 0 || answer.incomplete) return answer;
  return { ...answer, unmatched: await storedCounts(context, namespace) };
}

/** `12 facts, none matched; helmdeck/my-memory.md lists them.` `listing`: what there does. */
export function unmatchedText({ facts, auditRows }: StoredCounts, listing: string): string {
  const counted = [
    ...(facts === 0 ? [] : [`${facts} ${facts === 1 ? "fact" : "facts"}`]),
    ...(auditRows === 0 ? [] : [`${auditRows} ${auditRows === 1 ? "record" : "records"} of tool runs`]),
  ];
  return counted.length === 0 ? NOTHING_STORED : `${counted.join(" and ")}, none matched; ${listing}.`;
}

/**
 * The query, cut to a length that means something; `invalid_input` when it is none. The lines of a citation are no words of
 * its document, so they are left out.
 */
export function requireQuery(given: RecallQuery): RecallQuery {
  const query: unknown = given?.query;
  if (typeof query !== "string") throw invalidField("query", "must be text: the words to look for");
  const limit = requireCount("limit", given.limit, ANSWER_LIMITS.hits);
  const words = withoutCitation(query.slice(0, ANSWER_LIMITS.queryCharacters).toWellFormed());
  const recall = requireRecallMode(given.recall);
  return { ...given, query: words, limit, ...defined({ recall }) };
}

/** Undefined where none is given; `invalid_input` where it is no such mode. */
function requireRecallMode(given: unknown): RecallMode | undefined {
  const mode = RECALL_MODES.find((known) => known === given);
  if (mode !== undefined || given === undefined) return mode;
  throw invalidField("recall", `must be one of ${RECALL_MODES.join(", ")}`);
}
