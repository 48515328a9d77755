/** The read-only part of the in-memory store. */
import { HelmdeckError } from "../errors.ts";
import { formerKeyOf, shownHistory } from "../rules/history.ts";
import { Beginnings } from "./beginnings.ts";
import {
  decodeListCursor,
  encodeChangeCursor,
  encodeListCursor,
  type History,
  historySince,
  resumeFrom,
} from "./cursors.ts";
import { changesLimitOf, isExpired, listLimitOf } from "./entry-rules.ts";
import {
  compareBytes,
  comparePlaces,
  copyOf,
  entryOf,
  HeldEntries,
  isListed,
  isMatch,
  type StoredEntry,
  slotOf,
} from "./in-memory-entries.ts";
import type {
  CategoryCount,
  Changes,
  ChangesQuery,
  Entry,
  EntryFilter,
  EntryId,
  EntryPage,
  EntryRef,
  EntryVectors,
  FormerKeysPage,
  FormerKeysQuery,
  FormerValue,
  ListQuery,
  MemoryReader,
  MetaPage,
  NamespaceCount,
  ReferenceVectors,
  Revision,
  StoreCapabilities,
  StoreReport,
  TotalUsage,
  UnixMs,
  Usage,
  VectorsQuery,
} from "./memory-store.ts";
import type { Namespace } from "./namespace.ts";
import type { StoreClock } from "./store-clock.ts";
import { checkSpace, checkVectorsQuery } from "./vector-rules.ts";

export interface Removal {
  readonly namespace: Namespace;
  readonly id: EntryId;
  readonly seq: number;
}

export class InMemoryReader implements MemoryReader {
  readonly capabilities: StoreCapabilities = { persistent: false, shared: false };
  readonly identity = undefined;
  protected readonly clock: StoreClock;
  protected readonly held = new HeldEntries();
  /** By space; the latest put comes last. */
  protected readonly references = new Map<string, ReferenceVectors>();
  protected removals: Removal[] = [];
  protected feed: History = { lastSeq: 0, prunedThrough: 0, prunes: 0 };
  readonly #beginnings = new Beginnings();
  #closed = false;

  constructor(clock: StoreClock) {
    this.clock = clock;
  }

  now(): UnixMs {
    return this.clock.now();
  }

  async get(ref: EntryRef): Promise<Entry | undefined> {
    this.requireOpen();
    const held = this.living(ref);
    return held && entryOf(held);
  }

  async list(query: ListQuery): Promise<EntryPage> {
    const { entries, ...rest } = this.#page(query);
    return { entries: entries.map(entryOf), unreadable: [], ...rest };
  }

  async listMeta(query: ListQuery): Promise<MetaPage> {
    const { entries, ...rest } = this.#page(query);
    return { entries: entries.map((held) => held.meta), ...rest };
  }

  async countWhere(filter: EntryFilter): Promise<number> {
    this.requireOpen();
    return this.matching(filter).filter((held) => !this.isGone(held)).length;
  }

  async changes(query: ChangesQuery): Promise<Changes> {
    this.requireOpen();
    const limit = changesLimitOf(query);
    const history = this.#historyAt(this.now());
    const since = resumeFrom(history, query.since);
    if (since === undefined) return { kind: "start_over" };
    const pending = [...this.held.values(), ...this.removals]
      .filter((change) => namespaceOfChange(change) === query.namespace && seqOf(change) > since)
      .sort((a, b) => seqOf(a) - seqOf(b));
    return this.#changesOf(history, pending.slice(0, limit), pending.length > limit);
  }

  async revision(
    namespace: Namespace,
    { includeSessions = false }: Pick<EntryFilter, "includeSessions"> = {},
  ): Promise<Revision> {
    this.requireOpen();
    if (includeSessions) return this.feed.lastSeq;
    const seqs = [...this.held.values(), ...this.removals]
      .filter((change) => namespaceOfChange(change) === namespace)
      .map(seqOf);
    return seqs.reduce((most, seq) => Math.max(most, seq), this.feed.prunedThrough);
  }

  async namespaces(): Promise<readonly NamespaceCount[]> {
    this.requireOpen();
    const live = [...this.held.values()].filter((held) => !this.isGone(held));
    return [...Map.groupBy(live, (held) => held.meta.namespace)]
      .map(([namespace, held]) => ({ namespace, count: held.length }))
      .sort((a, b) => compareBytes(a.namespace, b.namespace));
  }

  async usage(namespace: Namespace): Promise<Usage> {
    this.requireOpen();
    return this.held.usageOf(namespace);
  }

  async totalUsage(): Promise<TotalUsage> {
    this.requireOpen();
    return this.held.totalUsage();
  }

  async categories(namespace: Namespace): Promise<readonly CategoryCount[]> {
    this.requireOpen();
    const metas = this.matching({ namespace }).flatMap((held) => (this.isGone(held) ? [] : [held.meta]));
    return [...Map.groupBy(metas, ({ origin, category }) => JSON.stringify([origin, category])).values()]
      .flatMap((group) =>
        group.slice(0, 1).map(({ origin, category }) => ({ origin, category, count: group.length })),
      )
      .sort((a, b) => compareBytes(a.origin, b.origin) || compareBytes(a.category, b.category));
  }

