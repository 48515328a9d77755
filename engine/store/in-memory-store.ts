import { HelmdeckError } from "../errors.ts";
import { Beginnings } from "./beginnings.ts";
import { keepsExisting } from "./conflicts.ts";
import {
  decodeListCursor,
  encodeChangeCursor,
  encodeListCursor,
  type History,
  historySince,
  KEEP_REMOVALS,
  pruneTarget,
  resumeFrom,
} from "./cursors.ts";
import { fingerprintOf } from "./entry-id.ts";
import { changesLimitOf, checkNewEntry, isExpired, listLimitOf } from "./entry-rules.ts";
import { checkSuperseded, isCovered, keyInUse, mayCoverFormer, shownHistory, undoOf } from "./history.ts";
import {
  compareBytes,
  comparePlaces,
  copyOf,
  entryOf,
  type Held,
  historyAfter,
  isListed,
  isMatch,
  metaOf,
  slotOf,
} from "./in-memory-entries.ts";
import type {
  CategoryCount,
  Changes,
  ChangesQuery,
  DecideRenewal,
  Entry,
  EntryFilter,
  EntryId,
  EntryPage,
  EntryRef,
  EntryVectors,
  Erasure,
  FormerKeysPage,
  FormerKeysQuery,
  FormerValue,
  ListQuery,
  MemoryStore,
  MetaPage,
  NamespaceCount,
  NewEntry,
  PutManyOptions,
  PutOptions,
  PutResult,
  ReferenceVectors,
  StoreCapabilities,
  StoreReport,
  Undone,
  UndoOptions,
  UnixMs,
  Usage,
  VectorsQuery,
} from "./memory-store.ts";
import { isWithin, type Namespace } from "./namespace.ts";
import { StoreClock } from "./store-clock.ts";
import { withCorrectedTimes } from "./time-seen.ts";
import {
  checkNewReferences,
  checkNewVectors,
  checkSpace,
  checkVectorsQuery,
  KEPT_REFERENCE_SPACES,
} from "./vector-rules.ts";

export interface InMemoryStoreOptions {
  /** The clock, in Unix milliseconds. */
  readonly now?: () => UnixMs;
  /** The least number of writes for which the change feed remembers removals. */
  readonly keepRemovals?: number;
}

export function createInMemoryStore(options: InMemoryStoreOptions = {}): MemoryStore {
  return new InMemoryStore(new StoreClock(options.now ?? Date.now), options.keepRemovals ?? KEEP_REMOVALS);
}

interface Removal {
  readonly namespace: Namespace;
  readonly id: EntryId;
  readonly seq: number;
}

class InMemoryStore implements MemoryStore {
  readonly capabilities: StoreCapabilities = { persistent: false, shared: false };
  readonly identity = undefined;
  readonly #clock: StoreClock;
  readonly #beginnings = new Beginnings();
  readonly #keepRemovals: number;
  readonly #held = new Map<string, Held>();
  /** By space; the latest put comes last. */
  readonly #references = new Map<string, ReferenceVectors>();
  #removals: Removal[] = [];
  #history: History = { lastSeq: 0, prunedThrough: 0, prunes: 0 };
  #closed = false;

  constructor(clock: StoreClock, keepRemovals: number) {
    this.#clock = clock;
    this.#keepRemovals = keepRemovals;
  }

  now(): UnixMs {
    return this.#clock.now();
  }

  async get(ref: EntryRef): Promise<Entry | undefined> {
    this.#requireOpen();
    const held = this.#living(ref);
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
    this.#requireOpen();
    return this.#matching(filter).filter((held) => !this.#isGone(held)).length;
  }

