/** Checking what is searched for: surfaces hand over a model's arguments unchecked. */
import { HelmdeckError } from "../engine/index.ts";
import type { RecallQuery } from "../recall/index.ts";

/** Longer questions say nothing more to an index, and cost time. */
const QUERY_CHARACTERS = 4_000;
const LIMIT = { least: 1, most: 50 } as const;

/** The query, cut to a length that means something; `invalid_input` when it is none. */
export function requireQuery(given: RecallQuery): RecallQuery {
  const query: unknown = given?.query;
  if (typeof query !== "string") throw refuse("query", "must be text: the words to look for");
  const { limit } = given;
  if (limit !== undefined && !(Number.isInteger(limit) && limit >= LIMIT.least && limit <= LIMIT.most)) {
    throw refuse("limit", `must be a whole number from ${LIMIT.least} to ${LIMIT.most}`);
  }
  return { ...given, query: query.slice(0, QUERY_CHARACTERS).toWellFormed() };
}

function refuse(field: string, rule: string): HelmdeckError {
  return new HelmdeckError("invalid_input", `${field} ${rule}.`, { details: { field } });
}
