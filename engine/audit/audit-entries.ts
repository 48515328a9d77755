/** Audit rows as entries of the store, and back. */
import { invalidField } from "../errors.ts";
import type { Entry, NewEntry, UnixMs } from "../store/memory-store.ts";
import type { Namespace } from "../store/namespace.ts";
import { type AuditCategory, auditKey, deriveUnixNs, parseAuditKey, unixSecondsOf } from "./audit-keys.ts";
import type { PackAudit, PipelineAudit } from "./audit-rows.ts";
import { checkPackAudit, checkPipelineAudit, readPackAudit, readPipelineAudit } from "./check-audit-row.ts";

/** helmdeck keeps a run for 30 days. */
export const AUDIT_TTL_SECONDS = 2_592_000;

/** A run, told apart by what ran. */
export type AuditRow =
  | { readonly kind: "pack"; readonly row: PackAudit }
  | { readonly kind: "pipeline"; readonly row: PipelineAudit };

export interface AuditEntryTimes {
  /** The run's nanosecond, when it is known; else it is derived from the row's content. */
  readonly unixNs?: bigint;
  readonly createdAt?: UnixMs;
  readonly updatedAt?: UnixMs;
  readonly expiresAt?: UnixMs;
}

/** Throws `invalid_input` unless the row is well formed. */
export function checkAuditRow(kind: AuditRow["kind"], row: unknown): AuditRow {
  return kind === "pack" ? { kind, row: checkPackAudit(row) } : { kind, row: checkPipelineAudit(row) };
}

/** The entry that keeps a checked row for 30 days from `now`, unless `times` says when it ends. */
export function auditEntry(
  namespace: Namespace,
  audit: AuditRow,
  now: UnixMs,
  { unixNs, ...times }: AuditEntryTimes = {},
): NewEntry {
  const { category, name } = subjectOf(audit);
  const value = Buffer.from(JSON.stringify(audit.row));
  return {
    namespace,
    origin: "audit",
    key: auditKey({ category, name, unixNs: unixNs ?? deriveUnixNs(audit.row.at_unix, value) }),
    value,
    category,
    tags: [],
    expiresAt: now + AUDIT_TTL_SECONDS * 1_000,
    ...times,
  };
}

/** The nanosecond in an exported row's key, or `invalid_input` when the key belongs to another row. */
export function requireUnixNs(key: string, audit: AuditRow): bigint {
  const parts = parseAuditKey(key);
  const { category, name } = subjectOf(audit);
  const isItsOwn =
    parts?.category === category && parts.name === name && unixSecondsOf(parts.unixNs) === audit.row.at_unix;
  if (parts !== undefined && isItsOwn) return parts.unixNs;
  const rule =
    "does not belong to this audit row: it must name its pack or pipeline and its second. Leave it out";
  throw invalidField("key", rule);
}

/** A row read back; undefined when the entry is a run's, but damaged, or of a kind that is not shown. */
export function parseAuditEntry(entry: Pick<Entry, "category" | "value">): AuditRow | undefined {
  const parsed = parseJson(entry.value);
  if (entry.category === "pack_history") {
    const row = readPackAudit(parsed);
    return row && { kind: "pack", row };
  }
  if (entry.category !== "pipeline_history") return undefined;
  const row = readPipelineAudit(parsed);
  return row && { kind: "pipeline", row };
}

function subjectOf(audit: AuditRow): { readonly category: AuditCategory; readonly name: string } {
  return audit.kind === "pack"
    ? { category: "pack_history", name: audit.row.pack }
    : { category: "pipeline_history", name: audit.row.pipeline };
}

function parseJson(value: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(value).toString());
  } catch {
    return undefined;
  }
}
