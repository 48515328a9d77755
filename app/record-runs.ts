/** Recording runs of packs and pipelines as audit rows. */
import {
  AUDIT_LIMITS,
  auditEntry,
  checkAuditRow,
  type Namespace,
  type PackAudit,
  type PipelineAudit,
} from "../engine/index.ts";
import type { UseCaseContext } from "./use-case-context.ts";

/** Throws `invalid_input` when the row is not well formed; findings beyond 50 are left out. */
export async function recordPackRun(
  context: UseCaseContext,
  namespace: Namespace,
  row: PackAudit,
): Promise<void> {
  const findings: unknown = row?.findings;
  const kept = Array.isArray(findings) ? { findings: findings.slice(0, AUDIT_LIMITS.findings) } : {};
  await record(context, namespace, "pack", { ...row, ...kept });
}

/** As {@link recordPackRun}. */
export async function recordPipelineRun(
  context: UseCaseContext,
  namespace: Namespace,
  row: PipelineAudit,
): Promise<void> {
  await record(context, namespace, "pipeline", row);
}

async function record(
  context: UseCaseContext,
  namespace: Namespace,
  kind: "pack" | "pipeline",
  row: unknown,
): Promise<void> {
  const audit = checkAuditRow(kind, row);
  const unixNs = context.runClock.next(audit.row.at_unix);
  await context.store.put(auditEntry(namespace, audit, context.now(), { unixNs }));
}
