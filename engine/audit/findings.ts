/**
 * Extracts findings from a run's output. Checkers put them under `findings`, or under `findings`, `issues`, `errors` and
 * `warnings` of `lint`, `inspect` and `validate`.
 */
import { defined } from "../defined.ts";
import type { AuditFinding } from "./audit-rows.ts";
import { AUDIT_LIMITS, finding } from "./check-audit-row.ts";

const CHECKERS = ["lint", "inspect", "validate"];
const LISTS = ["findings", "issues", "errors", "warnings"];

/** Keeps code, severity and file only. Leaves out malformed findings and everything beyond 50. */
export function findingsOf(output: unknown): readonly AuditFinding[] {
  const listed = [
    ...listIn(output, "findings"),
    ...CHECKERS.flatMap((checker) => LISTS.flatMap((list) => listIn(memberOf(output, checker), list))),
  ];
  const wellFormed = listed.flatMap((entry) => finding.safeParse(plainFinding(entry)).data ?? []);
  return wellFormed.slice(0, AUDIT_LIMITS.findings);
}

/** Some checkers write `level` for severity, some write neither. A file without a name is dropped. */
function plainFinding(entry: unknown): unknown {
  const severity = memberOf(entry, "severity") || memberOf(entry, "level") || "";
  const file = memberOf(entry, "file") || undefined;
  return { code: memberOf(entry, "code"), severity, ...defined({ file }) };
}

function listIn(value: unknown, name: string): readonly unknown[] {
  const list = memberOf(value, name);
  return Array.isArray(list) ? list : [];
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  return Reflect.get(value, name);
}
