/** What is known of one namespace: which values have vectors, which wait to be looked up in the cache, which to be embedded. */
import type { CorpusEntry, EntryId, EntryVectors, Fingerprint, Namespace } from "../../engine/index.ts";
import type { Embedder } from "../embedder.ts";
import type { Coverage, VectorFollower } from "./semantic-contract.ts";
import { VectorIndex, type VectorIndexOptions } from "./vector-index.ts";

/** An entry without vectors. */
export interface Waiting {
  readonly entry: CorpusEntry;
  /** How often the service refused it when it was asked for it alone, and how many others it had taken by the first time. */
  refusals: number;
  takenBefore: number;
}

/** A model and what it made of the namespace. */
export class ModelIndex {
  readonly embedder: Embedder;
  readonly #options: VectorIndexOptions;
  #index: VectorIndex | undefined;

  constructor(embedder: Embedder, options: VectorIndexOptions) {
    this.embedder = embedder;
    this.#options = options;
  }

  get index(): VectorIndex | undefined {
    return this.#index;
  }

  /** How many entries have vectors. */
  get size(): number {
    return this.#index?.entryCount ?? 0;
  }

  /** False when they are of other dimensions than what is there. */
  add({ id, dimensions, vectors }: EntryVectors): boolean {
    this.#index ??= new VectorIndex(dimensions, this.#options);
    if (this.#index.dimensions !== dimensions) return false;
    this.#index.set(id, vectors);
    return true;
  }

  clear(): void {
    this.#index = undefined;
  }
}

export class NamespaceVectors implements VectorFollower {
  readonly namespace: Namespace;
  readonly readAgain: (() => void) | undefined;
  /** The model to embed with. */
  readonly target: ModelIndex;
  /** The model before it, until the target has all. */
  former: ModelIndex | undefined;
  /** Whether the cache was asked for other spaces; and if it has any, which are to go once the target has all. */
  hasLookedAround = false;
  hasOtherSpaces = false;
  /** To be looked up in the cache. */
  readonly unread = new Map<EntryId, CorpusEntry>();
  /** Not in the cache: to be embedded. */
  readonly missing = new Map<EntryId, Waiting>();
  readonly #refused = new Set<EntryId>();
  readonly #values = new Map<EntryId, Fingerprint>();
  readonly #onChange: () => void;
  readonly #embeds: () => boolean;
  #isDropped = false;
  #waiters: (() => void)[] = [];

  constructor(parts: {
    readonly namespace: Namespace;
    readonly target: ModelIndex;
    readonly readAgain: (() => void) | undefined;
    readonly onChange: () => void;
    /** Whether what is missing is embedded by itself. */
    readonly embeds: () => boolean;
  }) {
    this.namespace = parts.namespace;
    this.target = parts.target;
    this.readAgain = parts.readAgain;
    this.#onChange = parts.onChange;
    this.#embeds = parts.embeds;
  }

  changed(upserts: readonly CorpusEntry[], removed: readonly EntryId[]): void {
    for (const id of removed) this.#forget(id);
    for (const entry of upserts) {
      if (this.#values.get(entry.id) !== entry.fingerprint) {
        this.#forget(entry.id);
        this.#values.set(entry.id, entry.fingerprint);
      } else if (this.missing.has(entry.id) || this.#refused.has(entry.id)) continue;
      // Also where the value is the same: between two looks it may have been another, and the kept vectors went with that one.
      this.unread.set(entry.id, entry);
    }
    this.#tellWaiters();
  }

  caughtUp(): void {
    this.#onChange();
  }

  startOver(): void {
    for (const id of [...this.#values.keys()]) this.#forget(id);
    this.target.clear();
    this.former = undefined;
    this.hasLookedAround = false;
  }

  drop(): void {
    this.startOver();
    this.#isDropped = true;
    this.#tellWaiters();
    this.#onChange();
  }

  get isDropped(): boolean {
    return this.#isDropped;
  }

  get ids(): readonly EntryId[] {
    return [...this.#values.keys()];
  }

  /** Whether the entry still has the value that these were made of. */
  isCurrent({ id, fingerprint }: Pick<EntryVectors, "id" | "fingerprint">): boolean {
    return this.#values.get(id) === fingerprint;
  }

  /** Nothing is left to load or embed, as far as that is done here. */
  get isSettled(): boolean {
    return this.unread.size === 0 && (this.missing.size === 0 || !this.#embeds());
  }

  /** The one that has vectors of more entries. */
  get serving(): ModelIndex {
    const { former, target } = this;
    return former !== undefined && former.size > target.size ? former : target;
  }

  /** The one whose vectors a question of this space can be compared with. */
  modelIndexOf(space: string): ModelIndex | undefined {
    return [this.target, this.former].find((modelIndex) => modelIndex?.embedder.space === space);
  }

  /** Takes in what the target made of a value that is current. False: of other dimensions than the rest. */
  take(made: EntryVectors): boolean {
    this.unread.delete(made.id);
    this.missing.delete(made.id);
    const fits = this.target.add(made);
    this.#tellWaiters();
    return fits;
  }

  /** Was looked up, and is not in the cache. */
  miss(entry: CorpusEntry): void {
    this.unread.delete(entry.id);
    this.missing.set(entry.id, { entry, refusals: 0, takenBefore: 0 });
    this.#tellWaiters();
  }

  /** To the end of the queue, so that it holds nobody up. */
  putOff(waiting: Waiting): void {
    if (this.missing.get(waiting.entry.id) !== waiting) return;
    this.missing.delete(waiting.entry.id);
    this.missing.set(waiting.entry.id, waiting);
  }

  /** Not tried again until its value changes. */
  giveUp(waiting: Waiting): void {
    this.letGo(waiting);
    if (this.isCurrent(waiting.entry)) this.#refused.add(waiting.entry.id);
  }

  /** Its entry is gone from the store, or has another value: the feed will say so. */
  letGo(waiting: Waiting): void {
    if (this.missing.get(waiting.entry.id) === waiting) this.missing.delete(waiting.entry.id);
    this.#tellWaiters();
  }

  settled(): Promise<void> {
    if (this.isSettled || this.#isDropped) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  get coverage(): Coverage {
    return {
      embedded: this.serving.size,
      total: this.#values.size,
      refused: this.#refused.size,
    };
  }

  #forget(id: EntryId): void {
    this.#values.delete(id);
    this.unread.delete(id);
    this.missing.delete(id);
    this.#refused.delete(id);
    this.target.index?.remove(id);
    this.former?.index?.remove(id);
  }

  #tellWaiters(): void {
    if (!this.isSettled && !this.#isDropped) return;
    for (const tell of this.#waiters.splice(0)) tell();
  }
}
