/**
 * Parses one line of an export strictly: a fact or an audit row.
 *
 * The file may come from anywhere. Facts must satisfy the facts policy; audit rows are validated field by field. A line with an
 * unknown field, two expiries, a future time or a wrong fingerprint is refused.
 */
import * as z from "zod/mini";
import {
  AUDIT_TTL_SECONDS,
  type AuditRow,
  auditEntry,
  checkAuditRow,
  requireUnixNs,
} from "../../engine/audit/audit-entries.ts";
import { defined } from "../../engine/defined.ts";
import { HelmdeckError, invalidField } from "../../engine/errors.ts";
import { FACT_LIMITS, factEntry, validateFact } from "../../engine/facts/facts-policy.ts";
import { harmlessLine } from "../../engine/facts/hostile-text.ts";
import { endAfter } from "../../engine/facts/renewal.ts";
import { pathOf } from "../../engine/projections/paths.ts";
import { isToCome } from "../../engine/rfc3339.ts";
import type { NewEntry, UnixMs } from "../../engine/store/memory-store.ts";
import type { Namespace } from "../../engine/store/namespace.ts";
import type { FactView } from "../memory.ts";
import type { ToWire } from "../wire/codec.ts";
import { problemOfJson } from "../wire/strict-json.ts";
import { formerLine, readFormerLine } from "./history-lines.ts";
import { endingLine, requireFingerprint, requireTime, writerFrom, writerLine } from "./line-parts.ts";

export interface LineContext {
  readonly namespace: Namespace;
  readonly now: UnixMs;
  /** The lifetime of a line without one; absent: the default. */
  readonly ttlSeconds?: number;
  readonly defaultTtlSeconds?: number;
}

/** Tolerates different clocks of the exporting and importing machines. */
const CLOCK_SKEW_MS = 3_600 * 1_000;

const times = {
  created_at: z.exactOptional(z.string()),
  updated_at: z.exactOptional(z.string()),
  expires_at: z.exactOptional(z.string()),
  fingerprint: z.exactOptional(z.string()),
  writer: z.exactOptional(writerLine),
};

/** Every field of a fact; the facts policy validates most. */
const factLine = z.strictObject({
  key: z.exactOptional(z.unknown()),
  value: z.exactOptional(z.unknown()),
  category: z.exactOptional(z.unknown()),
  tags: z.exactOptional(z.unknown()),
  ttl_seconds: z.exactOptional(z.unknown()),
  conversation_id: z.exactOptional(z.unknown()),
  /** Derived from the other fields; lines of 0.1 have none. */
  path: z.exactOptional(z.string()),
  /** Of the store that it comes from. */
  revision: z.exactOptional(z.int()),
  /** Not imported. */
  pinned: z.exactOptional(z.literal(true)),
  /** Of its expiry. */
  ending: z.exactOptional(endingLine),
  /** Present when the export included it. */
  history: z.exactOptional(z.array(formerLine)),
  ...times,
} satisfies Record<string, unknown> & Record<keyof ToWire<FactView>, unknown>);

/** The audit row's own fields follow. */
const auditLine = z.looseObject({
  audit: z.enum(["pack", "pipeline", "tool"]),
  key: z.exactOptional(z.string()),
  ...times,
});

/** The entry of a line. Throws `invalid_input` with the field and the rule, never with a value. */
export function readEntry(line: string, context: LineContext): NewEntry {
  const parsed = parseJson(line);
  return "audit" in parsed ? auditFrom(parsed, context) : factFrom(parsed, context);
}

