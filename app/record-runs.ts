/** Records runs of packs and pipelines, and calls of any tool, as audit rows. */

import { auditEntry, checkAuditRow } from "../engine/audit/audit-entries.ts";
import type { PackAudit, PipelineAudit, ToolAudit } from "../engine/audit/audit-rows.ts";
import { AUDIT_LIMITS } from "../engine/audit/check-audit-row.ts";
import { defined } from "../engine/defined.ts";
import { kindOfSecret } from "../engine/facts/secrets.ts";
import type { Namespace } from "../engine/store/namespace.ts";
import type { Writer } from "../engine/store/writer.ts";
import type { UseCaseContext } from "./use-case-context.ts";

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
