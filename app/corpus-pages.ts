/**
 * Pages through the corpus as chunks: all of them, newest first, or ranked by a query; recall reads the same documents with the
 * store's change cursor.
 */
import { ANSWER_LIMITS, requireCount } from "../engine/answer-limits.ts";
import { defined } from "../engine/defined.ts";
import { invalidField } from "../engine/errors.ts";
import { jsonListOf } from "../engine/json.ts";
import { projectEntry } from "../engine/projections/chunks.ts";
import { parseDocid } from "../engine/projections/paths.ts";
import type { Entry, EntryId, MemoryReader, MemoryStore } from "../engine/store/memory-store.ts";
import type { Namespace } from "../engine/store/namespace.ts";
import type { Writer } from "../engine/store/writer.ts";
import type { CorpusChanges, CorpusSource, RecallHit, RecallQuery } from "../recall/search-contract.ts";
import { asUnreadable } from "./fact-view.ts";
import type { FoundChunk as Chunk, CorpusAnswer, CorpusQuery } from "./memory.ts";
import { counted, endedText, NOTHING_STORED, unmatchedText } from "./presenters/words.ts";
import { search } from "./searching.ts";
import type { UseCaseContext } from "./use-case-context.ts";

/** A page ends early once its chunks reach this size. */
const PAGE_CHARACTERS = 1_024 * 1_024;
/** Rows opened at a time. */
const STEP = 10;
/** The most rows that one page examines, however many do not open. */
const MOST_ROWS = 1_000;

const ONLY_POSSIBLE = "Nothing answers this for certain. These are only possibly related.";

/** Throws `invalid_input` for a limit out of range, a foreign cursor, and a cursor together with a query. */
export async function corpusPage(
  context: UseCaseContext,
  namespace: Namespace,
  query: CorpusQuery,
): Promise<CorpusAnswer> {
  const limit = requireCount("limit", query?.limit, ANSWER_LIMITS.chunks);
  const words = requireText("query", query.query);
  const cursor = requireText("cursor", query.cursor);
  if (words === undefined || words.trim() === "") return newestChunks(context, namespace, limit, cursor);
  if (cursor !== undefined)
    throw invalidField("cursor", "continues a listing without a query; ranked hits have a single page");
  const asked = { query: words, limit: Math.min(limit, ANSWER_LIMITS.hits.most) };
  return rankedChunks(context, namespace, { ...asked, ...defined({ recall: query.recall }) });
}

async function newestChunks(
  context: UseCaseContext,
  namespace: Namespace,
  limit: number,
  cursor: string | undefined,
): Promise<CorpusAnswer> {
  const chunks: Chunk[] = [];
  let place: WalkPlace | undefined =
    cursor === undefined ? await startOfWalk(context.store, namespace) : decodePlace(cursor);
  let rows = 0;
  let unreadable = 0;
  let characters = 0;
  do {
    const step = Math.min(limit - chunks.length, STEP);
    const page: WalkStep = await stepOfWalk(context.store, namespace, place, step);
    const projected = page.entries.map(projectEntry);
    const found = projected.flatMap((one) => (one.kind === "chunk" ? [one.entry.chunk] : []));
    chunks.push(...found);
    rows += step;
    unreadable += page.unreadable + projected.filter(({ kind }) => kind === "damaged").length;
    characters += found.reduce((sum, { content }) => sum + content.length, 0);
    place = page.next;
  } while (place !== undefined && chunks.length < limit && rows < MOST_ROWS && characters < PAGE_CHARACTERS);
  const isEmpty = cursor === undefined && place === undefined && chunks.length + unreadable === 0;
  return {
    chunks,
    ...(place && { nextCursor: encodePlace(place) }),
    ...(unreadable > 0 && { incomplete: true }),
    ...noteOf([
      isEmpty ? endedText(await context.store.ended(namespace)) || NOTHING_STORED : undefined,
      unreadableNote(unreadable),
    ]),
  };
}

async function rankedChunks(
  context: UseCaseContext,
  namespace: Namespace,
  query: RecallQuery,
): Promise<CorpusAnswer> {
  const answer = await search(context, namespace, query);
  const chunks: Chunk[] = [];
  let unreadable = 0;
  let characters = 0;
  for (const hit of answer.results) {
    const found = await chunkOf(context, namespace, hit);
    if (found === "unreadable") unreadable += 1;
    if (found === undefined || found === "unreadable") continue;
    chunks.push(found);
    characters += found.content.length;
    if (characters >= PAGE_CHARACTERS) break;
  }
  const cut = characters >= PAGE_CHARACTERS ? "The hits are large, so there may be more." : undefined;
  const possible = chunks[0]?.metadata.possible === true ? ONLY_POSSIBLE : undefined;
  const { mode, reason, unmatched, hint } = answer;
  const isIncomplete = answer.incomplete ?? answer.partial ?? (unreadable > 0 || cut !== undefined);
  const missed = unmatched && unmatchedText(unmatched, "my-memory lists them");
  const notes = [possible, missed, hint, reason, unreadableNote(unreadable), cut];
  return {
    chunks,
    mode,
    ...(isIncomplete && { incomplete: true }),
    ...noteOf(notes),
    ...defined({ unmatched }),
  };
}

