/**
 * Reads one virtual document: a fact, a run, or the summary.
 *
 * The path comes from a model. Another subject's entries, entries outside of the corpus, expired ones and missing ones all get
 * the same answer: there is no such document.
 */
import { ANSWER_LIMITS } from "../engine/answer-limits.ts";
import { defined } from "../engine/defined.ts";
import { projectEntry } from "../engine/projections/chunks.ts";
import type { Framed } from "../engine/projections/frame.ts";
import {
  expiringFacts,
  MY_MEMORY_TITLE,
  myMemoryDocument,
  summariseMemory,
} from "../engine/projections/my-memory.ts";
import { citedPath, isMyMemoryPath, MY_MEMORY_PATH, parsePath } from "../engine/projections/paths.ts";
import type { Entry } from "../engine/store/memory-store.ts";
import type { Namespace } from "../engine/store/namespace.ts";
import { renewByUse } from "./facts.ts";
import type { DocumentQuery, DocumentSlice } from "./memory.ts";
import { endedText } from "./presenters/words.ts";
import type { UseCaseContext } from "./use-case-context.ts";

const { documentBytes, documentLines } = ANSWER_LIMITS;

interface WholeDocument {
  readonly path: string;
  readonly title: string;
  readonly content: string;
  readonly entry?: Framed;
}

/** Throws `entry_unreadable` when the document exists but does not open. */
export async function readDocument(
  context: UseCaseContext,
  namespace: Namespace,
  query: DocumentQuery,
): Promise<DocumentSlice | undefined> {
  const given: unknown = query.path;
  if (typeof given !== "string") return undefined;
  if (isMyMemoryPath(given)) return sliceOf(await myMemory(context, namespace), query);
  const found = await entryDocument(context, namespace, given);
  if (found === undefined) return undefined;
  const slice = sliceOf(found.document, query);
  if (query.renewOnUse === true && slice.fromLine === 1 && !slice.truncated)
    await renewByUse(context, found.entry);
  return slice;
}

/** Lines from `fromLine` on. Content is cut at 12 KB, after a whole line unless the first line alone is longer. */
function sliceOf(document: WholeDocument, query: DocumentQuery): DocumentSlice {
  const lines = document.content.split("\n");
  const fromLine = positive(query.fromLine, 1);
  const wanted = lines.slice(fromLine - 1, fromLine - 1 + positive(query.lineCount, documentLines));
  let sizeBytes = 0;
  const tooMuch = wanted.findIndex((line, index) => {
    sizeBytes += Buffer.byteLength(line) + (index === 0 ? 0 : 1);
    return sizeBytes > documentBytes;
  });
  const fitting = tooMuch === -1 ? wanted.length : tooMuch;
  const isCut = fitting === 0 && wanted.length > 0;
  const lineCount = isCut ? 1 : fitting;
  const content = isCut ? cutToBytes(wanted[0] ?? "", documentBytes) : wanted.slice(0, fitting).join("\n");
  const truncated = isCut || fromLine - 1 + lineCount < lines.length;
  return { ...document, content, fromLine, lineCount, totalLines: lines.length, truncated };
}

async function myMemory(context: UseCaseContext, namespace: Namespace): Promise<WholeDocument> {
  const { store } = context;
  const content = myMemoryDocument(
    await summariseMemory(store, namespace),
    await expiringFacts(store, namespace),
    endedText(await store.ended(namespace)),
  );
  return { path: MY_MEMORY_PATH, title: MY_MEMORY_TITLE, content };
}

async function entryDocument(
  context: UseCaseContext,
  namespace: Namespace,
  given: string,
): Promise<{ readonly document: WholeDocument; readonly entry: Entry } | undefined> {
  const path = citedPath(given);
  const place = parsePath(path);
  if (place === undefined) return undefined;
  const entry = await context.store.get({ namespace, origin: place.origin, key: place.key });
  if (entry === undefined || entry.category !== place.category) return undefined;
  const projection = projectEntry(entry);
  if (projection.kind !== "chunk") return undefined;
  const { chunk, kind } = projection.entry;
  const { key, category, createdAt, updatedAt, writer } = entry;
  const { title, content } = chunk;
  const framed = { kind, key, category, createdAt, updatedAt, ...defined({ writer }) };
  return { document: { path, title, content, entry: framed }, entry };
}

/** Never splits a character. */
function cutToBytes(text: string, mostBytes: number): string {
  const bytes = Buffer.from(text);
  let end = mostBytes;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, end).toString();
}

/** Like memory-wiki: anything but a positive whole number counts as absent. */
function positive(value: number | undefined, byDefault: number): number {
  return value !== undefined && Number.isInteger(value) && value > 0 ? value : byDefault;
}
