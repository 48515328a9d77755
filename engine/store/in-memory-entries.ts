/** The in-memory store's entries: their representation and usage, copies for callers, queries and filters. */
import type { Slot } from "../rules/plans.ts";
import { type Quota, requireWithin } from "../rules/quota.ts";
import { decodeListCursor, type ListPlace } from "./cursors.ts";
import { fingerprintOf } from "./entry-id.ts";
import type {
  Entry,
  EntryFilter,
  EntryMeta,
  EntryRef,
  EntryVectors,
  FormerValue,
  ListQuery,
  TotalUsage,
  UnixMs,
  Usage,
} from "./memory-store.ts";
import { isWithin, type Namespace, ownerOf } from "./namespace.ts";
import type { Content } from "./writer.ts";

/** A stored entry. Its content is a private copy, never handed out. */
export interface StoredEntry {
  readonly meta: EntryMeta;
  readonly content: Content;
  /** By space, for this value. */
  readonly vectors: Map<string, EntryVectors>;
  /** Oldest first. */
  readonly history: readonly FormerValue[];
}

export interface HeldSlot extends Slot {
  readonly held: StoredEntry | undefined;
}

/** All entries by slot, with each subject's usage. */
export class HeldEntries extends Map<string, StoredEntry> {
  readonly #usage = new Map<Namespace, Usage>();
  /** What each slot had before the transaction. */
  #before: Map<string, StoredEntry | undefined> | undefined;

  override set(slot: string, held: StoredEntry): this {
    this.#note(slot, held);
    return super.set(slot, held);
  }

  override clear(): void {
    super.clear();
    this.#usage.clear();
  }

  override delete(slot: string): boolean {
    this.#note(slot, undefined);
    return super.delete(slot);
  }

  /** Of the subject of this namespace. */
  usageOf(namespace: Namespace): Usage {
    return this.#usage.get(ownerOf(namespace)) ?? { entries: 0, bytes: 0 };
  }

  totalUsage(): TotalUsage {
    const all = [...this.#usage.values()];
    const sum = (field: keyof Usage) => all.reduce((total, usage) => total + usage[field], 0);
    const most = (field: keyof Usage) => all.reduce((largest, usage) => Math.max(largest, usage[field]), 0);
    const largest = { entries: most("entries"), bytes: most("bytes") };
    return { entries: sum("entries"), bytes: sum("bytes"), largest };
  }

  /** All of `work` or none of it. */
  transact<T>(work: () => T): T {
    const before = new Map<string, StoredEntry | undefined>();
    this.#before = before;
    try {
      return work();
    } catch (error) {
      this.#before = undefined;
      for (const [slot, held] of before) {
        if (held === undefined) this.delete(slot);
        else this.set(slot, held);
      }
      throw error;
    } finally {
      this.#before = undefined;
    }
  }

  /** Former values count, but are dropped before a write is refused. `isMore`: the write takes more than what it replaced. */
  keepWithin(quota: Quota, namespace: Namespace, isMore: boolean): void {
    while (this.usageOf(namespace).bytes > quota.bytes && this.#dropOldestFormer(namespace));
    if (isMore) requireWithin(this.usageOf(namespace), quota, namespace);
  }

  /** Returns whether there was one. */
  #dropOldestFormer(namespace: Namespace): boolean {
    const subject = { namespace: ownerOf(namespace), includeSessions: true };
    let oldest: { readonly held: StoredEntry; readonly at: UnixMs } | undefined;
    for (const held of this.values()) {
      const at = held.history[0]?.updatedAt;
      if (at === undefined || !isWithin(held.meta.namespace, subject)) continue;
      if (oldest === undefined || at < oldest.at) oldest = { held, at };
    }
    if (oldest === undefined) return false;
    const { held } = oldest;
    this.set(slotOf(held.meta), { ...held, history: held.history.slice(1) });
    return true;
  }

  #note(slot: string, held: StoredEntry | undefined): void {
    const before = this.get(slot);
    if (this.#before?.has(slot) === false) this.#before.set(slot, before);
    if (before !== undefined) this.#count(before, -1);
    if (held !== undefined) this.#count(held, 1);
  }

  #count({ meta, content: { value }, history }: StoredEntry, by: 1 | -1): void {
    const { entries, bytes } = this.usageOf(meta.namespace);
    const size = history.reduce((sum, former) => sum + former.value.byteLength, value.byteLength);
    this.#usage.set(ownerOf(meta.namespace), { entries: entries + by, bytes: bytes + by * size });
  }
}

export function copyOf<Kept extends Pick<Content, "value">>(kept: Kept): Kept {
  return { ...kept, value: Uint8Array.from(kept.value) };
}

export function slotOf(ref: EntryRef): string {
  return JSON.stringify([ref.namespace, ref.origin, ref.key]);
}

export function entryOf({ meta, content }: StoredEntry): Entry {
  return { ...meta, ...copyOf(content), fingerprint: fingerprintOf(content.value) };
}

export function isListed(meta: EntryMeta, query: ListQuery): boolean {
  return (
    meta.namespace === query.namespace &&
    (query.origin === undefined || [query.origin].flat().includes(meta.origin)) &&
    (query.category === undefined || [query.category].flat().includes(meta.category)) &&
    (query.tag === undefined || meta.tags.includes(query.tag)) &&
    (query.expiresBefore === undefined || (meta.expiresAt ?? query.expiresBefore) < query.expiresBefore) &&
    hasPrefix(meta.key, query.prefix)
  );
}

export function isMatch(meta: EntryMeta, filter: EntryFilter): boolean {
  return (
    isWithin(meta.namespace, filter) &&
    (filter.origins === undefined || filter.origins.includes(meta.origin)) &&
    (filter.category === undefined || meta.category === filter.category) &&
    (filter.tag === undefined || meta.tags.includes(filter.tag)) &&
    (filter.key === undefined || meta.key === filter.key) &&
    hasPrefix(meta.key, filter.prefix) &&
    (filter.cursor === undefined || comparePlaces(decodeListCursor(filter.cursor), meta) < 0) &&
    (filter.upTo === undefined || meta.revision <= filter.upTo)
  );
}

/** A prefix that ends in half a surrogate pair would match half a character, so it matches nothing. */
function hasPrefix(key: string, prefix: string | undefined): boolean {
  return prefix === undefined || (prefix.isWellFormed() && key.startsWith(prefix));
}

/** Newest first, then by id: negative when `a` comes before `b`. */
export function comparePlaces(a: ListPlace, b: ListPlace): number {
  if (a.updatedAt !== b.updatedAt) return b.updatedAt - a.updatedAt;
  if (a.id === b.id) return 0;
  return a.id < b.id ? -1 : 1;
}

export function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
