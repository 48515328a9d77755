/** Records runs of packs and pipelines, and calls of any tool, as audit rows. */
import {
  AUDIT_LIMITS,
  auditEntry,
  checkAuditRow,
  defined,
  kindOfSecret,
  type Namespace,
  type PackAudit,
  type PipelineAudit,
  type ToolAudit,
  type Writer,
} from "../engine/index.ts";
import type { UseCaseContext } from "./use-case-context.ts";

/** Throws `invalid_input` when the row is malformed; omits findings beyond 50. */
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

/** Like {@link recordPackRun}. */
export async function recordPipelineRun(
  context: UseCaseContext,
  namespace: Namespace,
  row: PipelineAudit,
  writer?: Writer,
): Promise<void> {
  await record(context, namespace, { kind: "pipeline", row, writer });
}

/** Like {@link recordPackRun}. Omits inputs that look like credentials. */
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
