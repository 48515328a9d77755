/** Exports a subject's facts and audit rows as JSON Lines, which an import restores unchanged. Values are in plain text. */
import { isUtf8 } from "node:buffer";
import { parseAuditEntry } from "../../engine/audit/audit-entries.ts";
import { rfc3339 } from "../../engine/rfc3339.ts";
import type { Entry, FormerValue, MemoryStore, Origin } from "../../engine/store/memory-store.ts";
import type { Subject } from "../../engine/store/namespace.ts";
import { nextTurn } from "../../engine/timing.ts";
import { factView } from "../fact-view.ts";
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

export interface ExportProblem {
  readonly origin: Origin;
  readonly key: string;
  readonly code: "entry_unreadable" | "invalid_input";
  readonly reason: string;
}

/**
 * One line per fact and audit row, without line breaks, in the order of the last writes. A row that is written during the export
 * may appear twice; an import uses the later line.
 */
export async function* exportLines(options: ExportOptions): AsyncGenerator<string> {
  const { memory, subject, withHistory, onProblem, onProgress } = options;
  const namespace = requireNamespace(subject);
  const total = onProgress === undefined ? 0 : await memory.store.countWhere({ namespace });
  let since = 0;
  let done = 0;
  for (let more = true; more; ) {
    const page = await memory.store.changes({ namespace, since, limit: PART_ROWS });
    if (page.kind === "start_over") {
      since = 0;
      done = 0;
      continue;
    }
    for (const { origin, key } of page.unreadable.filter(isExported)) {
      onProblem({
        origin,
        key,
        code: "entry_unreadable",
        reason: "cannot be opened: changed, or encrypted with another key",
      });
    }
    for (const entry of page.upserts.filter(isExported)) {
      const line = await lineOf(entry, withHistory ? memory.store : undefined);
      if (typeof line === "string") yield line;
      else onProblem({ origin: entry.origin, key: entry.key, code: "invalid_input", ...line });
    }
    since = page.cursor;
    more = page.more;
    done += page.upserts.length + page.unreadable.length;
    onProgress?.(Math.min(done, total), total);
    await nextTurn();
  }
}

function isExported({ origin }: { readonly origin: Origin }): boolean {
  return origin === "fact" || origin === "audit";
}

/** `store`: the source of former values. */
async function lineOf(
  entry: Entry,
  store: MemoryStore | undefined,
): Promise<string | { readonly reason: string }> {
  if (entry.origin !== "fact") return auditLine(entry);
  const history = (await store?.history(entry)) ?? [];
  return factLine(entry, history);
}

/** The object that `get` and REST return, without its revision, which belongs to this store, and with its history. */
function factLine(entry: Entry, history: readonly FormerValue[]): string | { readonly reason: string } {
  if (!isUtf8(entry.value)) return { reason: "is not valid text" };
  const { revision: _, ...reply } = toWire(factView(entry));
  return JSON.stringify(history.length === 0 ? reply : { ...reply, history: historyLine(history) });
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
