/**
 * One namespace's index: built from its source, kept current, and measured. A copy of a large one is kept for the next start: as parts
 * of about a megabyte, each made and read in one short step.
 */
import { debuglog } from "node:util";
import { deserialize, serialize } from "node:v8";
import { HelmdeckError } from "../engine/errors.ts";
import type { CorpusEntry } from "../engine/projections/corpus.ts";
import type { IndexSnapshots } from "../engine/store/memory-store.ts";
import type { Namespace } from "../engine/store/namespace.ts";
import { nextTurn, within } from "../engine/timing.ts";
import { textOfDocument } from "./lexical/indexed-document.ts";
import { type IndexPart, type IndexView, LexicalIndex } from "./lexical/lexical-index.ts";
import type { ReadMeaning } from "./related-facts.ts";
import type { CorpusChanges, CorpusSource } from "./search-contract.ts";
import type { SemanticIndex, VectorFollower } from "./vectors/semantic-contract.ts";

export interface NamespaceIndexOptions {
  readonly source: CorpusSource;
  /** Receives the same changes as every index. */
  readonly semantic?: SemanticIndex;
  /** Rows to request from the source at a time. Default 250. */
  readonly batchSize?: number;
  /** Waits for a place among the large memories that are read for the first time; the result gives it back. Default: no wait. */
  readonly turn?: () => Promise<() => void>;
  /** Where copies of large indexes are kept. Default: nowhere. */
  readonly snapshots?: SnapshotOptions;
  /** How near facts are to each other, if a model has read them. Never rejects. */
  readonly meaning?: (namespace: Namespace, view: IndexView) => Promise<ReadMeaning | undefined>;
  /** A reading of the source ended after this time, its wait for a turn included. */
  readonly onRead?: (tookMs: number) => void;
}

export interface SnapshotOptions {
  /** The open store's; undefined when it keeps none. */
  readonly kept: () => IndexSnapshots | undefined;
  /** The program's version. */
  readonly version: string;
  /** From how many documents on an index is copied: a smaller one is built in less than a fifth of a second. Default 2,000. */
  readonly largeDocuments?: number;
}

const LARGE_DOCUMENTS = 2_000;
/** Increment when the same entries give another index (texts, terms, passages), or when parts have another form; a test notices. */
const FORMAT = 3;
const BATCH_ROWS = 250;
/** Longest stretch of indexing before yielding to the event loop. */
const SLICE_MS = 4;
/** A copy is replaced when more than one entry of so many has changed since. */
const MOST_CHANGED = 10;

/** On stderr with NODE_DEBUG=helmdeck-recall: how far each index has read. */
const debug = debuglog("helmdeck-recall");

export class NamespaceIndex implements IndexView {
  index = new LexicalIndex();
  toolCalls: LexicalIndex | undefined;
  /** Calls in progress. */
  users = 0;
  readonly #namespace: Namespace;
  readonly #options: NamespaceIndexOptions;
  readonly #onChange: () => void;
  readonly #follower: VectorFollower | undefined;
  #cursor = 0;
  #mustStartOver = false;
  #dropped = false;
  #waitsForTurn = false;
  #isRelating = false;
  /** Whether a copy was looked for, whether the source was read to its end, and how many entries have changed since there was one. */
  #hasLooked = false;
  #isComplete = false;
  #changedSinceCopy = Number.POSITIVE_INFINITY;
  /** At most one reading runs; the next one waits for it. */
  #running: Promise<IndexView> | undefined;
  #next: Promise<IndexView> | undefined;
  /** Settles when a page was indexed and others follow. */
  #progress = Promise.withResolvers<void>();

  /** @param onChange called when its size may have changed, and when a reading ends */
  constructor(namespace: Namespace, options: NamespaceIndexOptions, onChange: () => void = () => undefined) {
    this.#namespace = namespace;
    this.#options = options;
    this.#onChange = onChange;
    const grown = () => {
      onChange();
      this.relateLater();
    };
    this.#follower = options.semantic?.follow(namespace, () => this.#readAgain(), grown);
  }

  /** A search uses it, or a reading runs. */
  get isBusy(): boolean {
    return this.users > 0 || this.#running !== undefined;
  }

  /** No vectors are left to load or to embed. */
  get isSettled(): boolean {
    return this.#follower?.isSettled ?? true;
  }

