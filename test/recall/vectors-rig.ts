/** Semantic search without a model: an embedder that makes vectors from a text's words, a store, its feed, and a manual timer. */
import { onTestFinished } from "vitest";
import { recallOverStore } from "../../app/corpus-pages.ts";
import { vectorCacheOver } from "../../app/embedding/open-embeddings.ts";
import type { MemoryStore } from "../../engine/store/memory-store.ts";
import { type Namespace, namespaceOf } from "../../engine/store/namespace.ts";
import { openStoreInMemory } from "../../engine/store/sqlite/open-in-memory.ts";
import type { Timer } from "../../engine/timing.ts";
import type { Embedder, Embeddings, EmbedOptions } from "../../recall/embedder.ts";
import type { SemanticHit, SemanticIndex, VectorFollower } from "../../recall/vectors/semantic-contract.ts";
import { createSemanticIndex, type SemanticIndexOptions } from "../../recall/vectors/semantic-index.ts";

export const ANA = namespaceOf("ana");
export const BEN = namespaceOf("ben");

/** Texts with the same words have the same vector. The fewer words two texts share, the less similar their vectors are. */
export class WordEmbedder implements Embedder {
  readonly model: string;
  readonly space: string;
  readonly dimensions: number | undefined;
  readonly #width: number;
  /** The texts of each embedDocuments call. */
  readonly calls: (readonly string[])[] = [];
  /** If set, calls wait for it and ignore their signal. */
  gate: Promise<void> | undefined;
  /** If set, calls throw the error that it returns. */
  failing: ((texts: readonly string[]) => Error | undefined) | undefined;
  /** If set, calls return its result. */
  answering: ((vectors: readonly Float32Array[]) => readonly Float32Array[]) | undefined;
  #onCall: (() => void)[] = [];

  constructor(model = "words", width = 96) {
    this.model = model;
    this.space = `space of ${model}`;
    this.#width = width;
  }