function factFrom(parsed: object, context: LineContext): NewEntry {
  const { namespace, now } = context;
  const line = requireShape(factLine.safeParse(parsed));
  const { ttl_seconds: ttlSeconds, expires_at, ending, fingerprint, path, writer, history, ...given } = line;
  const { conversation_id: conversationId } = line;
  const fact = validateFact({ ...given, conversationId, ttlSeconds: ttlSeconds ?? context.ttlSeconds });
  if (path !== undefined && path !== pathOf(fact.category, fact.key))
    throw invalidField("path", "does not match key and category; leave it out");
  if (expires_at !== undefined && ttlSeconds !== undefined)
    throw invalidField("ttl_seconds", "and expires_at cannot be combined; give one of them");
  const end =
    expires_at === undefined
      ? endAfter(fact.ttlSeconds, context)
      : { expiresAt: requireExpiry(expires_at, now, FACT_LIMITS.mostTtlSeconds), ...defined({ ending }) };
  const times = { ...writeTimes(given, now), ...end };
  const former = history?.map((one) => readFormerLine(one, (field, time) => requirePast(field, time, now)));
  const entry = {
    ...factEntry(namespace, fact, times),
    ...writerFrom(writer),
    ...defined({ history: former }),
  };
  requireFingerprint("fingerprint", fingerprint, entry.value);
  return entry;
}

function auditFrom(parsed: object, { namespace, now }: LineContext): NewEntry {
  const line = requireShape(auditLine.safeParse(parsed));
  const { audit: kind, key, created_at, updated_at, expires_at, fingerprint, writer, ...row } = line;
  const audit = checkAuditRow(kind, row);
  const ranAt = requirePast("at_unix", audit.row.at_unix * 1_000, now);
  const given = {
    ...defined({ created_at, updated_at }),
  };
  const recorded = auditEntry(namespace, audit, now, {
    createdAt: ranAt,
    updatedAt: ranAt,
    ...writeTimes(given, now),
    ...unixNsOf(key, audit),
    ...(expires_at !== undefined && { expiresAt: requireExpiry(expires_at, now, AUDIT_TTL_SECONDS) }),
  });
  const entry = { ...recorded, ...writerFrom(writer) };
  requireFingerprint("fingerprint", fingerprint, entry.value);
  return entry;
}

function unixNsOf(key: string | undefined, audit: AuditRow): { readonly unixNs?: bigint } {
  return key === undefined ? {} : { unixNs: requireUnixNs(key, audit) };
}

/** The creation time is also the time of the update, unless the line has one. */
function writeTimes(
  line: { readonly created_at?: string; readonly updated_at?: string },
  now: UnixMs,
): Pick<NewEntry, "createdAt" | "updatedAt"> {
  if (line.created_at === undefined) return {};
  const createdAt = requirePast("created_at", requireTime("created_at", line.created_at), now);
  const updatedAt =
    line.updated_at === undefined
      ? createdAt
      : requirePast("updated_at", requireTime("updated_at", line.updated_at), now);
  if (updatedAt < createdAt) throw invalidField("updated_at", "is before created_at");
  return { createdAt, updatedAt };
}

function requirePast(field: string, time: UnixMs, now: UnixMs): UnixMs {
  if (isToCome(time, now + CLOCK_SKEW_MS)) throw invalidField(field, "is in the future");
  return time;
}

function requireExpiry(text: string, now: UnixMs, mostSeconds: number): UnixMs {
  const expiresAt = requireTime("expires_at", text);
  if (expiresAt <= now) throw invalidField("expires_at", "is in the past: this line has expired");
  if (expiresAt > now + mostSeconds * 1_000 + CLOCK_SKEW_MS) {
    throw invalidField("expires_at", `is more than ${mostSeconds / 86_400} days ahead`);
  }
  return expiresAt;
}

function parseJson(line: string): object {
  let parsed: unknown;
  try {
    parsed = JSON.parse(line);
  } catch {
    throw new HelmdeckError("invalid_input", "This is not JSON: each line must be one JSON object.");
  }
  const problem = problemOfJson(line);
  if (problem !== undefined) throw invalidField("line", problem, { named: "The line" });
  if (typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)) return parsed;
  throw new HelmdeckError("invalid_input", "This is JSON, but not an object with key and value.");
}

function requireShape<Line>(result: z.core.util.SafeParseResult<Line>): Line {
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  if (issue?.code === "unrecognized_keys") {
    throw invalidField(harmlessLine(issue.keys[0] ?? "").slice(0, 60), "is not a known field; leave it out");
  }
  const field = String(issue?.path[0] ?? "line");
  throw invalidField(field, field === "audit" ? 'must be "pack", "pipeline" or "tool"' : "must be a string");
}