  async changes(query: ChangesQuery): Promise<Changes> {
    this.#requireOpen();
    const limit = changesLimitOf(query);
    const history = this.#historyAt(this.now());
    const since = resumeFrom(history, query.since);
    if (since === undefined) return { kind: "start_over" };
    const pending = [...this.#held.values(), ...this.#removals]
      .filter((change) => namespaceOfChange(change) === query.namespace && change.seq > since)
      .sort((a, b) => a.seq - b.seq);
    return this.#changesOf(history, pending.slice(0, limit), pending.length > limit);
  }

  async revision(namespace: Namespace): Promise<number> {
    this.#requireOpen();
    const seqs = [...this.#held.values(), ...this.#removals]
      .filter((change) => namespaceOfChange(change) === namespace)
      .map(({ seq }) => seq);
    return seqs.reduce((most, seq) => Math.max(most, seq), this.#history.prunedThrough);
  }

  async namespaces(): Promise<readonly NamespaceCount[]> {
    this.#requireOpen();
    const live = [...this.#held.values()].filter((held) => !this.#isGone(held));
    return [...Map.groupBy(live, (held) => held.meta.namespace)]
      .map(([namespace, held]) => ({ namespace, count: held.length }))
      .sort((a, b) => compareBytes(a.namespace, b.namespace));
  }

  async usage(namespace: Namespace): Promise<Usage> {
    this.#requireOpen();
    const held = this.#matching({ namespace, includeSessions: true });
    const sizes = held.flatMap(({ value, history }) => [value, ...history.map((former) => former.value)]);
    return { entries: held.length, bytes: sizes.reduce((sum, { byteLength }) => sum + byteLength, 0) };
  }

  async categories(namespace: Namespace): Promise<readonly CategoryCount[]> {
    this.#requireOpen();
    const metas = this.#matching({ namespace }).flatMap((held) => (this.#isGone(held) ? [] : [held.meta]));
    return [...Map.groupBy(metas, ({ origin, category }) => JSON.stringify([origin, category])).values()]
      .flatMap((group) =>
        group.slice(0, 1).map(({ origin, category }) => ({ origin, category, count: group.length })),
      )
      .sort((a, b) => compareBytes(a.origin, b.origin) || compareBytes(a.category, b.category));
  }

  async inspect(): Promise<StoreReport> {
    this.#requireOpen();
    const expired = [...this.#held.values()].filter((held) => this.#isGone(held)).length;
    return {
      backend: "in-memory",
      schemaVersion: 0,
      entries: this.#held.size - expired,
      expired,
      unreadable: 0,
      isWritable: true,
      clockBehindMs: this.#clock.behindMs,
      integrity: "ok",
      settings: {},
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#held.clear();
    this.#references.clear();
    this.#removals = [];
  }

  async history(ref: EntryRef): Promise<readonly FormerValue[]> {
    this.#requireOpen();
    const held = this.#living(ref);
    return shownHistory(held?.history ?? [], this.now()).map(copyOf);
  }

  async formerKeys({ namespace }: FormerKeysQuery): Promise<FormerKeysPage> {
    this.#requireOpen();
    const live = this.#matching({ namespace }).filter((held) => !this.#isGone(held));
    const keys = live.flatMap(({ meta, history }) =>
      history.map(({ key, category, tags, updatedAt }) => ({ of: meta, key, category, tags, updatedAt })),
    );
    return { keys };
  }

  async put(entry: NewEntry, { supersedes }: PutOptions = {}): Promise<PutResult> {
    this.#requireOpen();
    checkNewEntry(entry);
    const others = checkSuperseded(entry, supersedes);
    this.#observe();
    return this.#write(entry, this.now(), others);
  }

  async undo(ref: EntryRef, { tag }: UndoOptions = {}): Promise<Undone | undefined> {
    this.#requireOpen();
    this.#observe();
    const present = this.#living(ref);
    if (tag !== undefined && present?.meta.tags.includes(tag) !== true) return undefined;
    const undo = present && undoOf(present.history, this.now());
    if (present === undefined || undo === undefined) return undefined;
    for (const { former } of undo.revived) {
      if (this.#living({ ...ref, key: former.key }) !== undefined) throw keyInUse(former.key);
    }
    if (undo.before === undefined) this.#remove([present]);
    const back = [
      ...(undo.before === undefined ? [] : [{ former: undo.before, history: undo.history }]),
      ...undo.revived,
    ];
    return {
      undone: entryOf(present),
      restored: back.map(({ former, history }) => this.#bringBack(ref, former, history)),
    };
  }

  async putMany(
    entries: readonly NewEntry[],
    { onConflict = "replace" }: PutManyOptions = {},
  ): Promise<readonly PutResult[]> {
    this.#requireOpen();
    for (const entry of entries) checkNewEntry(entry);
    this.#observe();
    const now = this.now();
    return entries.map((entry) => {
      const there = this.#living(entry);
      const stays = there !== undefined && keepsExisting(there.meta, entry, onConflict);
      return stays ? { entry: there.meta, superseded: [], kept: true } : this.#write(entry, now);
    });
  }

  async renew(ref: EntryRef, decide: DecideRenewal): Promise<Entry | undefined> {
    this.#requireOpen();
    this.#observe();
    const there = this.#living(ref);
    const renewal = there && decide(entryOf(there), this.now());
    if (there === undefined || renewal === undefined) return there && entryOf(there);
    const { expiresAt, prolonged } = renewal;
    const renewed = { ...there, meta: { ...there.meta, expiresAt }, prolonged, seq: this.#nextSeq() };
    this.#held.set(slotOf(ref), renewed);
    return entryOf(renewed);
  }

  async delete(ref: EntryRef): Promise<Erasure> {
    this.#requireOpen();
    const { namespace, origin, key } = ref;
    return this.#erase({ namespace, origins: [origin], key });
  }

  async deleteWhere(filter: EntryFilter): Promise<Erasure> {
    this.#requireOpen();
    return this.#erase(filter);
  }

  async deleteExpired(): Promise<Erasure> {
    this.#requireOpen();
    this.#observe();
    const until = this.#clock.deletableUntil;
    if (until === undefined) return { deleted: 0, erased: "complete" };
    const expired = [...this.#held.values()].filter((held) => isExpired(held.meta.expiresAt, until));
    this.#remove(expired);
    return { deleted: expired.length, erased: "complete" };
  }

  async vectorSpaces(): Promise<readonly string[]> {
    this.#requireOpen();
    return [...new Set([...this.#held.values()].flatMap(({ vectors }) => [...vectors.keys()]))];
  }

  async vectors(query: VectorsQuery): Promise<readonly EntryVectors[]> {
    this.#requireOpen();
    checkVectorsQuery(query);
    return this.#named(query).flatMap(({ vectors }) => {
      const kept = vectors.get(query.space);
      return kept === undefined ? [] : [{ ...kept, vectors: kept.vectors.slice() }];
    });
  }

  async putVectors(
    namespace: Namespace,
    space: string,
    batch: readonly EntryVectors[],
  ): Promise<readonly EntryId[]> {
    this.#requireOpen();
    checkNewVectors(space, batch);
    const made = new Map(batch.map((one) => [one.id, one]));
    return this.#named({ namespace, ids: [...made.keys()] }).flatMap(({ meta, value, vectors }) => {
      const fresh = made.get(meta.id);
      if (fresh === undefined || fresh.fingerprint !== fingerprintOf(value)) return [];
      vectors.set(space, { ...fresh, vectors: fresh.vectors.slice() });
      return [meta.id];
    });
  }

  async deleteOtherVectors(query: VectorsQuery): Promise<void> {
    this.#requireOpen();
    checkVectorsQuery(query);
    for (const { vectors } of this.#named(query)) {
      for (const space of vectors.keys()) if (space !== query.space) vectors.delete(space);
    }
  }

  async referenceVectors(space: string): Promise<ReferenceVectors | undefined> {
    this.#requireOpen();
    checkSpace(space);
    const kept = this.#references.get(space);
    return kept && { ...kept, vectors: kept.vectors.slice() };
  }

  async putReferenceVectors(space: string, made: ReferenceVectors): Promise<void> {
    this.#requireOpen();
    checkNewReferences(space, made);
    this.#references.delete(space);
    this.#references.set(space, { ...made, vectors: made.vectors.slice() });
    const tooMany = this.#references.size - KEPT_REFERENCE_SPACES;
    for (const oldest of this.#references.keys().take(Math.max(0, tooMany))) this.#references.delete(oldest);
  }

  #requireOpen(): void {
    if (this.#closed) throw new HelmdeckError("store_unavailable", "This memory store is closed.");
  }

  #isGone(held: Held): boolean {
    return this.#clock.isExpired(held.meta.expiresAt);
  }

  /** Reads the clock. Once it is right, entries written while it was certainly wrong get their true times. */
  #observe(): void {
    const correction = this.#clock.observe()?.correction;
    if (correction === undefined) return;
    for (const [slot, held] of this.#held) {
      const meta = withCorrectedTimes(held.meta, correction);
      if (meta === held.meta) continue;
      const history = held.history.map((former) => withCorrectedTimes(former, correction));
      this.#held.set(slot, { ...held, meta, history, seq: this.#nextSeq() });
    }
  }

  #page(query: ListQuery): { readonly entries: readonly Held[]; readonly nextCursor?: string } {
    this.#requireOpen();
    const limit = listLimitOf(query);
    const after = query.cursor === undefined ? undefined : decodeListCursor(query.cursor);
    const rest = [...this.#held.values()]
      .filter((held) => isListed(held.meta, query) && !this.#isGone(held))
      .filter((held) => after === undefined || comparePlaces(held.meta, after) > 0)
      .sort((a, b) => comparePlaces(a.meta, b.meta));
    const entries = rest.slice(0, limit);
    const last = entries.at(-1);
    return last === undefined || rest.length <= limit
      ? { entries }
      : { entries, nextCursor: encodeListCursor(last.meta) };
  }

  #matching(filter: EntryFilter): readonly Held[] {
    return [...this.#held.values()].filter((held) => isMatch(held.meta, filter));
  }

  #named({ namespace, ids }: Pick<VectorsQuery, "namespace" | "ids">): readonly Held[] {
    const wanted = new Set(ids);
    return this.#matching({ namespace }).filter((held) => wanted.has(held.meta.id) && !this.#isGone(held));
  }

  #historyAt(now: UnixMs): History {
    const hides = (after: UnixMs, until: UnixMs): boolean =>
      [...this.#held.values()].some(
        ({ meta: { expiresAt } }) => !isExpired(expiresAt, after) && isExpired(expiresAt, until),
      );
    return historySince(this.#history, this.#beginnings.at(now, this.#history.lastSeq, hides));
  }

  #changesOf(history: History, page: readonly (Held | Removal)[], more: boolean): Changes {
    const held = page.filter((change): change is Held => "meta" in change);
    const removals = page.filter((change): change is Removal => "id" in change);
    const last = more ? (page.at(-1)?.seq ?? 0) : history.lastSeq;
    return {
      kind: "changes",
      upserts: held.filter((change) => !this.#isGone(change)).map(entryOf),
      removed: [
        ...held.filter((change) => this.#isGone(change)).map((change) => change.meta.id),
        ...removals.map((removal) => removal.id),
      ],
      unreadable: [],
      cursor: encodeChangeCursor(history, last),
      more,
    };
  }

  #living(ref: EntryRef): Held | undefined {
    const held = this.#held.get(slotOf(ref));
    return held === undefined || this.#isGone(held) ? undefined : held;
  }

  #write(entry: NewEntry, now: UnixMs, supersedes: readonly string[] = []): PutResult {
    const slot = slotOf(entry);
    const before = this.#held.get(slot);
    const kept = this.#living(entry);
    if (before !== undefined && kept === undefined) this.#remove([before]);
    const retired = supersedes.flatMap((key) => this.#living({ ...entry, key }) ?? []);
    this.#remove(retired);
    const meta = metaOf(entry, kept?.meta, now);
    const sameValue = kept !== undefined && Buffer.compare(kept.value, entry.value) === 0;
    this.#held.set(slot, {
      meta,
      value: Uint8Array.from(entry.value),
      writer: entry.writer && { ...entry.writer },
      prolonged: entry.prolonged,
      seq: this.#nextSeq(),
      vectors: sameValue ? kept.vectors : new Map(),
      history: historyAfter(entry, kept, retired, sameValue),
    });
    const superseded = retired.map((held) => held.meta.key);
    if (kept === undefined) return { entry: meta, superseded };
    return { entry: meta, replaced: { updatedAt: kept.meta.updatedAt, sameValue }, superseded };
  }

  #bringBack(ref: EntryRef, former: FormerValue, history: readonly FormerValue[]): Entry {
    const { life: _, into: __, joined: ___, ...was } = former;
    const before = this.#held.get(slotOf({ ...ref, key: was.key }));
    if (before !== undefined && this.#isGone(before)) this.#remove([before]);
    const held = {
      meta: metaOf({ ...ref, ...was }, this.#living({ ...ref, key: was.key })?.meta, was.updatedAt),
      value: was.value,
      writer: was.writer,
      seq: this.#nextSeq(),
      vectors: new Map(),
      history,
    };
    this.#held.set(slotOf(held.meta), held);
    return entryOf(held);
  }

  /** Erases what a filter covers, also from other facts' histories. */
  #erase(filter: EntryFilter): Erasure {
    const erasure = this.#remove(this.#matching(filter));
    if (!mayCoverFormer(filter)) return erasure;
    let former = 0;
    for (const [slot, held] of this.#held) {
      if (!isWithin(held.meta.namespace, filter)) continue;
      const history = held.history.filter((one) => !isCovered(one, filter));
      former += held.history.length - history.length;
      this.#held.set(slot, { ...held, history });
    }
    return former === 0 ? erasure : { ...erasure, former };
  }

  #remove(doomed: readonly Held[]): Erasure {
    for (const { meta } of doomed) {
      this.#held.delete(slotOf(meta));
      this.#removals.push({ namespace: meta.namespace, id: meta.id, seq: this.#nextSeq() });
    }
    this.#prune();
    return { deleted: doomed.filter((held) => !this.#isGone(held)).length, erased: "complete" };
  }

  #prune(): void {
    const { lastSeq, prunes } = this.#history;
    const target = pruneTarget(lastSeq, this.#removals[0]?.seq, this.#keepRemovals);
    if (target === undefined) return;
    this.#removals = this.#removals.filter((removal) => removal.seq > target);
    this.#history = { lastSeq, prunedThrough: target, prunes: prunes + 1 };
  }

  #nextSeq(): number {
    this.#history = { ...this.#history, lastSeq: this.#history.lastSeq + 1 };
    return this.#history.lastSeq;
  }
}

function namespaceOfChange(change: Held | Removal): Namespace {
  return "meta" in change ? change.meta.namespace : change.namespace;
}
