/** Runs of packs and pipelines, and calls of any tool, as audit rows: recorded, and listed newest first. */
import { requireCount } from "../engine/answer-limits.ts";
import { auditEntry, checkAuditRow, nameOfRun, parseAuditEntry } from "../engine/audit/audit-entries.ts";
import { AUDIT_CATEGORIES } from "../engine/audit/audit-keys.ts";
import type { PackAudit, PipelineAudit, ToolAudit } from "../engine/audit/audit-rows.ts";
import { AUDIT_LIMITS } from "../engine/audit/check-audit-row.ts";
import { defined } from "../engine/defined.ts";
import { invalidField } from "../engine/errors.ts";
import { kindOfSecret } from "../engine/facts/secrets.ts";
import { pagesOf } from "../engine/pages-of.ts";
import { pathOf } from "../engine/projections/paths.ts";
import { encodeListCursor } from "../engine/store/cursors.ts";
import type { Entry } from "../engine/store/memory-store.ts";
import type { Namespace } from "../engine/store/namespace.ts";
import type { Writer } from "../engine/store/writer.ts";
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
    inputs: (audit.kind === "tool" ? audit.row.inputs : audit.row.learn_inputs) ?? {},
    findings: audit.kind === "pack" ? (audit.row.findings?.length ?? 0) : 0,
    path: pathOf(entry.category, entry.key),
    ...defined({ durationMs: duration_ms, writer: entry.writer }),
  };
}

/** Throws `invalid_input` when the row is malformed. Omits findings beyond 50, and inputs and findings that look like credentials. */
export async function recordPackRun(
  context: UseCaseContext,
  namespace: Namespace,
  row: PackAudit,
  writer?: Writer,
): Promise<void> {
  const listed: unknown = row?.findings;
  const first = Array.isArray(listed) ? { findings: listed.slice(0, AUDIT_LIMITS.findings) } : {};
  const run: PackAudit = { ...row, ...first };
  checkAuditRow("pack", run);
  const findings = await harmlessFindings(run.findings ?? []);
  const kept = { ...run, findings, learn_inputs: await withoutSecrets(run.learn_inputs ?? {}) };
  await record(context, namespace, { kind: "pack", row: kept, writer });
}

/** Like {@link recordPackRun}. */
export async function recordPipelineRun(
  context: UseCaseContext,
  namespace: Namespace,
  row: PipelineAudit,
  writer?: Writer,
): Promise<void> {
  checkAuditRow("pipeline", row);
  const kept = { ...row, learn_inputs: await withoutSecrets(row.learn_inputs ?? {}) };
  await record(context, namespace, { kind: "pipeline", row: kept, writer });
}

/** Like {@link recordPackRun}. */
export async function recordToolCall(
  context: UseCaseContext,
  namespace: Namespace,
  row: ToolAudit,
  writer?: Writer,
): Promise<void> {
  checkAuditRow("tool", row);
  const inputs = await withoutSecrets(row.inputs ?? {});
  await context.toolHistory.makeRoom(namespace);
  await record(context, namespace, { kind: "tool", row: { ...row, inputs }, writer });
}

/** Checks the full texts, since a truncated credential is not recognised. */
async function withoutSecrets(inputs: NonNullable<ToolAudit["inputs"]>): Promise<typeof inputs> {
  const harmless: [name: string, text: string][] = [];
  for (const [name, text] of Object.entries(inputs)) {
    // Joined: some credentials are recognised only next to their name.
    if ((await kindOfSecret(`${name} = ${text}`)) === undefined) harmless.push([name, text]);
  }
  return Object.fromEntries(harmless);
}

type Findings = NonNullable<PackAudit["findings"]>;

async function harmlessFindings(findings: Findings): Promise<Findings> {
  const harmless: Findings[number][] = [];
  for (const finding of findings) {
    if ((await kindOfSecret(Object.values(finding).join("\n"))) === undefined) harmless.push(finding);
  }
  return harmless;
}

interface RunToRecord {
  readonly kind: "pack" | "pipeline" | "tool";
  readonly row: unknown;
  readonly writer: Writer | undefined;
}

async function record(
  context: UseCaseContext,
  namespace: Namespace,
  { kind, row, writer }: RunToRecord,
): Promise<void> {
  const audit = checkAuditRow(kind, row);
  const unixNs = context.runClock.next(audit.row.at_unix);
  await context.store.put({
    ...auditEntry(namespace, audit, context.now(), { unixNs }),
    ...defined({ writer }),
  });
}