/** Undefined when it was deleted since the search. */
async function chunkOf(
  context: UseCaseContext,
  namespace: Namespace,
  { docid, score, snippet, possible, why, conflictsWith }: RecallHit,
): Promise<Chunk | "unreadable" | undefined> {
  const place = parseDocid(docid);
  if (place === undefined) return undefined;
  const { origin, key, category } = place;
  const entry = await context.store.get({ namespace, origin, key }).catch(asUnreadable);
  if (entry === undefined || entry === "unreadable") return entry;
  const projection = entry.category === category ? projectEntry(entry) : undefined;
  if (projection?.kind !== "chunk") return undefined;
  const { chunk } = projection.entry;
  const conflicts_with = conflictsWith?.map((other) => other.key);
  const doubts = possible ? { possible, ...defined({ why }) } : defined({ conflicts_with });
  return { ...chunk, metadata: { ...chunk.metadata, ...doubts }, score, snippet };
}

function unreadableNote(count: number): string | undefined {
  if (count === 0) return undefined;
  return `${counted(count, "entry", "entries")} could not be read; run doctor for details.`;
}

function noteOf(notes: readonly (string | undefined)[]): { readonly note?: string } {
  const given = notes.filter((note) => note !== undefined);
  return given.length === 0 ? {} : { note: given.join(" ") };
}

function requireText(field: string, text: unknown): string | undefined {
  if (text === undefined || typeof text === "string") return text;
  throw invalidField(field, "must be a string");
}

/** A position in the listing, with the revision at the start of the walk; or among later writes. */
type WalkPlace = { readonly began: number; readonly listed?: string } | { readonly changesSince: number };

interface WalkStep {
  readonly entries: readonly Entry[];
  /** Rows that do not open. */
  readonly unreadable: number;
  /** Absent at the end. */
  readonly next?: WalkPlace;
}

const ORIGINS = ["fact", "audit"] as const;

/**
 * Walks through all facts and audit rows of a memory, newest first, without missing any that are written meanwhile.
 *
 * A rewritten entry moves to the front of a listing by time, which may already have passed there. So a walk notes the store's
 * revision at its start, and ends with everything written since. Such an entry may appear twice; the later one is newer.
 */
async function startOfWalk(store: MemoryStore, namespace: Namespace): Promise<WalkPlace> {
  return { began: await store.revision(namespace) };
}

/** The next rows, at most this many. */
async function stepOfWalk(
  store: MemoryStore,
  namespace: Namespace,
  place: WalkPlace,
  limit: number,
): Promise<WalkStep> {
  if ("changesSince" in place) {
    const changes = await store.changes({ namespace, since: place.changesSince, limit });
    // So much was written that old changes were pruned: everything is listed once more.
    if (changes.kind === "start_over") return { entries: [], unreadable: 0, next: { changesSince: 0 } };
    const isWalked = ({ origin }: Pick<Entry, "origin">) => ORIGINS.some((walked) => walked === origin);
    return {
      entries: changes.upserts.filter(isWalked),
      unreadable: changes.unreadable.filter(isWalked).length,
      ...(changes.more && { next: { changesSince: changes.cursor } }),
    };
  }
  const { began, listed } = place;
  const page = await store.list({ namespace, origin: ORIGINS, limit, ...(listed && { cursor: listed }) });
  const step = { entries: page.entries, unreadable: page.unreadable.length };
  if (page.nextCursor !== undefined) return { ...step, next: { began, listed: page.nextCursor } };
  const isStill = (await store.revision(namespace)) === began;
  return isStill ? step : { ...step, next: { changesSince: began } };
}

function encodePlace(place: WalkPlace): string {
  const parts = "changesSince" in place ? ["since", place.changesSince] : ["list", place.began, place.listed];
  return Buffer.from(JSON.stringify(parts)).toString("base64url");
}

/** Throws `invalid_input` for anything that {@link encodePlace} did not create. */
function decodePlace(cursor: string): WalkPlace {
  const [kind, number, listed, ...more] = jsonListOf(Buffer.from(cursor, "base64url").toString());
  if (typeof number !== "number" || !Number.isSafeInteger(number) || more.length > 0) throw notACursor();
  if (kind === "since" && listed === undefined) return { changesSince: number };
  if (kind === "list" && typeof listed === "string") return { began: number, listed };
  throw notACursor();
}

function notACursor() {
  return invalidField("cursor", "is not from an earlier page; leave it out");
}

/** Entries without a document (unreadable, damaged) count as removed, so that no stale one is found. */
export function recallOverStore(reader: MemoryReader): CorpusSource {
  const shared = shareWriters();
  return {
    async changes(namespace, since, limit): Promise<CorpusChanges> {
      const changes = await reader.changes({ namespace, since, limit });
      if (changes.kind === "start_over") return changes;
      const { upserts, removed, unreadable, cursor, more } = changes;
      const projected = upserts.map((entry) => ({ id: entry.id, projection: projectEntry(shared(entry)) }));
      const hidden: EntryId[] = projected.flatMap(({ id, projection }) =>
        projection.kind === "chunk" ? [] : [id],
      );
      return {
        kind: "changes",
        upserts: projected.flatMap(({ projection }) =>
          projection.kind === "chunk" ? [projection.entry] : [],
        ),
        removed: [...removed, ...hidden, ...unreadable.map(({ id }) => id)],
        cursor,
        more,
      };
    },
  };
}

/** Few writers write many entries, so the index shares their objects. */
function shareWriters(): (entry: Entry) => Entry {
  const writers = new Map<string, Writer>();
  return (entry) => {
    if (entry.writer === undefined) return entry;
    const name = JSON.stringify(entry.writer);
    const writer = writers.get(name) ?? entry.writer;
    writers.set(name, writer);
    return { ...entry, writer };
  };
}
