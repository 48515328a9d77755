/** Validates the header fields of a hit or document. */

import { defined } from "../engine/defined.ts";
import { isCategory } from "../engine/facts/facts-policy.ts";
import { DOCUMENT_KINDS } from "../engine/projections/corpus.ts";
import type { Framed } from "../engine/projections/frame.ts";
import type { Writer } from "../engine/store/writer.ts";
import { fieldsOf, isRecord } from "./unchecked.ts";

/** Longer than any key. */
const KEY_MAX_CHARS = 2_048;
/** The end of the year 9999, the last that RFC 3339 can express. */
const MOST_UNIX_MS = Date.UTC(10_000, 0) - 1;

/** Undefined if any field is malformed. */
export function framedOf(given: unknown): Framed | undefined {
  const { kind, key, category, createdAt, updatedAt, writer } = fieldsOf(given);
  if (!isKind(kind) || !isText(key) || key.length > KEY_MAX_CHARS) return undefined;
  if (!isText(category) || !isCategory(category)) return undefined;
  if (!isInstant(createdAt) || !isInstant(updatedAt)) return undefined;
  return { kind, key, category, createdAt, updatedAt, ...defined({ writer: writerFrom(writer) }) };
}

function writerFrom(given: unknown): Writer | undefined {
  if (!isRecord(given) || !isText(given.surface)) return undefined;
  const { surface, agent, sessionKind } = given;
  return {
    surface,
    ...(isText(agent) && { agent }),
    ...(isText(sessionKind) && { sessionKind }),
  };
}

function isKind(given: unknown): given is Framed["kind"] {
  return DOCUMENT_KINDS.some((kind) => kind === given);
}

function isText(given: unknown): given is string {
  return typeof given === "string" && given !== "";
}

function isInstant(given: unknown): given is number {
  return typeof given === "number" && given >= 0 && given <= MOST_UNIX_MS;
}
