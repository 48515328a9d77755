/** Converts helmdeck's rows to entries: facts, runs and notes, under the same rules as every import. */
import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import {
  AUDIT_TTL_SECONDS,
  auditEntry,
  checkAuditRow,
  parseAuditEntry,
  requireUnixNs,
} from "../../../../engine/audit/audit-entries.ts";
import { normalForm } from "../../../../engine/compare-text.ts";
import { HelmdeckError, invalidField } from "../../../../engine/errors.ts";
import {
  FACT_LIMITS,
  factEntry,
  isCategory,
  isReservedCategory,
  refuseLong,
  validateFact,
} from "../../../../engine/facts/facts-policy.ts";
import { harmlessLine } from "../../../../engine/facts/hostile-text.ts";
import { isImportTag } from "../../../../engine/facts/import-tag.ts";
import type { NewEntry, UnixMs } from "../../../../engine/store/memory-store.ts";
import type { Namespace } from "../../../../engine/store/namespace.ts";
import { requireTime } from "../../line-parts.ts";
import { MOST_NOTE_TAGS, type ReadContext } from "../format.ts";
import type { Kind, Row } from "./rows.ts";

const CLOCK_SKEW_MS = 3_600 * 1_000;
const MOST_CATEGORY_CHARACTERS = 64;
/** More of a text makes no other category, and too much of it is more than a regular expression can take. */
const MOST_READ_CHARACTERS = 10_000;

export interface OpenedRow {
  readonly row: Row;
  readonly value: Buffer;
  readonly namespace: Namespace;
  readonly kind: Exclude<Kind, "plan" | "cache">;
}

/** The row's expiry; undefined for never. Throws `invalid_input`. */
export function endOf({ expires_at }: Row): UnixMs | undefined {
  return expires_at === null ? undefined : requireTime("expires_at", expires_at);
}

/** Throws `invalid_input`, naming the field, for a row beyond our limits. */
export function entryOf(opened: OpenedRow, context: ReadContext): NewEntry {
  switch (opened.kind) {
    case "fact":
      return factOf(opened, context);
    case "note":
      return noteOf(opened, context);
    default:
      return runOf(opened, opened.kind, context);
  }
}

function factOf({ row, value, namespace }: OpenedRow, context: ReadContext): NewEntry {
  const { key } = row;
  const { category, tag } = categoryOf(row.category.trim());
  const tags = tagsOf(row.tags_json, tag);
  const fact = validateFact({ key, value: textOf(value), category, tags, ttlSeconds: context.ttlSeconds });
  const { defaultTtlSeconds = FACT_LIMITS.defaultTtlSeconds } = context;
  const { ttlSeconds = defaultTtlSeconds } = fact;
  return factEntry(namespace, fact, timesOf(row, context, ttlSeconds, FACT_LIMITS.mostTtlSeconds));
}

/** Like notes of swe.solve here: the caller's own, so that the next run finds them. */
function noteOf({ row, value, namespace }: OpenedRow, context: ReadContext): NewEntry {
  refuseLong("value", textOf(value), FACT_LIMITS.valueBytes, "it is too long for a note");
  const times = timesOf(row, context, AUDIT_TTL_SECONDS, FACT_LIMITS.mostTtlSeconds);
  return { namespace, origin: "pack", key: row.key, value, category: row.category, tags: [], ...times };
}

function runOf(
  { row, value, namespace }: OpenedRow,
  kind: "pack" | "pipeline",
  context: ReadContext,
): NewEntry {
  const audit = parseAuditEntry({ category: row.category, value }) ?? checkAuditRow(kind, jsonOf(value));
  if (audit.row.at_unix * 1_000 > context.now + CLOCK_SKEW_MS)
    throw invalidField("at_unix", "is in the future");
  const times = timesOf(row, context, AUDIT_TTL_SECONDS, AUDIT_TTL_SECONDS);
  const named = auditEntry(namespace, audit, context.now, times);
  const nanosecond = /\/(\d{20})$/.exec(row.key)?.[1];
  if (nanosecond === undefined) return named;
  const key = named.key.replace(/\d{20}$/, nanosecond);
  return auditEntry(namespace, audit, context.now, { ...times, unixNs: requireUnixNs(key, audit) });
}

/** The row's times; missing and future ones count as now. */
function timesOf(
  row: Row,
  { now }: ReadContext,
  usualSeconds: number,
  mostSeconds: number,
): Required<Pick<NewEntry, "expiresAt" | "createdAt" | "updatedAt">> {
  const updatedAt = Math.min(requireTime("updated_at", row.updated_at), now);
  const createdAt = Math.min(requireTime("created_at", row.created_at), updatedAt);
  const end = endOf(row) ?? now + usualSeconds * 1_000;
  return { createdAt, updatedAt, expiresAt: Math.min(end, now + mostSeconds * 1_000) };
}

/** helmdeck's categories are free text. An invalid one becomes a similar valid one, with the text itself as a tag. */
export function categoryOf(given: string): { readonly category: string; readonly tag?: string } {
  if (given === "" || (isCategory(given) && !isReservedCategory(given))) return { category: given };
  const tag = cutBytes(harmlessLine(given), FACT_LIMITS.tagBytes).trim();
  return { category: likeCategory(given), tag };
}

function likeCategory(given: string): string {
  const slug = normalForm(given.slice(0, MOST_READ_CHARACTERS), "NFKD")
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase()
    .replaceAll(/[^a-z0-9_.-]+/g, "-")
    .replaceAll(/^[^a-z0-9]+|-+$/g, "")
    .slice(0, MOST_CATEGORY_CHARACTERS);
  if (isReservedCategory(slug)) return `${slug}-facts`;
  return slug === "" ? `category-${createHash("sha256").update(given).digest("hex").slice(0, 8)}` : slug;
}

/** Drops empty and duplicate tags, and tags that only an import may set. */
function tagsOf(json: string, tag: string | undefined): readonly string[] {
  const given = jsonOf(Buffer.from(json));
  const texts = Array.isArray(given) ? given.filter((one) => typeof one === "string") : [];
  const trimmed = [...texts, tag ?? ""].map((text) => text.trim());
  const tags = [...new Set(trimmed)].filter((text) => text !== "" && !isImportTag(text));
  if (tags.length <= MOST_NOTE_TAGS) return tags;
  throw invalidField(
    "tags",
    `may be at most ${MOST_NOTE_TAGS} besides the import's own, but there are ${tags.length}`,
  );
}

function textOf(value: Buffer): string {
  if (isUtf8(value)) return value.toString();
  throw invalidField("value", "is not valid text");
}

function jsonOf(value: Buffer): unknown {
  try {
    return JSON.parse(value.toString());
  } catch {
    throw new HelmdeckError("invalid_input", "It is not JSON as written by helmdeck.");
  }
}

function cutBytes(text: string, most: number): string {
  let cut = text.slice(0, most);
  while (Buffer.byteLength(cut) > most) cut = cut.slice(0, -1);
  return cut.toWellFormed();
}
