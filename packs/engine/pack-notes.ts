/**
 * A pack's notes: ec.memory over the store, for one namespace.
 *
 * Threat: somebody controls a handler's input, and through it a key, a tag or a value. Defence: the origin is always `pack` and
 * the namespace is fixed here, so no key can reach a fact, an audit row, a cached answer or another caller; sizes and
 * characters have the same limits as facts. All packs of an engine share a caller's notes (docs/decisions/0018): packs are the
 * operator's own code in one process, so a separation would protect nothing.
 */
import { defined } from "../../engine/defined.ts";
import { invalidField } from "../../engine/errors.ts";
import {
  checkCategory,
  checkTags,
  FACT_LIMITS,
  refuseHostile,
  refuseLong,
  textOf,
} from "../../engine/facts/facts-policy.ts";
import { problemOfName } from "../../engine/facts/hostile-text.ts";
import { pagesOf } from "../../engine/pages-of.ts";
import type { Entry, MemoryStore, UnixMs } from "../../engine/store/memory-store.ts";
import type { Namespace } from "../../engine/store/namespace.ts";
import { isWholeWithin, PACK_LIMITS } from "./define-pack.ts";
import type {
  PackMemory,
  PackMemoryPolicy,
  PackNote,
  PackNoteMeta,
  PackNoteOptions,
} from "./pack-contract.ts";

/** Maximum number of notes that `list` returns. */
const MOST_LISTED_NOTES = 1_000;
/** Maximum number of notes that `context` returns. */
const CONTEXT_NOTES = 50;

const PAGE = 100;

export interface NotesOptions {
  readonly store: MemoryStore;
  readonly namespace: Namespace;
  readonly policy: PackMemoryPolicy;
  readonly now: () => UnixMs;
}

/** Methods throw the store's errors. An invalid key is a miss. */
export function openNotes({ store, namespace, policy, now }: NotesOptions): PackMemory {
  const refTo = (key: string) => ({ namespace, origin: "pack", key }) as const;
  return {
    namespace: () => namespace,
    store: async (key, value, options = {}) => {
      const { ttlSeconds, ...note } = checkNote(key, value, options, policy);
      await store.put({ ...refTo(note.key), ...note, expiresAt: now() + ttlSeconds * 1_000 });
    },
    recall: async (key) => {
      const name = keyOfNote(key);
      const entry = name === undefined ? undefined : await store.get(refTo(name));
      return entry && noteOf(entry);
    },
    list: async (prefix) => (await listNotes(store, namespace, prefix)).map(noteOf),
    delete: async (key) => {
      const name = keyOfNote(key);
      return name !== undefined && (await store.delete(refTo(name))).deleted > 0;
    },
    context: async () => {
      // A fingerprint is computed from the value and not stored in clear, so these fifty entries are decrypted.
      const { entries } = await store.list({ namespace, origin: "pack", limit: CONTEXT_NOTES });
      return { namespace, entries: groupByCategory(entries) };
    },
  };
}

async function listNotes(
  store: MemoryStore,
  namespace: Namespace,
  prefix: string | undefined,
): Promise<readonly Entry[]> {
  const found: Entry[] = [];
  const query = { namespace, origin: "pack", limit: PAGE, ...(prefix && { prefix }) } as const;
  for await (const { entries } of pagesOf((more) => store.list({ ...query, ...more }))) {
    found.push(...entries);
    if (found.length >= MOST_LISTED_NOTES) break;
  }
  return found.slice(0, MOST_LISTED_NOTES);
}

function groupByCategory(entries: readonly Entry[]): Readonly<Record<string, readonly PackNoteMeta[]>> {
  const groups = Map.groupBy(entries, ({ category }) => category);
  return Object.fromEntries([...groups].map(([category, group]) => [category, group.map(metaOf)]));
}

function noteOf(entry: Entry): PackNote {
  return { ...metaOf(entry), value: Buffer.from(entry.value).toString() };
}

function metaOf({ key, category, tags, createdAt, updatedAt, expiresAt, fingerprint }: Entry): PackNoteMeta {
  return {
    key,
    category,
    tags,
    createdAt,
    updatedAt,
    ...defined({ expiresAt }),
    fingerprint,
  };
}

/** 30 days, as in helmdeck. */
const DEFAULT_NOTE_TTL_SECONDS = 2_592_000;
const DEFAULT_NOTE_CATEGORY = "notes";

/**
 * Limits of a pack's notes: those of facts, but keys and values are stored unchanged, as programs expect.
 *
 * The note with the pack's defaults. Throws `invalid_input` with the field and its limit.
 */
function checkNote(key: unknown, value: unknown, options: PackNoteOptions, policy: PackMemoryPolicy) {
  return {
    key: checkNoteKey(key),
    value: checkNoteValue(value),
    category: checkCategory(options.category ?? policy.category ?? DEFAULT_NOTE_CATEGORY),
    tags: checkTags(options.tags),
    ttlSeconds: checkNoteTtl(options.ttlSeconds ?? policy.ttlSeconds ?? DEFAULT_NOTE_TTL_SECONDS),
  };
}

/** The key, or undefined if no note can have it. For lookups, where a miss is not an error. */
function keyOfNote(key: unknown): string | undefined {
  const fits = typeof key === "string" && key !== "" && Buffer.byteLength(key) <= FACT_LIMITS.keyBytes;
  return fits && problemOfName(key) === undefined ? key : undefined;
}

function checkNoteKey(key: unknown): string {
  const name = textOf("key", key);
  if (name === "")
    throw invalidField("key", "is missing; begin it with the pack's name, such as swe.solve/notes");
  refuseLong("key", name, FACT_LIMITS.keyBytes, "shorten it");
  refuseHostile("key", name);
  return name;
}

function checkNoteValue(value: unknown): Uint8Array {
  const text = textOf("value", value);
  refuseLong("value", text, FACT_LIMITS.valueBytes, "keep a summary, or an artifact");
  if (!text.isWellFormed())
    throw invalidField("value", "holds half of a surrogate pair, which is not Unicode text");
  return Buffer.from(text);
}

function checkNoteTtl(ttlSeconds: unknown): number {
  const { leastTtlSeconds, mostTtlSeconds } = PACK_LIMITS;
  if (isWholeWithin(ttlSeconds, leastTtlSeconds, mostTtlSeconds)) return ttlSeconds;
  throw invalidField(
    "ttlSeconds",
    `must be whole seconds from ${leastTtlSeconds} to ${mostTtlSeconds} (a year)`,
  );
}
