/** Exports a subject's facts and audit rows as JSON Lines, which an import restores unchanged. Values are in plain text. */
import { isUtf8 } from "node:buffer";
import { ANSWER_LIMITS, requireCount } from "../../engine/answer-limits.ts";
import { parseAuditEntry } from "../../engine/audit/audit-entries.ts";
import { defined } from "../../engine/defined.ts";
import { HelmdeckError, invalidField } from "../../engine/errors.ts";
import { rfc3339 } from "../../engine/rfc3339.ts";
import type { Entry, FormerValue, MemoryStore, Origin } from "../../engine/store/memory-store.ts";
import type { Namespace, Subject } from "../../engine/store/namespace.ts";
import { nextTurn } from "../../engine/timing.ts";
import { factView } from "../fact-view.ts";
import type { ExportPage, ExportProblem, ExportQuery } from "../memory.ts";
import { escapeJson } from "../presenters/safe-json.ts";
import { requireNamespace } from "../subject.ts";
import { toWire } from "../wire/codec.ts";
import { historyLine } from "./history-lines.ts";

/** Rows opened per turn of the event loop. */
const PART_ROWS = 250;

export interface ExportOptions {
  /** From `openMemory`. */
  readonly memory: { readonly store: MemoryStore };
  readonly subject: Subject;
  /** Includes former values. */
  readonly withHistory?: boolean;
  /** Called for each row that cannot be exported. */
  readonly onProblem: (problem: ExportProblem) => void;
  /** Called after each part with the number of entries done, and the total. */
  readonly onProgress?: (done: number, total: number) => void;
}

/**
 * One line per fact and audit row, without line breaks, in the order of the last writes. A row that is written during the export
 * may appear twice; an import uses the later line.
 */
export async function* exportLines(options: ExportOptions): AsyncGenerator<string> {
  const { memory, subject, withHistory, onProblem, onProgress } = options;
  const namespace = requireNamespace(subject);
  const total = onProgress === undefined ? 0 : await memory.store.countWhere({ namespace });
  let since: number | undefined = 0;
  let done = 0;
  while (since !== undefined) {
    const part = await readPart(memory.store, namespace, { since, limit: PART_ROWS }, withHistory);
    if (part === undefined) {
      since = 0;
      done = 0;
      continue;
    }
    yield* part.lines;
    part.problems.forEach(onProblem);
    since = part.next;
    done += part.rows;
    onProgress?.(Math.min(done, total), total);
    await nextTurn();
  }
}

/** A part of {@link exportLines}. Throws `changed_meanwhile` if the memory can no longer be continued from the cursor. */
export async function exportPage(
  store: MemoryStore,
  namespace: Namespace,
  { withHistory, cursor = "0", ...query }: ExportQuery,
): Promise<ExportPage> {
  const limit = requireCount("limit", query.limit, ANSWER_LIMITS.facts);
  if (!/^\d{1,15}$/.test(cursor)) throw invalidField("cursor", "must be the next_cursor of an answer");
  const part = await readPart(store, namespace, { since: Number(cursor), limit }, withHistory);
  if (part === undefined) {
    throw new HelmdeckError(
      "changed_meanwhile",
      "This memory was replaced, or much of it deleted, since the cursor: export it again, without a cursor.",
    );
  }
  const { lines, problems, next } = part;
  return { lines, problems, ...(next !== undefined && { nextCursor: String(next) }) };
}

/** Undefined: the change feed starts over. */
async function readPart(
  store: MemoryStore,
  namespace: Namespace,
  from: { readonly since: number; readonly limit: number },
  withHistory = false,
) {
  const page = await store.changes({ namespace, ...from });
  if (page.kind === "start_over") return undefined;
  const problems: ExportProblem[] = page.unreadable.filter(isExported).map(({ origin, key }) => {
    const reason = "cannot be opened: changed, or encrypted with another key";
    return { origin, key, code: "entry_unreadable", reason };
  });
  const lines: string[] = [];
  for (const entry of page.upserts.filter(isExported)) {
    const isFact = entry.origin === "fact";
    const history = isFact && withHistory ? await store.history(entry) : [];
    const line = isFact ? factLine(entry, history) : auditLine(entry);
    if (typeof line === "string") lines.push(escapeJson(line));
    else problems.push({ origin: entry.origin, key: entry.key, code: "invalid_input", ...line });
  }
  const rows = page.upserts.length + page.unreadable.length;
  return { lines, problems, rows, next: page.more ? page.cursor : undefined };
}

function isExported({ origin }: { readonly origin: Origin }): boolean {
  return origin === "fact" || origin === "audit";
}

/**
 * The object that `get` and REST return, without its revision, which belongs to this store, with whether its end was chosen, and
 * with its history.
 */
function factLine(entry: Entry, history: readonly FormerValue[]): string | { readonly reason: string } {
  if (!isUtf8(entry.value)) return { reason: "is not valid text" };
  const { revision: _, ...reply } = toWire(factView(entry));
  const about = { ...reply, ...defined({ ending: entry.ending }) };
  return JSON.stringify(history.length === 0 ? about : { ...about, history: historyLine(history) });
}

function auditLine(entry: Entry): string | { readonly reason: string } {
  const audit = parseAuditEntry(entry);
  if (audit === undefined) return { reason: "is not a readable audit row" };
  return JSON.stringify({ audit: audit.kind, ...audit.row, key: entry.key, ...timesOf(entry) });
}

function timesOf({
  createdAt,
  updatedAt,
  expiresAt,
  fingerprint,
  writer,
}: Entry): Readonly<Record<string, unknown>> {
  return {
    created_at: rfc3339(createdAt),
    updated_at: rfc3339(updatedAt),
    ...(expiresAt !== undefined && { expires_at: rfc3339(expiresAt) }),
    fingerprint,
    ...(writer && { writer: toWire(writer) }),
  };
}
