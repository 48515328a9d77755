/** Converts audit rows to store entries and back. */

import { invalidField } from "../errors.ts";
import { jsonOf } from "../json.ts";
import type { Entry, NewEntry, UnixMs } from "../store/memory-store.ts";
import type { Namespace } from "../store/namespace.ts";
import {
  AUDIT_CATEGORIES,
  type AuditCategory,
  auditKey,
  deriveUnixNs,
  parseAuditKey,
  unixSecondsOf,
} from "./audit-keys.ts";
import type { PackAudit, PipelineAudit, ToolAudit } from "./audit-rows.ts";
import {
  checkPackAudit,
  checkPipelineAudit,
  checkToolAudit,
  readPackAudit,
  readPipelineAudit,
  readToolAudit,
} from "./check-audit-row.ts";

/** helmdeck keeps audit rows for 30 days. */
export const AUDIT_TTL_SECONDS = 2_592_000;

/** An audit row of a pack, a pipeline or a tool. */
export type AuditRow =
  | { readonly kind: "pack"; readonly row: PackAudit }
  | { readonly kind: "pipeline"; readonly row: PipelineAudit }
  | { readonly kind: "tool"; readonly row: ToolAudit };

export interface AuditEntryTimes {
  /** The run's time in nanoseconds, when it is known; otherwise it is derived from the row's content. */
  readonly unixNs?: bigint;
  readonly createdAt?: UnixMs;
  readonly updatedAt?: UnixMs;
  readonly expiresAt?: UnixMs;
}

/** Throws `invalid_input` unless the row is well formed. */
export function checkAuditRow(kind: AuditRow["kind"], row: unknown): AuditRow {
  switch (kind) {
    case "pack":
      return { kind, row: checkPackAudit(row) };
    case "pipeline":
      return { kind, row: checkPipelineAudit(row) };
    case "tool":
      return { kind, row: checkToolAudit(row) };
  }
}

/** The entry for a checked row. It expires 30 days after `now`, unless `times` says otherwise. */
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

/** The nanoseconds in an exported row's key. Throws `invalid_input` when the key belongs to another row. */
export function requireUnixNs(key: string, audit: AuditRow): bigint {
  const parts = parseAuditKey(key);
  const { category, name } = subjectOf(audit);
  const isItsOwn =
    parts?.category === category && parts.name === name && unixSecondsOf(parts.unixNs) === audit.row.at_unix;
  if (parts !== undefined && isItsOwn) return parts.unixNs;
  const rule =
    "does not belong to this audit row: it must name its pack, pipeline or tool, and its second. Leave it out";
  throw invalidField("key", rule);
}

/** Reads a row back; undefined when the entry is damaged or of a kind that is not shown. */
export function parseAuditEntry(entry: Pick<Entry, "category" | "value">): AuditRow | undefined {
  const parsed = jsonOf(Buffer.from(entry.value).toString());
  switch (entry.category) {
    case AUDIT_CATEGORIES.pack:
      return rowOf("pack", readPackAudit(parsed));
    case AUDIT_CATEGORIES.pipeline:
      return rowOf("pipeline", readPipelineAudit(parsed));
    case AUDIT_CATEGORIES.tool:
      return rowOf("tool", readToolAudit(parsed));
    default:
      return undefined;
  }
}

/** The name of the pack, pipeline or tool. */
export function nameOfRun(audit: AuditRow): string {
  switch (audit.kind) {
    case "pack":
      return audit.row.pack;
    case "pipeline":
      return audit.row.pipeline;
    case "tool":
      return audit.row.tool;
  }
}

function rowOf<Kind extends AuditRow["kind"], Row>(kind: Kind, row: Row | undefined) {
  return row === undefined ? undefined : { kind, row };
}

function subjectOf(audit: AuditRow): { readonly category: AuditCategory; readonly name: string } {
  return { category: AUDIT_CATEGORIES[audit.kind], name: nameOfRun(audit) };
}
