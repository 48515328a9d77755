/** Limits on requests and answers, the same on every surface. */
import { invalidField } from "./errors.ts";

/** The range and the default of a count in a request. */
export interface CountLimits {
  readonly least: number;
  readonly most: number;
  readonly byDefault: number;
}

export const ANSWER_LIMITS = {
  /** Length of a query, in UTF-16 units. The rest is cut off: it adds nothing for an index and costs time. */
  queryCharacters: 4_000,
  /** Results of a search. */
  hits: { least: 1, most: 50, byDefault: 10 },
  /** Length of a snippet, in UTF-16 units; OpenClaw's own snippets have the same limit. */
  snippetCharacters: 700,
  /** Of these, what is left to a frame around the text. Keys are shortened to fit. */
  frameCharacters: 100,
  /** Length of the snippet of a possible hit, including its frame. */
  possibleSnippetCharacters: 220,
  /** Length of the passage in that snippet. */
  possibleExcerptCharacters: 100,
  /** Chunks on a page of the corpus. A ranked page never holds more chunks than a search has hits. */
  chunks: { least: 1, most: 100, byDefault: 20 },
  /** Facts on a page of a list. */
  facts: { least: 1, most: 1_000, byDefault: 100 },
  /** Callers on a page of their usage. */
  callers: { least: 1, most: 1_000, byDefault: 100 },
  /** Findings on a page of a review. */
  findings: { least: 1, most: 100, byDefault: 20 },
  /** Lines of a document. */
  documentLines: 200,
  /** Bytes of those lines. OpenClaw does not limit what it is given. */
  documentBytes: 12 * 1_024,
} as const;

/**
 * What a search shows of hits that it is not sure of. `balanced`: at most three possible ones, sure ones counted, or one when fewer than
 * six hits are requested. `eager`: at most five. `quiet`: none. Strangers, and everything that enters a prompt unasked, always get `quiet`.
 */
export const RECALL_MODES = ["balanced", "quiet", "eager"] as const;
export type RecallMode = (typeof RECALL_MODES)[number];
/** The help text of the field. */
export const RECALL_TEXT =
  "Hits that are not certain: likely ones, at most three (balanced), none (quiet), at most five (eager).";

/**
 * Why a possible hit is not sure. `owner`: it does not name whose matter is asked about. `answer`: it lacks the time, number or
 * person asked for. `name`: this memory has never seen a name of the question. `words`: it has only some of the words.
 * `synonyms`, `meaning`: it has none of them.
 */
export const POSSIBLE_REASONS = ["owner", "answer", "name", "words", "synonyms", "meaning"] as const;
export type PossibleReason = (typeof POSSIBLE_REASONS)[number];

/** The requested count, or the default. Throws `invalid_input` when the count is out of range. */
export function requireCount(field: string, count: unknown, limits: CountLimits): number {
  const { least, most, byDefault } = limits;
  if (count === undefined) return byDefault;
  if (typeof count === "number" && Number.isInteger(count) && count >= least && count <= most) return count;
  throw invalidField(field, `must be a whole number from ${least} to ${most}`);
}

/**
 * Like {@link requireCount}, for a host that validates nothing: a value that is not a number counts as absent, and a number is
 * clamped.
 */
export function countWithin(count: unknown, { least, most, byDefault }: CountLimits): number {
  if (typeof count !== "number" || !Number.isFinite(count)) return byDefault;
  return Math.min(most, Math.max(least, Math.trunc(count)));
}

/** The help text of a count, such as "1 to 50; default 10". */
export function limitsText({ least, most, byDefault }: CountLimits): string {
  return `${least} to ${most}; default ${byDefault}`;
}
