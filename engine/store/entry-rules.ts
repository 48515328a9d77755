/** The structural bounds that every store holds writers and readers to, the same for each back-end. */
import { ANSWER_LIMITS, requireCount } from "../answer-limits.ts";
import { invalidField } from "../errors.ts";
import type { ChangesQuery, ListQuery, NewEntry, UnixMs } from "./memory-store.ts";
import { ORIGINS } from "./memory-store.ts";
import { checkWriter } from "./writer.ts";

/** Wider than any policy above (facts allow far less): these keep one entry from hurting the store. Bytes are UTF-8. */
export const ENTRY_LIMITS = {
  namespaceBytes: 2_048,
  keyBytes: 2_048,
  categoryBytes: 256,
  tags: 64,
  tagBytes: 256,
  valueBytes: 16 * 1_024 * 1_024,
} as const;

const CHANGES = { least: 1, most: 10_000, byDefault: 1_000 } as const;

/** The last instant a JavaScript date can show; later ones could not be printed. */
const LAST_INSTANT: UnixMs = 8_640_000_000_000_000;

/** Throws `invalid_input`, naming the field and its limit, unless a store can keep this entry byte for byte. */
export function checkNewEntry(entry: NewEntry): void {
  checkText("namespace", entry.namespace, 1, ENTRY_LIMITS.namespaceBytes);
  checkText("key", entry.key, 1, ENTRY_LIMITS.keyBytes);
  checkText("category", entry.category, 0, ENTRY_LIMITS.categoryBytes);
  checkOrigin(entry.origin);
  checkTags(entry.tags);
  checkValue(entry.value);
  if (entry.writer !== undefined) checkWriter(entry.writer);
  checkInstant("expiresAt", entry.expiresAt);
  checkInstant("createdAt", entry.createdAt);
  checkInstant("updatedAt", entry.updatedAt);
  const { namespace, origin, history = [] } = entry;
  for (const former of history) checkNewEntry({ namespace, origin, ...former });
}

/** How many entries a page may hold. */
export function listLimitOf(query: ListQuery): number {
  return requireCount("limit", query.limit, ANSWER_LIMITS.facts);
}

/** How many rows one answer of the change feed may read. */
export function changesLimitOf(query: ChangesQuery): number {
  return requireCount("limit", query.limit, CHANGES);
}

/** Expired means now >= expiresAt: the instant itself is already too late. */
export function isExpired(expiresAt: UnixMs | undefined, now: UnixMs): boolean {
  return expiresAt !== undefined && now >= expiresAt;
}

function checkText(field: string, text: unknown, leastBytes: number, mostBytes: number): void {
  if (typeof text !== "string" || !text.isWellFormed()) {
    throw invalidField(field, "must be Unicode text without lone surrogates");
  }
  const bytes = Buffer.byteLength(text);
  if (bytes < leastBytes || bytes > mostBytes) {
    throw invalidField(field, `must have ${leastBytes} to ${mostBytes} bytes of UTF-8, and has ${bytes}`);
  }
}

function checkOrigin(origin: unknown): void {
  if (!ORIGINS.some((known) => known === origin)) {
    throw invalidField("origin", `must be one of ${ORIGINS.join(", ")}`);
  }
}

function checkTags(tags: unknown): void {
  if (!Array.isArray(tags) || tags.length > ENTRY_LIMITS.tags) {
    throw invalidField("tags", `must be a list of at most ${ENTRY_LIMITS.tags}`);
  }
  for (const tag of tags) checkText("tags", tag, 1, ENTRY_LIMITS.tagBytes);
}

function checkValue(value: unknown): void {
  if (!(value instanceof Uint8Array)) throw invalidField("value", "must be bytes");
  if (value.byteLength > ENTRY_LIMITS.valueBytes) {
    throw invalidField("value", `may have ${ENTRY_LIMITS.valueBytes} bytes, and has ${value.byteLength}`);
  }
}

function checkInstant(field: string, instant: number | undefined): void {
  if (instant === undefined) return;
  if (!Number.isInteger(instant) || instant < 0 || instant > LAST_INSTANT) {
    throw invalidField(field, `must be whole milliseconds since 1970, from 0 to ${LAST_INSTANT}`);
  }
}