  async embedDocuments(texts: readonly string[], _options?: EmbedOptions): Promise<Embeddings> {
    this.calls.push(texts);
    for (const tell of this.#onCall.splice(0)) tell();
    await this.gate;
    const failure = this.failing?.(texts);
    if (failure !== undefined) throw failure;
    const vectors = texts.map((text) => this.vectorOf(text));
    return { vectors: this.answering?.(vectors) ?? vectors, truncated: [] };
  }

  async embedQuery(text: string): Promise<Float32Array> {
    return this.vectorOf(text);
  }

  close(): void {
    this.gate = undefined;
  }

  /** Resolves at the next embedDocuments call. */
  called(): Promise<void> {
    return new Promise((resolve) => this.#onCall.push(resolve));
  }

  vectorOf(text: string): Float32Array {
    const vector = new Float32Array(this.#width);
    for (const word of `${this.model} ${text}`.toLowerCase().match(/\w+/g) ?? []) addWord(vector, word);
    const length = Math.hypot(...vector);
    return vector.map((number) => number / length);
  }
}

/** Adds the word's own pseudo-random direction. */
function addWord(vector: Float32Array, word: string): void {
  let state = [...word].reduce(
    (hash, letter) => Math.imul(hash ^ letter.charCodeAt(0), 16_777_619),
    2_166_136_261,
  );
  for (let i = 0; i < vector.length; i += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    vector[i] = (vector[i] ?? 0) + state / 2 ** 31 - 1;
  }
}

/** A timer that runs when the test calls it. */
class HandTimer {
  readonly pauses: number[] = [];
  readonly #waiting: (() => void)[] = [];
  #onSet: (() => void)[] = [];

  readonly timer: Timer = (callback, delayMs) => {
    this.pauses.push(delayMs);
    this.#waiting.push(callback);
    for (const tell of this.#onSet.splice(0)) tell();
    return () => {
      const at = this.#waiting.indexOf(callback);
      if (at !== -1) this.#waiting.splice(at, 1);
    };
  };

  /** Resolves when a callback is waiting. */
  async isSet(): Promise<void> {
    if (this.#waiting.length === 0) await new Promise<void>((resolve) => this.#onSet.push(resolve));
  }

  fire(): void {
    for (const callback of this.#waiting.splice(0)) callback();
  }

  get waiting(): number {
    return this.#waiting.length;
  }
}

interface RigOptions extends Partial<SemanticIndexOptions> {
  readonly store?: MemoryStore;
  readonly embedder?: WordEmbedder;
}

export class SemanticRig {
  readonly store: MemoryStore;
  readonly embedder: WordEmbedder;
  readonly hand = new HandTimer();
  readonly index: SemanticIndex;
  readonly #feeds = new Map<Namespace, { readonly follower: VectorFollower; cursor: number }>();

  constructor(store: MemoryStore, { embedder = new WordEmbedder(), ...more }: RigOptions) {
    this.store = store;
    this.embedder = embedder;
    this.index = createSemanticIndex({
      cache: vectorCacheOver(store),
      timer: this.hand.timer,
      random: () => 0.5,
      ...more,
      embedder,
    });
  }

  async put(key: string, value: string, namespace = ANA): Promise<void> {
    const category = "user_facts";
    await this.store.put({ namespace, origin: "fact", key, value: Buffer.from(value), category, tags: [] });
  }

  async forget(key: string, namespace = ANA): Promise<void> {
    await this.store.delete({ namespace, origin: "fact", key });
  }

  /** Passes the store's changes to the index. */
  async catchUp(namespace = ANA): Promise<void> {
    const feed = this.#feeds.get(namespace) ?? this.#follow(namespace);
    for (let more = true; more; ) {
      const changes = await recallOverStore(this.store).changes(namespace, feed.cursor, 1_000);
      if (changes.kind === "start_over") throw new Error("the store remembers all of it");
      feed.follower.changed(changes.upserts, changes.removed);
      ({ cursor: feed.cursor, more } = changes);
    }
    feed.follower.caughtUp();
  }

  /** Passes the changes, and holds what the embedder then makes until the returned function is called. */
  async catchUpHeld(): Promise<() => void> {
    const gate = Promise.withResolvers<void>();
    this.embedder.gate = gate.promise;
    const called = this.embedder.called();
    await this.catchUp();
    await called;
    return gate.resolve;
  }

  async catchUpAndSettle(namespace = ANA): Promise<void> {
    await this.catchUp(namespace);
    await this.index.settled(namespace);
  }

  drop(namespace = ANA): void {
    this.#feeds.get(namespace)?.follower.drop();
    this.#feeds.delete(namespace);
  }

  /** Searches with the embedder of the vectors in use. */
  async search(text: string, namespace = ANA, limit = 3): Promise<readonly SemanticHit[]> {
    const embedder = this.index.serving(namespace);
    if (embedder === undefined) return [];
    const question = { space: embedder.space, vector: await embedder.embedQuery(text) };
    return this.index.search(namespace, question, limit);
  }

  /** Keys of the hits, for all namespaces. */
  async keysFor(text: string, namespace = ANA, limit = 3): Promise<readonly string[]> {
    const names = new Map<string, string>();
    for (const { namespace: one } of await this.store.namespaces()) {
      const { entries } = await this.store.listMeta({ namespace: one, limit: 1_000 });
      for (const { id, key } of entries) names.set(id, key);
    }
    const hits = await this.search(text, namespace, limit);
    return hits.map(({ id }) => names.get(id) ?? "gone");
  }

  /** The number of Ana's entries with vectors in the store. */
  async keptCount(embedder: Embedder = this.embedder, namespace = ANA): Promise<number> {
    const { entries } = await this.store.listMeta({ namespace, limit: 1_000 });
    const space = `1:${embedder.space}`;
    return (await this.store.vectors({ namespace, space, ids: entries.map(({ id }) => id) })).length;
  }

  #follow(namespace: Namespace) {
    const feed = { cursor: 0, follower: this.index.follow(namespace, () => this.#readAgain(namespace)) };
    this.#feeds.set(namespace, feed);
    return feed;
  }

  #readAgain(namespace: Namespace): void {
    const feed = this.#feeds.get(namespace);
    if (feed === undefined) return;
    feed.cursor = 0;
    feed.follower.startOver();
  }
}

/** Opens a rig that is closed at the end of the test. */
export async function openSemanticRig({ store, ...options }: RigOptions = {}): Promise<SemanticRig> {
  const rig = new SemanticRig(store ?? (await openStoreInMemory()), options);
  onTestFinished(() => rig.index.close());
  return rig;
}

export async function untilIdle({ index }: SemanticRig): Promise<void> {
  while (index.status().state !== "idle") await aFewTurns();
}

export async function aFewTurns(): Promise<void> {
  for (let i = 0; i < 5; i += 1) await new Promise((resolve) => setImmediate(resolve));
}
