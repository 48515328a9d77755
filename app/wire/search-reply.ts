/** Search hits as both command lines print them. OpenClaw requires another shape for its own searches. */
import { defined, rfc3339 } from "../../engine/index.ts";
import type { RecallHit } from "../../recall/index.ts";
import type { SearchAnswer } from "../memory.ts";
import { countsReply } from "./memory-replies.ts";
import { snakeCased } from "./snake-case.ts";
import { writerReply } from "./view-replies.ts";

export function searchReply({ results, mode, reason, incomplete, unmatched, leftOut }: SearchAnswer) {
  return {
    results: results.map(hitReply),
    mode,
    ...defined({ reason, incomplete }),
    ...(leftOut && { left_out: leftOut.map(({ parts, ...one }) => ({ ...one, parts: snakeCased(parts) })) }),
    ...(unmatched && { unmatched: countsReply(unmatched) }),
  };
}

function hitReply({ startLine, endLine, createdAt, updatedAt, expiresAt, writer, parts, ...hit }: RecallHit) {
  return {
    ...hit,
    start_line: startLine,
    end_line: endLine,
    created_at: rfc3339(createdAt),
    updated_at: rfc3339(updatedAt),
    ...(expiresAt !== undefined && { expires_at: rfc3339(expiresAt) }),
    ...(writer && { writer: writerReply(writer) }),
    ...(parts && { parts: snakeCased(parts) }),
  };
}
