/** The corpus supplement behind OpenClaw's memory_search and memory_get: ranked hits, and documents by path. */

import type { Memory, RecallAnswer, RecallQuery, SearchAnswer } from "../app/memory.ts";
import { endedText } from "../app/presenters/words.ts";
import { ANSWER_LIMITS, countWithin } from "../engine/answer-limits.ts";
import { dateOf } from "../engine/rfc3339.ts";
import type { AccessPolicy } from "./access-policy.ts";
import { documentForHost, hitsForHost, lineOf, PATH_PREFIX } from "./boundary.ts";
import { isQuiet } from "./identity.ts";
import type { MemoryAccess } from "./memory-access.ts";
import type { GetParams, GetResult, Logger, SearchHit, SearchParams, Supplement } from "./openclaw-api.ts";
import { logLineOf, sentenceOf } from "./plugin-failure.ts";
import { startDeadline } from "./within-deadline.ts";

/** The host waits 30 s without an abort signal; a person should not wait that long. */
export const ANSWER_DEADLINE_MS = 3_000;
const IN_PART = "no hits in the searched part of helmdeck memory";
const STILL_INDEXING = "helmdeck memory is still being indexed; try again in a moment";

export interface SupplementParts {
  readonly access: MemoryAccess;
  readonly policy: AccessPolicy;
  readonly log: Logger;
  readonly deadlineMs?: number;
  /** Default false. */
  readonly renewOnUse?: boolean;
}

/**
 * A refused caller gets nothing, as does one without memories, and cannot tell the two apart. If memory fails, or finds
 * nothing while it is still being indexed, this throws one short sentence, which the host shows as a warning with its own hits.
 */
export function makeSupplement(parts: SupplementParts): Supplement {
  const deadlineMs = parts.deadlineMs ?? ANSWER_DEADLINE_MS;
  let lastReason: string | undefined;
  let lastSaid: string | undefined;
  const noteReason = (reason: string | undefined): void => {
    if (reason !== undefined && reason !== lastReason) parts.log.info(`helmdeck memory, in part: ${reason}`);
    lastReason = reason;
  };
  type Deadline = ReturnType<typeof startDeadline>;
  const ask = async <T>(deadline: Deadline, work: (memory: Memory) => Promise<T>): Promise<T> => {
    try {
      return await deadline(parts.access.open().then(work));
    } catch (error) {
      parts.log.warn(`helmdeck memory: ${logLineOf(error)}`);
      // No cause: the host may print it, and it could contain more than this sentence.
      throw new Error(sentenceOf(error));
    }
  };
  return {
    async search(params: SearchParams): Promise<SearchHit[]> {
      const query =
        typeof params.query === "string" ? params.query.slice(0, ANSWER_LIMITS.queryCharacters).trim() : "";
      const deadline = startDeadline(deadlineMs);
      const verdict = await parts.policy.verdict(params);
      if (query === "" || !verdict.ok) return [];
      const limit = countWithin(params.maxResults, ANSWER_LIMITS.hits);
      const quiet = isQuiet(verdict);
      const asked: RecallQuery = { query, limit, ...(quiet && { recall: "quiet" }) };
      const answer = await ask(deadline, (memory) => memory.search(verdict.subject, asked));
      noteReason(answer?.reason);
      if (!quiet) refuseSilence(answer);
      const ended = quiet ? "" : endedText(answer?.unmatched?.ended);
      const said = `${verdict.subject} ${dateOf(Date.now())} ${ended}`;
      if (ended !== "" && said !== lastSaid) {
        lastSaid = said; // once a day
        throw new Error(`no hits in helmdeck memory. ${ended}`);
      }
      return checkedHits(answer, limit, parts.log);
    },
    async get(params: GetParams): Promise<GetResult | null> {
      const path = params.lookup;
      if (typeof path !== "string" || !path.startsWith(PATH_PREFIX)) return null;
      const deadline = startDeadline(deadlineMs);
      const verdict = await parts.policy.verdict(params);
      if (!verdict.ok) return null;
      const query = {
        path,
        ...positive("fromLine", params.fromLine),
        ...positive("lineCount", params.lineCount),
        // Reads by strangers in an opened group renew nothing.
        ...(parts.renewOnUse === true && !isQuiet(verdict) && { renewOnUse: true }),
      };
      const slice = await ask(deadline, (memory) => memory.readDocument(verdict.subject, query));
      return slice === undefined ? null : (documentForHost(slice) ?? null);
    },
  };
}

/** Finding nothing in part of the memory proves nothing, but a model would take it for an answer. */
function refuseSilence(answer: SearchAnswer | undefined): void {
  if (answer === undefined || answer.results.length > 0) return;
  if (answer.incomplete === true) throw new Error(STILL_INDEXING);
  const reason = lineOf(answer.reason);
  if (answer.partial === true) throw new Error(reason === undefined ? IN_PART : `${IN_PART}: ${reason}`);
}

function checkedHits(answer: RecallAnswer | undefined, limit: number, log: Logger): SearchHit[] {
  const note = answer?.reason === undefined ? undefined : `helmdeck, in part: ${answer.reason}`;
  const { hits, dropped } = hitsForHost(answer?.results, limit, note);
  if (dropped > 0) log.warn(`helmdeck memory: internal: ${dropped} malformed hits were left out`);
  return hits;
}

/** As in the bundled wiki: a value that is not a positive whole number counts as absent. */
function positive<K extends "fromLine" | "lineCount">(name: K, value: unknown): Partial<Record<K, number>> {
  const isPositive = typeof value === "number" && Number.isSafeInteger(value) && value >= 1;
  // The computed key is K itself, which the compiler widens to string.
  return isPositive ? ({ [name]: value } as Record<K, number>) : {};
}
