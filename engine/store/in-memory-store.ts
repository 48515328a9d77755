/** The in-memory store: the reader, plus writes. For tests, and for caches of memory that is kept elsewhere. */
import { defined } from "../defined.ts";
import { mustJudgeKeys, newerOf, requireReached } from "../rules/conditions.ts";
import { checkSuperseded, historyWithout, isCovered, mayCoverFormer } from "../rules/history.ts";
import {
  keysToBringBack,
  numbered,
  type Plan,
  type PutRules,
  planPut,
  planRenewal,
  planUndo,
  takesMore,
  type Upsert,
} from "../rules/plans.ts";
import type { Quota } from "../rules/quota.ts";
import { KEEP_REMOVALS, pruneTarget } from "./cursors.ts";
import { fingerprintOf, makeEntryId } from "./entry-id.ts";
import { checkNewEntry, isExpired } from "./entry-rules.ts";
import { copyOf, entryOf, type HeldSlot, isMatch, type StoredEntry, slotOf } from "./in-memory-entries.ts";
import { InMemoryReader } from "./in-memory-reader.ts";
import type {
  DecideRenewal,
  DeleteOptions,
  Entry,
  EntryFilter,
  EntryId,
  EntryRef,
  EntryVectors,
  Erasure,
  KeysSince,
  MemoryStore,
  NewEntry,
  PutManyOptions,
  PutOptions,
  PutResult,
  ReferenceVectors,
  RenewOptions,
  Revision,
  StoreGauges,
  Undone,
  UndoOptions,
  UnixMs,
  VectorsQuery,
} from "./memory-store.ts";
import { isWithin, type Namespace } from "./namespace.ts";
import { StoreClock } from "./store-clock.ts";
import { withCorrectedTimes } from "./time-seen.ts";
import {
  checkNewReferences,
  checkNewVectors,
  checkVectorsQuery,
  KEPT_REFERENCE_SPACES,
} from "./vector-rules.ts";

export interface InMemoryStoreOptions {
  /** The clock, in Unix milliseconds. */
  readonly now?: () => UnixMs;
  /** The least number of writes for which the change feed remembers removals. */
  readonly keepRemovals?: number;
  /** A subject's limits, including its sessions; none unless given. */
  readonly quota?: Partial<Quota>;
}

export function createInMemoryStore(options: InMemoryStoreOptions = {}): MemoryStore {
  return new InMemoryStore(options);
}

class InMemoryStore extends InMemoryReader implements MemoryStore {
  readonly #keepRemovals: number;
  readonly #quota: Quota;

  constructor({ now = Date.now, keepRemovals = KEEP_REMOVALS, quota }: InMemoryStoreOptions) {
    super(new StoreClock(now));
    this.#keepRemovals = keepRemovals;
    this.#quota = { entries: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY, ...quota };
  }