  /** Memory in use, vectors included; objects are counted by their average size. */
  get sizeBytes(): number {
    return this.index.sizeBytes + (this.toolCalls?.sizeBytes ?? 0) + (this.#follower?.sizeBytes ?? 0);
  }

  /**
   * Reads the source to its end, so that everything written before the call is found. Concurrent calls share the next reading, never
   * the running one, which may have passed the place of a new write. The view stays intact when a later reading starts over.
   */
  catchUp(): Promise<IndexView> {
    const start = () => this.#start();
    if (this.#running === undefined) return this.#next ?? start();
    this.#next ??= this.#running.then(start, start);
    return this.#next;
  }

  #start(): Promise<IndexView> {
    this.#next = undefined;
    const begun = performance.now();
    this.#running = this.#readAll().finally(() => {
      for (const index of [this.index, this.toolCalls]) index?.endBatch();
      this.#running = undefined;
      this.#options.onRead?.(performance.now() - begun);
      this.#onChange();
    });
    return this.#running;
  }

  /** Undefined when it is incomplete after this time, and reads on. A silent source is waited for: nobody else knows what was forgotten. */
  async catchUpWithin(patienceMs: number): Promise<IndexView | undefined> {
    const progressed = this.#progress.promise.then(() => undefined);
    const read = this.catchUp();
    read.catch(() => undefined); // when it fails later, the next search reports it again
    const view = await within(patienceMs, read, () => undefined);
    return view ?? (this.#waitsForTurn ? undefined : Promise.race([read, progressed]));
  }

  /** Compares its facts in the background, as long as nobody searches; the next search's end continues. */
  relateLater(): void {
    if (this.#isRelating || this.#dropped) return;
    this.#isRelating = true;
    void this.#relate().finally(() => {
      this.#isRelating = false;
    });
  }

  async #relate(): Promise<void> {
    const { meaning } = this.#options;
    for (let isMore = true; isMore; ) {
      const view = { index: this.index, toolCalls: this.toolCalls };
      const read = await meaning?.(this.#namespace, view);
      await nextTurn();
      if (this.#dropped || this.isBusy || view.index !== this.index) return;
      isMore = this.index.related.relateUntil(performance.now() + SLICE_MS, read);
      this.#changedSinceCopy += Number(isMore);
    }
  }

  /** Keeps a copy for the next start, if it is large, complete and has no good one. Never rejects. */
  async save(): Promise<void> {
    const { snapshots } = this.#options;
    const kept = snapshots?.kept();
    if (snapshots === undefined || kept === undefined || !this.#isComplete || !this.#isLarge()) return;
    try {
      const view = await this.catchUp();
      const [build, cursor] = [buildOf(snapshots), this.#cursor];
      const isGood = this.#changedSinceCopy < this.#documentCount / MOST_CHANGED;
      if (!this.#isLarge() || (isGood && (await kept.has(this.#namespace, build)))) return;
      const isCurrent = (): boolean => this.#cursor === cursor && !this.#dropped;
      if (await kept.save(this.#namespace, { build, cursor }, partsOf(view, isCurrent)))
        this.#changedSinceCopy = 0;
    } catch (error) {
      debug("%s: no copy was kept: %s", this.#namespace, error instanceof Error ? error.message : "");
    }
  }

  get #documentCount(): number {
    return this.index.documentCount + (this.toolCalls?.documentCount ?? 0);
  }

  #isLarge(): boolean {
    return this.#documentCount >= (this.#options.snapshots?.largeDocuments ?? LARGE_DOCUMENTS);
  }

  /** From a copy, if there is one. What is wrong with it does not matter: the rows are there. */
  async #restore(snapshots: SnapshotOptions): Promise<void> {
    this.#hasLooked = true;
    try {
      const copy = await snapshots.kept()?.load(this.#namespace, buildOf(snapshots));
      if (copy === undefined) return;
      const endTurn = await this.#turn();
      const view = await indexesFrom(copy.parts).finally(() => endTurn?.());
      if (this.#dropped) throw closedError();
      ({ index: this.index, toolCalls: this.toolCalls } = view);
      this.#cursor = copy.cursor;
      this.#changedSinceCopy = 0;
      this.#follower?.changed([...this.index.documents()].map(textOfDocument), []);
    } catch (error) {
      debug("%s: the copy does not open: %s", this.#namespace, error instanceof Error ? error.message : "");
    }
  }

  drop(): void {
    this.#dropped = true;
    this.#empty();
    this.#follower?.drop();
  }

  async #readAll(): Promise<IndexView> {
    if (this.#mustStartOver) this.#startOver();
    const { snapshots } = this.#options;
    if (snapshots !== undefined && !this.#hasLooked && this.#cursor === 0) await this.#restore(snapshots);
    const page = await this.#readPage();
    const isLarge = this.#cursor === 0 && page.kind === "changes" && page.more;
    const endTurn = isLarge ? await this.#turn() : undefined;
    try {
      // While it waited for its turn, some of that page may have been forgotten.
      await this.#applyAll(endTurn === undefined ? page : await this.#readPage());
    } finally {
      endTurn?.();
    }
    this.#isComplete = true;
    this.#follower?.caughtUp();
    return { index: this.index, toolCalls: this.toolCalls };
  }

  #readPage(): Promise<CorpusChanges> {
    const { source, batchSize = BATCH_ROWS } = this.#options;
    return source.changes(this.#namespace, this.#cursor, batchSize);
  }

  async #applyAll(first: CorpusChanges): Promise<void> {
    let startedOver = false;
    for (let page = first; ; page = await this.#readPage()) {
      if (this.#dropped) throw closedError();
      if (page.kind === "changes") {
        await this.#apply(page);
        if (!page.more) return;
        this.#progress.resolve();
        this.#progress = Promise.withResolvers();
        this.#onChange();
        continue;
      }
      if (startedOver) throw new HelmdeckError("internal", "The corpus source requested a restart twice.");
      startedOver = true;
      this.#startOver();
    }
  }

  async #turn(): Promise<(() => void) | undefined> {
    this.#waitsForTurn = true;
    try {
      return await this.#options.turn?.();
    } finally {
      this.#waitsForTurn = false;
    }
  }

  #startOver(): void {
    debug("%s: starts over", this.#namespace);
    this.#mustStartOver = false;
    this.#empty();
    this.#follower?.startOver();
    this.#cursor = 0;
    this.#isComplete = false;
  }

  #empty(): void {
    this.index = new LexicalIndex();
    this.toolCalls = undefined;
  }

  /** In the background; the next search reports any error. */
  #readAgain(): void {
    this.#mustStartOver = true;
    this.catchUp().catch(() => undefined);
  }

  async #apply({ upserts, removed, cursor, more }: ChangesPage): Promise<void> {
    if (more && cursor <= this.#cursor) {
      throw new HelmdeckError("internal", "The corpus source reports more changes but does not advance.");
    }
    // Tool calls are found by words and time: thousands of such texts are not sent to an embedding service.
    const embedded = upserts.filter(({ kind }) => kind !== "tool");
    this.#follower?.changed(embedded, removed);
    await this.#inSlices(removed, (id) => {
      for (const index of [this.index, this.toolCalls]) index?.remove(id);
    });
    if (more) await nextTurn();
    await this.#inSlices(upserts, (entry) => this.#indexFor(entry).add(entry));
    this.#cursor = cursor;
    this.#changedSinceCopy += upserts.length + removed.length;
    debug("%s: read to %d: %d changed, %d removed", this.#namespace, cursor, upserts.length, removed.length);
  }

  #indexFor({ kind }: CorpusEntry): LexicalIndex {
    if (kind !== "tool") return this.index;
    this.toolCalls ??= new LexicalIndex();
    return this.toolCalls;
  }

  async #inSlices<T>(items: readonly T[], work: (item: T) => void): Promise<void> {
    let sliceStart = performance.now();
    for (const item of items) {
      if (this.#dropped) throw closedError();
      work(item);
      if (performance.now() - sliceStart < SLICE_MS) continue;
      await nextTurn();
      sliceStart = performance.now();
    }
  }
}

type ChangesPage = Extract<CorpusChanges, { readonly kind: "changes" }>;

export function closedError(): HelmdeckError {
  return new HelmdeckError("store_unavailable", "Recall is closed. Open the memory again.");
}

function buildOf({ version }: SnapshotOptions): string {
  return `${version} ${FORMAT} ${process.versions.icu}`; // ICU divides texts into words
}

/** Before each part: whether it is of the tool calls' index, and whether it is a bare page. Keeps numbers aligned. */
const TAG_BYTES = 4;

/** @throws when `isCurrent` tells that the indexes have changed since the first part */
function* partsOf(view: IndexView, isCurrent: () => boolean): Generator<Uint8Array> {
  for (const index of [view.index, view.toolCalls]) {
    for (const part of index?.parts() ?? []) {
      if (!isCurrent()) throw new Error("The index changed while it was copied.");
      const tag = Uint8Array.of(Number(index === view.toolCalls), Number(part.kind === "page"), 0, 0);
      yield Buffer.concat([
        tag,
        part.kind === "page"
          ? Buffer.from(part.page.buffer, part.page.byteOffset, part.page.byteLength)
          : serialize(part),
      ]);
    }
  }
}

/** The copied indexes, once every part was read. Throws what `parts` throws. */
async function indexesFrom(parts: AsyncIterable<Uint8Array>): Promise<IndexView> {
  const index = new LexicalIndex();
  let toolCalls: LexicalIndex | undefined;
  for await (const part of parts) {
    if (part[0] === 1) toolCalls ??= new LexicalIndex();
    ((part[0] === 1 ? toolCalls : undefined) ?? index).take(partIn(part));
  }
  return { index, toolCalls };
}

/** A page is not copied again: there may be hundreds of megabytes of them. */
function partIn(part: Uint8Array): IndexPart {
  const content = part.subarray(TAG_BYTES);
  if (part[1] !== 1) return deserialize(content) as IndexPart; // authenticated, and written by this version
  const isAligned = content.byteOffset % Uint32Array.BYTES_PER_ELEMENT === 0;
  const { buffer, byteOffset, byteLength } = isAligned ? content : Uint8Array.from(content);
  const page = new Uint32Array(buffer, byteOffset, byteLength / Uint32Array.BYTES_PER_ELEMENT);
  return { kind: "page", page };
}