  async inspect(): Promise<StoreReport> {
    this.requireOpen();
    const expired = [...this.held.values()].filter((held) => this.isGone(held)).length;
    return {
      backend: "in-memory",
      schemaVersion: 0,
      entries: this.held.size - expired,
      expired,
      unreadable: 0,
      isWritable: true,
      clockBehindMs: this.clock.behindMs,
      integrity: "ok",
      settings: {},
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.held.clear();
    this.references.clear();
    this.removals = [];
  }

  async history(ref: EntryRef): Promise<readonly FormerValue[]> {
    this.requireOpen();
    const held = this.living(ref);
    return shownHistory(held?.history ?? [], this.now()).map(copyOf);
  }

  async formerKeys({ namespace }: FormerKeysQuery): Promise<FormerKeysPage> {
    this.requireOpen();
    const live = this.matching({ namespace }).filter((held) => !this.isGone(held));
    const found = live.flatMap(({ meta, history }) => history.map((former) => ({ former, of: meta })));
    return { keys: found.flatMap(formerKeyOf) };
  }

  async vectorSpaces(): Promise<readonly string[]> {
    this.requireOpen();
    return [...new Set([...this.held.values()].flatMap(({ vectors }) => [...vectors.keys()]))];
  }

  async vectors(query: VectorsQuery): Promise<readonly EntryVectors[]> {
    this.requireOpen();
    checkVectorsQuery(query);
    return this.named(query).flatMap(({ vectors }) => {
      const kept = vectors.get(query.space);
      return kept === undefined ? [] : [{ ...kept, vectors: kept.vectors.slice() }];
    });
  }

  async referenceVectors(space: string): Promise<ReferenceVectors | undefined> {
    this.requireOpen();
    checkSpace(space);
    const kept = this.references.get(space);
    return kept && { ...kept, vectors: kept.vectors.slice() };
  }

  protected requireOpen(): void {
    if (this.#closed) throw new HelmdeckError("store_unavailable", "This memory store is closed.");
  }

  protected isGone(held: StoredEntry): boolean {
    return this.clock.isExpired(held.meta.expiresAt);
  }

  #page(query: ListQuery): { readonly entries: readonly StoredEntry[]; readonly nextCursor?: string } {
    this.requireOpen();
    const limit = listLimitOf(query);
    const after = query.cursor === undefined ? undefined : decodeListCursor(query.cursor);
    const rest = [...this.held.values()]
      .filter((held) => isListed(held.meta, query) && !this.isGone(held))
      .filter((held) => after === undefined || comparePlaces(held.meta, after) > 0)
      .sort((a, b) => comparePlaces(a.meta, b.meta));
    const entries = rest.slice(0, limit);
    const last = entries.at(-1);
    return last === undefined || rest.length <= limit
      ? { entries }
      : { entries, nextCursor: encodeListCursor(last.meta) };
  }

  protected matching(filter: EntryFilter): StoredEntry[] {
    return [...this.held.values()].filter((held) => isMatch(held.meta, filter));
  }

  protected named({ namespace, ids }: Pick<VectorsQuery, "namespace" | "ids">): readonly StoredEntry[] {
    const wanted = new Set(ids);
    return this.matching({ namespace }).filter((held) => wanted.has(held.meta.id) && !this.isGone(held));
  }

  #historyAt(now: UnixMs): History {
    const hides = (after: UnixMs, until: UnixMs): boolean =>
      [...this.held.values()].some(
        ({ meta: { expiresAt } }) => !isExpired(expiresAt, after) && isExpired(expiresAt, until),
      );
    return historySince(this.feed, this.#beginnings.at(now, this.feed.lastSeq, hides));
  }

  #changesOf(history: History, page: readonly (StoredEntry | Removal)[], more: boolean): Changes {
    const held = page.filter((change): change is StoredEntry => "meta" in change);
    const removals = page.filter((change): change is Removal => "id" in change);
    const end = page.at(-1);
    const last = more && end !== undefined ? seqOf(end) : history.lastSeq;
    return {
      kind: "changes",
      upserts: held.filter((change) => !this.isGone(change)).map(entryOf),
      removed: [
        ...held.filter((change) => this.isGone(change)).map((change) => change.meta.id),
        ...removals.map((removal) => removal.id),
      ],
      unreadable: [],
      cursor: encodeChangeCursor(history, last),
      more,
    };
  }

  protected living(ref: EntryRef): StoredEntry | undefined {
    const held = this.held.get(slotOf(ref));
    return held === undefined || this.isGone(held) ? undefined : held;
  }
}

function seqOf(change: StoredEntry | Removal): number {
  return "meta" in change ? change.meta.revision : change.seq;
}

function namespaceOfChange(change: StoredEntry | Removal): Namespace {
  return "meta" in change ? change.meta.namespace : change.namespace;
}
