/** Status and doctor's report as programs read them. */
import { defined } from "../../engine/index.ts";
import type { DoctorReport, MemoryStatus } from "../memory.ts";
import { snakeCased } from "./snake-case.ts";
import { expiringReply } from "./view-replies.ts";

/** `warnings`: what the host keeps from memory. */
export function statusReply(
  { databasePath, keySource, subject, engine, ...status }: MemoryStatus,
  warnings: readonly string[] = [],
) {
  return {
    ...status,
    database_path: databasePath,
    key_source: keySource,
    ...(engine && { engine: snakeCased({ ...engine }) }),
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

export function doctorReply({ findings, store }: DoctorReport) {
  return {
    findings,
    ...(store && { store: { ...snakeCased({ ...store }), settings: snakeCased(store.settings) } }),
  };
}
