/** Recording runs of packs and pipelines as audit rows. */
import {
  AUDIT_LIMITS,
  auditEntry,
  checkAuditRow,
  defined,
  type Namespace,
  type PackAudit,
  type PipelineAudit,
  type Writer,
} from "../engine/index.ts";
import type { UseCaseContext } from "./use-case-context.ts";

/** Throws `invalid_input` when the row is not well formed; findings beyond 50 are left out. */
export async function recordPackRun(
  context: UseCaseContext,
  namespace: Namespace,
  row: PackAudit,
  writer?: Writer,
): Promise<void> {
  const findings: unknown = row?.findings;
  const kept = Array.isArray(findings) ? { findings: findings.slice(0, AUDIT_LIMITS.findings) } : {};
  await record(context, namespace, { kind: "pack", row: { ...row, ...kept }, writer });
}

/** As {@link recordPackRun}. */
export async function recordPipelineRun(
  context: UseCaseContext,
  namespace: Namespace,
  row: PipelineAudit,
  writer?: Writer,
): Promise<void> {
  await record(context, namespace, { kind: "pipeline", row, writer });
}

interface RunToRecord {
  readonly kind: "pack" | "pipeline";
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
