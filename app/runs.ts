/** Lists runs of packs, pipelines and tools, newest first: audit rows as data. */

import { requireCount } from "../engine/answer-limits.ts";
import { type AuditRow, nameOfRun, parseAuditEntry } from "../engine/audit/audit-entries.ts";
import { AUDIT_CATEGORIES } from "../engine/audit/audit-keys.ts";
import { defined } from "../engine/defined.ts";
import { invalidField } from "../engine/errors.ts";
import { pagesOf } from "../engine/pages-of.ts";
import { pathOf } from "../engine/projections/paths.ts";
import { encodeListCursor } from "../engine/store/cursors.ts";
import type { Entry } from "../engine/store/memory-store.ts";
import type { Namespace } from "../engine/store/namespace.ts";
import type { RunKind, RunsPage, RunsQuery, RunView } from "./memory.ts";
import type { UseCaseContext } from "./use-case-context.ts";

const LIMITS = { least: 1, most: 200, byDefault: 50 } as const;
/** Rows opened at a time. */
const STEP = 50;
/** The most rows that one page examines, however few match. */
const MOST_ROWS = 1_000;
const WENT_WELL = ["ok", "succeeded"];

/** Throws `invalid_input` for a limit out of range, a foreign cursor, and an invalid kind, outcome or time. */
export async function listRuns(
  { store }: UseCaseContext,
  namespace: Namespace,
  query: RunsQuery,
): Promise<RunsPage> {
  const limit = requireCount("limit", query.limit, LIMITS);
  const isWanted = requireOutcome(query.outcome);
  const category = query.kind === undefined ? Object.values(AUDIT_CATEGORIES) : categoryOf(query.kind);
  const runs: RunView[] = [];
  let unreadable = 0;
  let rows = 0;
  let nextCursor: string | undefined;
  const asked = { namespace, origin: "audit", category, limit: STEP } as const;
  const pages = pagesOf((more) => store.list({ ...asked, ...more }), query.cursor ?? beginning(query.until));
  for await (const page of pages) {
    const views = page.entries.map((entry) => ({ entry, run: runOf(entry) }));
    const found = views.filter(({ run }) => run !== undefined && isWanted(run));
    unreadable += page.unreadable.length + views.filter(({ run }) => run === undefined).length;
    rows += STEP;
    ({ nextCursor } = page);
    const [shown, left] = [found.slice(0, limit - runs.length), found.slice(limit - runs.length)];
    runs.push(...shown.flatMap(({ run }) => run ?? []));
    const last = shown.at(-1);
    if (left.length > 0 && last !== undefined) nextCursor = encodeListCursor(last.entry);
    if (runs.length >= limit || rows >= MOST_ROWS) break;
  }
  return { runs, unreadable, ...defined({ nextCursor }) };
}

function beginning(until: unknown): string | undefined {
  if (until === undefined) return undefined;
  if (typeof until === "number" && Number.isSafeInteger(until))
    return encodeListCursor({ updatedAt: until, id: "" });
  throw invalidField("until", "must be a time in whole milliseconds since 1970");
}

function categoryOf(kind: RunKind): string {
  const category: string | undefined = Object.hasOwn(AUDIT_CATEGORIES, kind)
    ? AUDIT_CATEGORIES[kind]
    : undefined;
  if (category !== undefined) return category;
  throw invalidField("kind", `must be one of ${Object.keys(AUDIT_CATEGORIES).join(", ")}`);
}

function requireOutcome(outcome: unknown): (run: RunView) => boolean {
  if (outcome === undefined) return () => true;
  if (outcome === "ok") return ({ isOk }) => isOk;
  if (outcome === "failed") return ({ isOk }) => !isOk;
  throw invalidField("outcome", "must be ok or failed");
}

function runOf(entry: Entry): RunView | undefined {
  const audit = parseAuditEntry(entry);
  if (audit === undefined) return undefined;
  const { outcome, at_unix, duration_ms } = audit.row;
  return {
    key: entry.key,
    kind: audit.kind,
    name: nameOfRun(audit),
    outcome,
    isOk: WENT_WELL.includes(outcome),
    at: at_unix * 1_000,
    inputs: inputsOf(audit) ?? {},
    findings: audit.kind === "pack" ? (audit.row.findings?.length ?? 0) : 0,
    path: pathOf(entry.category, entry.key),
    ...defined({ durationMs: duration_ms, writer: entry.writer }),
  };
}

function inputsOf(audit: AuditRow): RunView["inputs"] | undefined {
  return audit.kind === "tool" ? audit.row.inputs : audit.row.learn_inputs;
}
