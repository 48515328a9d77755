/**
 * Finds who started a session whose key does not show it: follows its parents up to sessions whose keys do.
 *
 * Threat: somebody in a closed group makes the agent start a sub-agent, a scheduled job or another session, whose key looks
 * like any of the agent's own. So each recorded parent is judged by the same rules. A chain of parents that is broken,
 * circular, too long or leads to another agent is refused.
 */
import { type Evidence, type IdentityRules, judgeKey, type Refusal } from "./identity.ts";
import type { ReadRecord, SessionRecord } from "./session-record.ts";

/** OpenClaw nests sub-agents up to five levels. */
const MOST_RECORDS = 32;

export interface Lineage {
  readonly agentId: string;
  readonly rules: IdentityRules;
  readonly readRecord: ReadRecord;
  /** Whether the host would confine a run in this session. */
  readonly isSandboxed: (sessionKey: string) => boolean;
}

/** Why the session's origin closes memory to it, or undefined. Rejects if the host cannot be asked. */
export async function refusalByOrigin(
  session: string,
  evidence: Evidence,
  lineage: Lineage,
): Promise<Refusal | undefined> {
  let recordsLeft = MOST_RECORDS;

  async function judge(sessionKey: string, line: readonly string[]): Promise<Refusal | undefined> {
    if (line.includes(sessionKey)) return "unknown_origin";
    const key = judgeKey(sessionKey, lineage.agentId, lineage.rules);
    if (!key.ok) return key.reason;
    if (lineage.isSandboxed(sessionKey) && !lineage.rules.allow.has("sandboxed")) return "sandboxed";
    return judgeRecord(sessionKey, key.evidence, line);
  }

  async function judgeRecord(
    sessionKey: string,
    wanted: Evidence,
    line: readonly string[],
  ): Promise<Refusal | undefined> {
    if (wanted === "key") return undefined;
    recordsLeft -= 1;
    if (recordsLeft < 0) return "unknown_origin";
    const record = await lineage.readRecord(sessionKey);
    const refusal = refusalByRecord(record, wanted, lineage.rules);
    if (refusal !== undefined) return refusal;
    for (const parent of record?.parents ?? []) {
      const inherited = await judge(parent, [...line, sessionKey]);
      if (inherited !== undefined) return inherited;
    }
    return undefined;
  }

  return judgeRecord(session, evidence, []);
}

function refusalByRecord(
  record: SessionRecord | undefined,
  wanted: Evidence,
  { allow }: IdentityRules,
): Refusal | undefined {
  if (record === undefined) return wanted === "record" ? "unknown_origin" : undefined;
  if (record.isShared && !allow.has("groups")) return "groups";
  if (record.isFromHook && !allow.has("hooks")) return "hooks";
  if (record.isSandboxed && !allow.has("sandboxed")) return "sandboxed";
  const isKnown = record.isOperators || record.isFromHook || record.parents.length > 0;
  return isKnown || (wanted === "record_if_any" && !record.isScheduled) ? undefined : "unknown_origin";
}
