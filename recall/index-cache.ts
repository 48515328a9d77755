/** The indexes of the namespaces in memory: built from their source, kept current, dropped when others need the room. */
import { type CorpusEntry, HelmdeckError, type Namespace, nextTurn, within } from "../engine/index.ts";
import { TextAnalyser } from "./analysis/terms-of-text.ts";
import { LexicalIndex } from "./lexical/lexical-index.ts";
import type { CorpusChanges, CorpusSource } from "./search-contract.ts";
import type { SemanticIndex, VectorFollower } from "./vectors/semantic-contract.ts";

export interface IndexCacheOptions {
  readonly source: CorpusSource;
  /** Is told what every index is told. */
  readonly semantic?: SemanticIndex;
  /** Namespaces whose index is kept in memory; the least recently used one is dropped. Default 16. */
  readonly maxNamespaces?: number;
  /** Rows asked of the source at a time. Default 250. */
  readonly batchSize?: number;
}

/** Whose index is in memory at a time; it is read again when it is asked for again. */
export const OPEN_NAMESPACES = 16;
const BATCH_ROWS = 250;
/** Longest stretch of indexing between two turns of the event loop. */
const SLICE_MS = 4;

/** The namespaces whose index is in memory, least recently used first. */
export class IndexCache {
  readonly #options: IndexCacheOptions;
  readonly #indexes = new Map<Namespace, NamespaceIndex>();
  #isClosed = false;

  constructor(options: IndexCacheOptions) {
    this.#options = options;
  }

  /** What is in use is not dropped, so that no search sees its index vanish. */
  async use<T>(namespace: Namespace, work: (namespaceIndex: NamespaceIndex) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw closedError();
    const namespaceIndex = this.#indexes.get(namespace) ?? new NamespaceIndex(namespace, this.#options);
    this.#indexes.delete(namespace);
    this.#indexes.set(namespace, namespaceIndex);
    namespaceIndex.users += 1;
    try {
      return await work(namespaceIndex);
    } finally {
      namespaceIndex.users -= 1;
      this.#dropOldest();
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const namespaceIndex of this.#indexes.values()) namespaceIndex.drop();
    this.#indexes.clear();
  }

  #dropOldest(): void {
    for (const [namespace, namespaceIndex] of this.#indexes) {
      if (this.#indexes.size <= (this.#options.maxNamespaces ?? OPEN_NAMESPACES)) return;
      if (namespaceIndex.users > 0) continue;
      namespaceIndex.drop();
      this.#indexes.delete(namespace);
    }
  }
}

/** What a search looks through. */
export interface IndexView {
  readonly index: LexicalIndex;
  /** Records of tool calls, of which there are hundreds for each fact: apart, so that no fact is weighed by them. */
  readonly calls: LexicalIndex;
}

/** One namespace's index and how far it has read its source. */
export class NamespaceIndex implements IndexView {
  index = new LexicalIndex();
  calls = new LexicalIndex();
  /** Calls that are using it now. */
  users = 0;
  readonly #namespace: Namespace;
  readonly #options: IndexCacheOptions;
  readonly #follower: VectorFollower | undefined;
  #cursor = 0;
  #mustStartOver = false;
  #dropped = false;
  /** At most one; the next one waits for it. */
  #running: Promise<IndexView> | undefined;
  #next: Promise<IndexView> | undefined;

  constructor(namespace: Namespace, options: IndexCacheOptions) {
    this.#namespace = namespace;
    this.#options = options;
    this.#follower = options.semantic?.follow(namespace, () => this.#readAgain());
  }

  /**
   * Reads the source to its end, so that everything written before the call is seen. Calls share the next reading, never the one
   * under way: what was written meanwhile may lie before the place it has read to. Never two at once: the one with the older
   * page could come last.
   *
   * What it answers stays whole when a later reading starts over, and empties the index.
   */
  catchUp(): Promise<IndexView> {
    const start = () => this.#start();
    if (this.#running === undefined) return this.#next ?? start();
    this.#next ??= this.#running.then(start, start);
    return this.#next;
  }

  #start(): Promise<IndexView> {
    this.#next = undefined;
    this.#running = this.#readAll().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /** Undefined when the index is still incomplete after the given time; reading goes on in the background. */
  async catchUpWithin(patienceMs: number): Promise<IndexView | undefined> {
    return within(patienceMs, this.catchUp(), () => undefined); // after that, the next search meets an error again
  }

  drop(): void {
    this.#dropped = true;
    this.#empty();
    this.#follower?.drop();
  }

  async #readAll(): Promise<IndexView> {
    const limit = this.#options.batchSize ?? BATCH_ROWS;
    const analyser = new TextAnalyser();
    if (this.#mustStartOver) this.#startOver();
    let startedOver = false;
    for (let more = true; more; ) {
      const page = await this.#options.source.changes(this.#namespace, this.#cursor, limit);
      if (this.#dropped) throw closedError();
      if (page.kind === "changes") {
        await this.#apply(page, analyser);
        more = page.more;
        continue;
      }
      if (startedOver) throw new HelmdeckError("internal", "The corpus source asked twice to start over.");
      startedOver = true;
      this.#startOver();
    }
    this.#follower?.caughtUp();
    return { index: this.index, calls: this.calls };
  }

  #startOver(): void {
    this.#mustStartOver = false;
    this.#empty();
    this.#follower?.startOver();
    this.#cursor = 0;
  }

  #empty(): void {
    this.index = new LexicalIndex();
    this.calls = new LexicalIndex();
  }

  /** In the background; who searches meanwhile meets what goes wrong. */
  #readAgain(): void {
    this.#mustStartOver = true;
    this.catchUp().catch(() => undefined);
  }

  async #apply({ upserts, removed, cursor, more }: ChangesPage, analyser: TextAnalyser): Promise<void> {
    if (more && cursor <= this.#cursor) {
      throw new HelmdeckError("internal", "The corpus source says that there is more, but does not go on.");
    }
    // What a tool did is found by its words and its time: no service is sent thousands of such texts.
    this.#follower?.changed(
      upserts.filter(({ kind }) => kind !== "tool"),
      removed,
    );
    for (const id of removed) for (const index of [this.index, this.calls]) index.remove(id);
    if (more) await nextTurn();
    await this.#addAll(upserts, analyser);
    this.#cursor = cursor;
  }

  async #addAll(entries: readonly CorpusEntry[], analyser: TextAnalyser): Promise<void> {
    let sliceStart = performance.now();
    for (const entry of entries) {
      if (this.#dropped) throw closedError();
      (entry.kind === "tool" ? this.calls : this.index).add(entry, analyser);
      if (performance.now() - sliceStart < SLICE_MS) continue;
      await nextTurn();
      sliceStart = performance.now();
    }
  }
}

type ChangesPage = Extract<CorpusChanges, { readonly kind: "changes" }>;

function closedError(): HelmdeckError {
  return new HelmdeckError("store_unavailable", "Recall is closed: open memory again.");
}
