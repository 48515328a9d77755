/** How much may be asked at a time and how much is answered, the same on every surface. */
import { invalidField } from "./errors.ts";

/** How many of a thing may be asked for. */
export interface CountLimits {
  readonly least: number;
  readonly most: number;
  readonly byDefault: number;
}

export const ANSWER_LIMITS = {
  /** Of a question, in UTF-16 units. What is beyond is cut off: it says nothing more to an index, and costs time. */
  queryCharacters: 4_000,
  /** A search. */
  hits: { least: 1, most: 50, byDefault: 10 },
  /** Of a hit, in UTF-16 units; the host's own snippets have the same limit. */
  snippetCharacters: 700,
  /** Of a hit that is only possibly related, with its frame … */
  possibleSnippetCharacters: 200,
  /** … and of the passage in it, which the frame of most facts leaves room for. */
  possibleExcerptCharacters: 100,
  /** A page of the corpus; of chunks that a query ranks there are never more than hits. */
  chunks: { least: 1, most: 100, byDefault: 20 },
  /** A page of a list. */
  facts: { least: 1, most: 1_000, byDefault: 100 },
  /** Of a document. */
  documentLines: 200,
  /** Of those lines: the host does not bound what it is given. */
  documentBytes: 12 * 1_024,
} as const;

/**
 * What is shown where nothing answers surely. `balanced`: at most two possible hits, one where fewer than six are asked for.
 * `eager`: at most three. `quiet`: none, which is also what strangers get, and whatever enters a prompt unasked.
 */
export const RECALL_MODES = ["balanced", "quiet", "eager"] as const;
export type RecallMode = (typeof RECALL_MODES)[number];
/** For whoever fills the field in. */
export const RECALL_TEXT =
  "What is shown where nothing answers surely: at most two possible hits (balanced), none (quiet), at most three (eager).";

/** The count that was asked for, or the default; `invalid_input` when it is not within its limits. */
export function requireCount(field: string, count: unknown, limits: CountLimits): number {
  const { least, most, byDefault } = limits;
  if (count === undefined) return byDefault;
  if (typeof count === "number" && Number.isInteger(count) && count >= least && count <= most) return count;
  throw invalidField(field, `must be a whole number from ${least} to ${most}`);
}

/** As {@link requireCount} for a host that checks nothing: what is no number counts as not given, and the rest is brought within. */
export function countWithin(count: unknown, { least, most, byDefault }: CountLimits): number {
  if (typeof count !== "number" || !Number.isFinite(count)) return byDefault;
  return Math.min(most, Math.max(least, Math.trunc(count)));
}

/** For whoever fills the field in: "1 to 50; 10 when left out". */
export function limitsText({ least, most, byDefault }: CountLimits): string {
  return `${least} to ${most}; ${byDefault} when left out`;
}
