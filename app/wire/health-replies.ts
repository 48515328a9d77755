/** Status and doctor's report in machine-readable form. */
import { defined, rfc3339 } from "../../engine/index.ts";
import type { DoctorReport, EngineStatus, MemoryStatus } from "../memory.ts";
import { snakeCased } from "./snake-case.ts";
import { expiringReply } from "./view-replies.ts";

/** `warnings`: problems with the host. */
export function statusReply(
  { databasePath, keySource, readOnly, subject, engine, ...status }: MemoryStatus,
  warnings: readonly string[] = [],
) {
  return {
    ...status,
    database_path: databasePath,
    key_source: keySource,
    ...defined({ read_only: readOnly }),
    ...(engine && { engine: engineReply(engine) }),
    ...(subject && {
      subject: {
        name: subject.name,
        facts: subject.facts,
        audit_rows: subject.auditRows,
        ...(subject.expiring && { expiring: expiringReply(subject.expiring) }),
      },
    }),
    ...defined({ warnings: warnings.length > 0 ? warnings : undefined }),
  };
}

function engineReply({ held, ...engine }: EngineStatus) {
  if (held === undefined) return snakeCased({ ...engine });
  const { readAt, ...counts } = held;
  return { ...snakeCased({ ...engine }), held: { ...snakeCased({ ...counts }), read_at: rfc3339(readAt) } };
}

export function doctorReply({ findings, store }: DoctorReport) {
  return {
    findings,
    ...(store && { store: { ...snakeCased({ ...store }), settings: snakeCased(store.settings) } }),
  };
}
