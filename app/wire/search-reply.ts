/** The hits of a search as both command lines print them. OpenClaw prescribes another shape for those that it asks for. */
import { defined } from "../../engine/index.ts";
import type { RecallHit } from "../../recall/index.ts";
import type { SearchAnswer } from "../memory.ts";
import { rfc3339 } from "./rfc3339.ts";
import { snakeCased } from "./snake-case.ts";

export function searchReply({ results, mode, reason, incomplete, unmatched }: SearchAnswer) {
  return {
    results: results.map(hitReply),
    mode,
    ...defined({ reason, incomplete }),
    ...(unmatched && { unmatched: { facts: unmatched.facts, audit_rows: unmatched.auditRows } }),
  };
}

function hitReply({ startLine, endLine, updatedAt, parts, ...hit }: RecallHit) {
  return {
    ...hit,
    start_line: startLine,
    end_line: endLine,
    updated_at: rfc3339(updatedAt),
    ...(parts && { parts: snakeCased(parts) }),
  };
}
