/** Structural limits of entries and queries, the same for every back end. */
import { ANSWER_LIMITS, requireCount } from "../answer-limits.ts";
import { invalidField } from "../errors.ts";
import { type ChangesQuery, type ListQuery, type NewEntry, ORIGINS, type UnixMs } from "./memory-store.ts";
import { checkWriter } from "./writer.ts";

/** Wider than any policy above (facts allow far less); they keep a single entry from harming the store. Bytes are UTF-8. */
export const ENTRY_LIMITS = {
  namespaceBytes: 2_048,
  keyBytes: 2_048,
  categoryBytes: 256,
  tags: 64,
  tagBytes: 256,
  valueBytes: 16 * 1_024 * 1_024,
  conversationBytes: 256,
} as const;

const CHANGES = { least: 1, most: 10_000, byDefault: 1_000 } as const;

/** The latest time that a JavaScript Date can represent. */
const LAST_INSTANT: UnixMs = 8_640_000_000_000_000;

/** Checks that a store can keep this entry byte for byte. Throws `invalid_input`, naming the field and its limit. */
export function checkNewEntry(entry: NewEntry): void {
  checkText("namespace", entry.namespace, 1, ENTRY_LIMITS.namespaceBytes);
  checkText("key", entry.key, 1, ENTRY_LIMITS.keyBytes);
  checkText("category", entry.category, 0, ENTRY_LIMITS.categoryBytes);
  if (!ORIGINS.some((known) => known === entry.origin)) {
    throw invalidField("origin", `must be one of ${ORIGINS.join(", ")}`);
  }
  if (!Array.isArray(entry.tags) || entry.tags.length > ENTRY_LIMITS.tags) {
    throw invalidField("tags", `must be a list of at most ${ENTRY_LIMITS.tags}`);
  }
  for (const tag of entry.tags) checkText("tags", tag, 1, ENTRY_LIMITS.tagBytes);
  if (!(entry.value instanceof Uint8Array)) throw invalidField("value", "must be bytes");
  if (entry.value.byteLength > ENTRY_LIMITS.valueBytes) {
    throw invalidField(
      "value",
      `may have at most ${ENTRY_LIMITS.valueBytes} bytes, but has ${entry.value.byteLength}`,
    );
  }
  if (entry.writer !== undefined) checkWriter(entry.writer);
  if (entry.conversationId !== undefined)
    checkText("conversation_id", entry.conversationId, 1, ENTRY_LIMITS.conversationBytes);
  checkInstant("expiresAt", entry.expiresAt);
  checkInstant("createdAt", entry.createdAt);
  checkInstant("updatedAt", entry.updatedAt);
  const { namespace, origin, history = [] } = entry;
  for (const former of history) checkNewEntry({ namespace, origin, ...former });
}

/** The most entries of a page. */
export function listLimitOf(query: ListQuery): number {
  return requireCount("limit", query.limit, ANSWER_LIMITS.facts);
}

/** The most rows that one answer of the change feed reads. */
export function changesLimitOf(query: ChangesQuery): number {
  return requireCount("limit", query.limit, CHANGES);
}

/** Expired means now >= expiresAt. */
export function isExpired(expiresAt: UnixMs | undefined, now: UnixMs): boolean {
  return expiresAt !== undefined && now >= expiresAt;
}

function checkText(field: string, text: unknown, leastBytes: number, mostBytes: number): void {
  if (typeof text !== "string" || !text.isWellFormed()) {
    throw invalidField(field, "must be Unicode text without lone surrogates");
  }
  const bytes = Buffer.byteLength(text);
  if (bytes < leastBytes || bytes > mostBytes) {
    throw invalidField(field, `must have ${leastBytes} to ${mostBytes} bytes of UTF-8, but has ${bytes}`);
  }
}

function checkInstant(field: string, instant: number | undefined): void {
  if (instant === undefined) return;
  if (!Number.isInteger(instant) || instant < 0 || instant > LAST_INSTANT) {
    throw invalidField(field, `must be whole milliseconds since 1970, from 0 to ${LAST_INSTANT}`);
  }
}