  get gauges(): StoreGauges {
    return { quota: this.#quota, isKeyChanging: false };
  }

  async put(entry: NewEntry, options: PutOptions = {}): Promise<PutResult> {
    this.requireOpen();
    checkNewEntry(entry);
    const supersedes = checkSuperseded(entry, options.supersedes);
    this.#observe();
    return this.#transact(() => this.#put(entry, this.now(), { ...options, supersedes }));
  }

  async putMany(
    entries: readonly NewEntry[],
    { keysSince = new Map(), ...rules }: PutManyOptions = {},
  ): Promise<readonly PutResult[]> {
    this.requireOpen();
    for (const entry of entries) checkNewEntry(entry);
    this.#observe();
    for (const [namespace, since] of keysSince) this.#judgeKeys(namespace, since);
    const now = this.now();
    return this.#transact(() => entries.map((entry) => this.#put(entry, now, rules)));
  }

  async undo(ref: EntryRef, options: UndoOptions = {}): Promise<Undone | undefined> {
    this.requireOpen();
    this.#observe();
    const slot = this.#load(ref);
    const others = keysToBringBack(slot).map((key) => this.#load({ ...ref, key }));
    return this.#apply(planUndo({ slot, others }, this.now(), options));
  }

  async renew(ref: EntryRef, decide: DecideRenewal, options: RenewOptions = {}): Promise<Entry | undefined> {
    this.requireOpen();
    this.#observe();
    const slot = this.#load(ref);
    return this.#apply(
      planRenewal({ slot, beside: this.#beside(slot, options) }, decide, this.now(), options),
    );
  }

  async delete({ namespace, origin, key }: EntryRef, options?: DeleteOptions): Promise<Erasure> {
    return this.deleteWhere({ namespace, origins: [origin], key, ...options });
  }

  async deleteWhere(filter: EntryFilter): Promise<Erasure> {
    this.requireOpen();
    requireReached(filter, this.feed.lastSeq);
    return this.#erase(filter);
  }

  async deleteExpired(): Promise<Erasure> {
    this.requireOpen();
    this.#observe();
    const until = this.clock.deletableUntil;
    if (until === undefined) return { deleted: 0, erased: "complete" };
    const expired = [...this.held.values()].filter((held) => isExpired(held.meta.expiresAt, until));
    this.#remove(expired);
    return { deleted: expired.length, erased: "complete" };
  }

  async putVectors(
    namespace: Namespace,
    space: string,
    batch: readonly EntryVectors[],
  ): Promise<readonly EntryId[]> {
    this.requireOpen();
    checkNewVectors(space, batch);
    const made = new Map(batch.map((one) => [one.id, one]));
    return this.named({ namespace, ids: [...made.keys()] }).flatMap(({ meta, content, vectors }) => {
      const fresh = made.get(meta.id);
      if (fresh === undefined || fresh.fingerprint !== fingerprintOf(content.value)) return [];
      vectors.set(space, { ...fresh, vectors: fresh.vectors.slice() });
      return [meta.id];
    });
  }

  async deleteOtherVectors(query: VectorsQuery): Promise<void> {
    this.requireOpen();
    checkVectorsQuery(query);
    for (const { vectors } of this.named(query)) {
      for (const space of vectors.keys()) if (space !== query.space) vectors.delete(space);
    }
  }

  async putReferenceVectors(space: string, made: ReferenceVectors): Promise<void> {
    this.requireOpen();
    checkNewReferences(space, made);
    this.references.delete(space);
    this.references.set(space, { ...made, vectors: made.vectors.slice() });
    const tooMany = this.references.size - KEPT_REFERENCE_SPACES;
    for (const oldest of this.references.keys().take(Math.max(0, tooMany))) this.references.delete(oldest);
  }

  /** Reads the clock. Once it is right, entries written while it was certainly wrong get their true times. */
  #observe(): void {
    const correction = this.clock.observe()?.correction;
    if (correction === undefined) return;
    for (const [slot, held] of this.held) {
      const meta = withCorrectedTimes(held.meta, correction);
      if (meta === held.meta) continue;
      const history = held.history.map((former) => withCorrectedTimes(former, correction));
      this.held.set(slot, { ...held, meta: { ...meta, revision: this.#nextSeq() }, history });
    }
  }

  /** All of `work` or none of it. */
  #transact<T>(work: () => T): T {
    const [feed, removals] = [this.feed, [...this.removals]];
    try {
      return this.held.transact(work);
    } catch (error) {
      this.feed = feed;
      this.removals = removals;
      throw error;
    }
  }

  #put(
    entry: NewEntry,
    now: UnixMs,
    { supersedes = [], keysSince, ...rules }: PutOptions & PutRules,
  ): PutResult {
    this.#judgeKeys(entry.namespace, keysSince);
    const others = supersedes.map((key) => this.#load({ ...entry, key }));
    return this.#apply(planPut({ slot: this.#load(entry), others }, entry, now, rules));
  }

  #beside({ ref: { namespace, origin, key } }: HeldSlot, { besideTag }: RenewOptions): readonly Entry[] {
    if (besideTag === undefined) return [];
    return this.matching({ namespace, origins: [origin], tag: besideTag })
      .filter((held) => held.meta.key !== key && !this.isGone(held))
      .map(entryOf);
  }

  #judgeKeys(namespace: Namespace, keysSince: KeysSince | undefined): void {
    if (!mustJudgeKeys(keysSince, this.feed.lastSeq)) return;
    const written = this.matching({ namespace, origins: ["fact"] }).filter(
      (held) => held.meta.revision > keysSince.revision && !this.isGone(held),
    );
    keysSince.judge(written.map(({ meta }) => meta.key));
  }

  #load({ namespace, origin, key }: EntryRef): HeldSlot {
    const ref = { namespace, origin, key };
    const held = this.held.get(slotOf(ref));
    const entry = held === undefined || this.isGone(held) ? undefined : entryOf(held);
    const history = entry === undefined ? [] : (held?.history ?? []);
    const id = entry?.id ?? makeEntryId();
    return { ref, id, entry, history, sizeBytes: held?.content.value.byteLength, held };
  }

  #apply<Answer>({ remove, upsert, answer }: Plan<HeldSlot, Answer>): Answer {
    this.#remove(remove.flatMap(({ held }) => held ?? []));
    return answer(upsert.map((one) => this.#write(one)));
  }

  #write(upsert: Upsert<HeldSlot>): Revision {
    const { slot, content, history } = upsert;
    const isSame = slot.entry !== undefined && Buffer.compare(slot.entry.value, content.value) === 0;
    const meta = numbered(upsert, this.#nextSeq());
    this.held.set(slotOf(slot.ref), {
      meta,
      content: copyOf(content),
      vectors: (isSame ? slot.held?.vectors : undefined) ?? new Map(),
      history: history?.map(copyOf) ?? slot.history,
    });
    if (upsert.isLimited)
      this.held.keepWithin(this.#quota, meta.namespace, takesMore(upsert, content.value.byteLength));
    return meta.revision;
  }

  /** Erases what a filter covers, also from other facts' histories. */
  #erase(filter: EntryFilter): Erasure {
    const { upTo = Number.MAX_SAFE_INTEGER, ...scope } = filter;
    const erasure = this.#remove(this.matching(filter));
    const newer = this.matching(scope).filter(({ meta }) => meta.revision > upTo);
    let former = 0;
    for (const [slot, held] of mayCoverFormer(filter) ? this.held : []) {
      if (!isWithin(held.meta.namespace, filter) || isMatch(held.meta, scope)) continue;
      const history = historyWithout(held.history, (one) => isCovered(one, filter));
      if (history.length === held.history.length) continue;
      if (held.meta.revision > upTo) newer.push(held);
      else this.held.set(slot, { ...held, history });
      former += held.meta.revision > upTo ? 0 : held.history.length - history.length;
    }
    const stays = newer
      .filter((held) => !this.isGone(held))
      .sort((a, b) => a.meta.revision - b.meta.revision)
      .map(({ meta }) => meta.key);
    return {
      ...erasure,
      ...(former > 0 && { former }),
      ...defined({ newer: newerOf(stays.length, stays) }),
    };
  }

  #remove(doomed: readonly StoredEntry[]): Erasure {
    for (const { meta } of doomed) {
      this.held.delete(slotOf(meta));
      this.removals.push({ namespace: meta.namespace, id: meta.id, seq: this.#nextSeq() });
    }
    this.#prune();
    return { deleted: doomed.filter((held) => !this.isGone(held)).length, erased: "complete" };
  }

  #prune(): void {
    const { lastSeq, prunes } = this.feed;
    const target = pruneTarget(lastSeq, this.removals[0]?.seq, this.#keepRemovals);
    if (target === undefined) return;
    this.removals = this.removals.filter((removal) => removal.seq > target);
    this.feed = { lastSeq, prunedThrough: target, prunes: prunes + 1 };
  }

  #nextSeq(): number {
    this.feed = { ...this.feed, lastSeq: this.feed.lastSeq + 1 };
    return this.feed.lastSeq;
  }
}
