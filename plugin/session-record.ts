/**
 * Reads from OpenClaw's records who started a session: its parent sessions, who else writes there, and for a scheduled run
 * who set up the job. Read again for each call, because a binding, a job or a sandbox can change at any time.
 */
import { parseAgentSessionKey } from "openclaw/plugin-sdk/routing";
import { HelmdeckError } from "../engine/errors.ts";
import type { HostApi } from "./openclaw-api.ts";
import { scheduledJobs } from "./scheduler.ts";
import { fieldOf, isRecord } from "./unchecked.ts";

export interface SessionRecord {
  /** Sessions that started it, or that it reports to. */
  readonly parents: readonly string[];
  /** Set up by the operator, not by an agent in some session. */
  readonly isOperators: boolean;
  /** Started by the scheduler, so a parent or the operator must be known. */
  readonly isScheduled: boolean;
  /** A group or channel writes there. */
  readonly isShared: boolean;
  /** A web hook wrote there. */
  readonly isFromHook: boolean;
  readonly isSandboxed: boolean;
}

/** Undefined if the host has no record of the session; rejects if it cannot be asked. */
export type ReadRecord = (sessionKey: string) => Promise<SessionRecord | undefined>;

type Entry = Readonly<Record<string, unknown>>;
type GetEntry = (params: {
  readonly agentId: string;
  readonly sessionKey: string;
  readonly readConsistency: "latest";
}) => unknown;

export function recordReader(api: Pick<HostApi, "runtime">): ReadRecord {
  return async (sessionKey) => {
    const getEntry = entryGetter(api);
    if (getEntry === undefined) throw new HelmdeckError("internal", WITHOUT_RECORDS);
    const key = parseAgentSessionKey(sessionKey);
    if (key === null) return undefined;
    const { agentId, rest } = key;
    const parts = rest.split(":");
    const entries = await entriesOf(getEntry, agentId, sessionKey, parts);
    return entries.length === 0 ? undefined : recordFrom(entries, sessionKey, parts);
  };
}

const WITHOUT_RECORDS = "This OpenClaw does not tell plugins where a session comes from.";

/** Whether this host has `getSessionEntry`. */
export function tellsOrigins(api: Pick<HostApi, "runtime">): boolean {
  return entryGetter(api) !== undefined;
}

function entryGetter(api: Pick<HostApi, "runtime">): GetEntry | undefined {
  try {
    const session = fieldOf(fieldOf(api.runtime, "agent"), "session");
    const getEntry = fieldOf(session, "getSessionEntry");
    // The result is checked field by field.
    return typeof getEntry === "function" ? (params) => getEntry.call(session, params) : undefined;
  } catch {
    return undefined; // the runtime throws if only metadata is loaded
  }
}

/** The entries of the session and of the run it is part of (`subagent:<id>` for `subagent:<id>:thread:1`). */
async function entriesOf(
  getEntry: GetEntry,
  agentId: string,
  sessionKey: string,
  parts: readonly string[],
): Promise<readonly Entry[]> {
  const keys = new Set([sessionKey, ["agent", agentId, ...parts.slice(0, 2)].join(":")]);
  const entries = [...keys].map((key) => getEntry({ agentId, sessionKey: key, readConsistency: "latest" }));
  return (await Promise.all(entries)).filter(isRecord);
}

async function recordFrom(
  entries: readonly Entry[],
  sessionKey: string,
  parts: readonly string[],
): Promise<SessionRecord> {
  const isScheduled =
    parts[0]?.toLowerCase() === "cron" || entries.some(({ createdVia }) => createdVia === "cron");
  const isFromHook = entries.some(({ hookExternalContentSource }) => hookExternalContentSource !== undefined);
  // A hook's run has a key like a scheduled run, but no job.
  const creator = isScheduled && !isFromHook ? await creatorOf(entries, sessionKey, parts) : NOBODY;
  const parents = entries.flatMap((entry) => [
    entry.spawnedBy,
    entry.parentSessionKey,
    entry.completionOwnerSessionKey,
  ]);
  return {
    parents: texts([...parents, ...creator.sessions]),
    isOperators: creator.isOperator,
    isScheduled,
    // A group that receives a scheduled run's report did not set it up: the job's creator counts.
    isShared: !isScheduled && entries.some(isSharedEntry),
    isFromHook,
    isSandboxed: entries.some(({ sandbox }) => sandbox === "required"),
  };
}

interface Creator {
  readonly isOperator: boolean;
  readonly sessions: readonly unknown[];
}

const NOBODY: Creator = { isOperator: false, sessions: [] };

/** Who set up the job: from the host's record of the run, else from the job. */
async function creatorOf(
  entries: readonly Entry[],
  sessionKey: string,
  parts: readonly string[],
): Promise<Creator> {
  const policies = entries.map((entry) => fieldOf(entry.cronRunContinuation, "scheduledToolPolicy"));
  const stamped = policies.find(isRecord);
  if (stamped !== undefined) return creatorByPolicy(stamped);
  const jobs = ((await scheduledJobs()) ?? [])
    .filter((job) => isJobOf(job, sessionKey, parts))
    .map(creatorByJob);
  return {
    isOperator: jobs.length > 0 && jobs.every(({ isOperator }) => isOperator),
    sessions: jobs.some(isUnknown) ? [] : jobs.flatMap(({ sessions }) => sessions),
  };
}

/** `cron:<job>…`, or a job that names its own session (`session:<name>`). */
function isJobOf(job: unknown, sessionKey: string, parts: readonly string[]): boolean {
  const [first, id] = parts;
  if (first?.toLowerCase() === "cron") return fieldOf(job, "id") === id;
  const target = fieldOf(job, "sessionTarget");
  return target === `session:${parts.join(":")}` || target === `session:${sessionKey}`;
}

function creatorByPolicy(policy: unknown): Creator {
  return {
    isOperator: fieldOf(policy, "mode") === "trusted",
    sessions: [fieldOf(policy, "ownerSessionKey")],
  };
}

function creatorByJob(job: unknown): Creator {
  const sessions = texts([fieldOf(fieldOf(job, "owner"), "sessionKey"), fieldOf(job, "sessionKey")]);
  const { isOperator } = creatorByPolicy(fieldOf(job, "scheduledToolPolicy"));
  return { isOperator: isOperator && sessions.length === 0, sessions };
}

function isUnknown({ isOperator, sessions }: Creator): boolean {
  return !isOperator && sessions.length === 0;
}

function isSharedEntry({ chatType, groupId }: Entry): boolean {
  return chatType === "group" || chatType === "channel" || (groupId ?? "") !== "";
}

function texts(values: readonly unknown[]): readonly string[] {
  return [...new Set(values.flatMap((value) => (typeof value === "string" && value !== "" ? [value] : [])))];
}
