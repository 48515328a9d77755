/** The vectors of one namespace: which entries have some, which must be looked up in the cache, and which must be embedded. */
import type { EntryId, EntryVectors, Fingerprint } from "../../engine/store/memory-store.ts";
import type { Namespace } from "../../engine/store/namespace.ts";
import type { Embedder } from "../embedder.ts";
import type { EntryText } from "../lexical/indexed-document.ts";
import type { Coverage, VectorFollower } from "./semantic-contract.ts";
import { VectorIndex, type VectorIndexOptions } from "./vector-index.ts";

export interface Waiting {
  readonly entry: EntryText;
  /** How often the service refused this entry alone, and how many entries it had accepted before the first refusal. */
  refusals: number;
  takenBefore: number;
}

/** Average sizes beside the vectors' numbers. */
const OBJECT_BYTES = { passage: 200, entry: 150, waiting: 500 };

export class ModelIndex {
  readonly embedder: Embedder;
  readonly #options: VectorIndexOptions;
  /** Undefined until there are vectors. */
  index: VectorIndex | undefined;

  constructor(embedder: Embedder, options: VectorIndexOptions) {
    this.embedder = embedder;
    this.#options = options;
  }

  /** How many entries have vectors. */
  get size(): number {
    return this.index?.entryCount ?? 0;
  }

  get sizeBytes(): number {
    return (this.index?.sizeBytes ?? 0) + (this.index?.passageCount ?? 0) * OBJECT_BYTES.passage;
  }

  /** Does nothing when their dimensions differ from the existing ones. */
  add({ id, dimensions, vectors }: EntryVectors): void {
    this.index ??= new VectorIndex(dimensions, this.#options);
    if (this.index.dimensions === dimensions) this.index.set(id, vectors);
  }
}

interface Hooks {
  readonly readAgain: (() => void) | undefined;
  /** Called when vectors were added. */
  readonly grown: (() => void) | undefined;
  readonly onChange: (changed: NamespaceVectors) => void;
  /** Whether missing entries are embedded in the background. */
  readonly embeds: () => boolean;
}

export class NamespaceVectors implements VectorFollower {
  readonly namespace: Namespace;
  readonly hooks: Hooks;
  isDropped = false;
  /** The model to embed with. */
  readonly target: ModelIndex;
  /** The previous model, until the target is complete. */
  former: ModelIndex | undefined;
  /** Whether the cache was searched for other spaces; and whether it has any, to delete once the target is complete. */
  hasLookedAround = false;
  hasOtherSpaces = false;
  /** To be looked up in the cache. */
  readonly unread = new Map<EntryId, EntryText>();
  /** Not in the cache: to be embedded. */
  readonly missing = new Map<EntryId, Waiting>();
  readonly #refused = new Set<EntryId>();
  readonly #values = new Map<EntryId, Fingerprint>();
  #waiters: (() => void)[] = [];

  constructor(namespace: Namespace, target: ModelIndex, hooks: Hooks) {
    this.namespace = namespace;
    this.target = target;
    this.hooks = hooks;
  }

  changed(upserts: readonly EntryText[], removed: readonly EntryId[]): void {
    for (const id of removed) this.#forget(id);
    for (const entry of upserts) {
      if (this.#values.get(entry.id) !== entry.fingerprint) {
        this.#forget(entry.id);
        this.#values.set(entry.id, entry.fingerprint);
      } else if (this.missing.has(entry.id) || this.#refused.has(entry.id)) continue;
      // Also when the value is the same: it may have changed in between, which deleted the cached vectors.
      this.unread.set(entry.id, entry);
    }
    this.#tellWaiters();
  }

  caughtUp(): void {
    this.hooks.onChange(this);
  }

  startOver(): void {
    for (const id of [...this.#values.keys()]) this.#forget(id);
    this.target.index = undefined;
    this.former = undefined;
    this.hasLookedAround = false;
  }

  drop(): void {
    this.startOver();
    this.isDropped = true;
    this.#tellWaiters();
    this.hooks.onChange(this);
  }

  get ids(): readonly EntryId[] {
    return [...this.#values.keys()];
  }

  /** Whether the entry still has the value that the vectors stand for. */
  isCurrent({ id, fingerprint }: Pick<EntryVectors, "id" | "fingerprint">): boolean {
    return this.#values.get(id) === fingerprint;
  }

  /** Whether nothing is left to load or embed here. */
  get isSettled(): boolean {
    return this.unread.size === 0 && (this.missing.size === 0 || !this.hooks.embeds());
  }

  get sizeBytes(): number {
    const waiting = this.unread.size + this.missing.size;
    const objects = this.#values.size * OBJECT_BYTES.entry + waiting * OBJECT_BYTES.waiting;
    return objects + this.target.sizeBytes + (this.former?.sizeBytes ?? 0);
  }

  /** The model with vectors of more entries. */
  get serving(): ModelIndex {
    const { former, target } = this;
    return former !== undefined && former.size > target.size ? former : target;
  }

  /** The model with vectors comparable to a question of this space. */
  modelIndexOf(space: string): ModelIndex | undefined {
    return [this.target, this.former].find((modelIndex) => modelIndex?.embedder.space === space);
  }

  /** Adds the target's vectors for a current value. */
  take(made: EntryVectors): void {
    this.unread.delete(made.id);
    this.missing.delete(made.id);
    this.target.add(made);
    this.#tellWaiters();
  }

  /** The entry is not in the cache. */
  miss(entry: EntryText): void {
    this.unread.delete(entry.id);
    this.missing.set(entry.id, { entry, refusals: 0, takenBefore: 0 });
    this.#tellWaiters();
  }

  /** Moves it to the end of the queue, so that it does not block others. */
  putOff(waiting: Waiting): void {
    if (this.missing.get(waiting.entry.id) !== waiting) return;
    this.missing.delete(waiting.entry.id);
    this.missing.set(waiting.entry.id, waiting);
  }

  /** Not retried until its value changes. */
  giveUp(waiting: Waiting): void {
    this.letGo(waiting);
    if (this.isCurrent(waiting.entry)) this.#refused.add(waiting.entry.id);
  }

  /** The entry was removed or has a new value; the change feed will report it. */
  letGo(waiting: Waiting): void {
    if (this.missing.get(waiting.entry.id) === waiting) this.missing.delete(waiting.entry.id);
    this.#tellWaiters();
  }

  settled(): Promise<void> {
    if (this.isSettled || this.isDropped) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  get coverage(): Coverage {
    return { embedded: this.serving.size, total: this.#values.size, refused: this.#refused.size };
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
    if (!this.isSettled && !this.isDropped) return;
    for (const tell of this.#waiters.splice(0)) tell();
  }
}
