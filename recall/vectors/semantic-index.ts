/**
 * Semantic search over every open namespace: vectors come from the cache first, then from the embedder, in the background and in
 * small steps. After a change of model, the former model's vectors serve until the new ones are complete.
 */
import { asHelmdeckError, type ErrorCode, HelmdeckError } from "../../engine/errors.ts";
import type { EntryId, EntryVectors } from "../../engine/store/memory-store.ts";
import type { Namespace } from "../../engine/store/namespace.ts";
import { nextTurn, pauseAfter, retryAfterMsOf, type Timer } from "../../engine/timing.ts";
import type { Embedder } from "../embedder.ts";
import { type EntryText, meantText, passagesOfEntry } from "../lexical/indexed-document.ts";
import type { ReferenceVectors } from "../meaning/reference-vectors.ts";
import { ModelIndex, NamespaceVectors, type Waiting } from "./namespace-vectors.ts";
import type {
  Coverage,
  EmbeddingStatus,
  EmbedRunOptions,
  QuestionVector,
  SemanticHit,
  SemanticIndex,
  VectorCache,
  VectorFollower,
} from "./semantic-contract.ts";
import type { VectorIndexOptions } from "./vector-index.ts";

export interface SemanticIndexOptions {
  readonly embedder: Embedder;
  readonly cache: VectorCache;
  /** Embeds questions for a former space while the new model is incomplete; undefined when none is available. The caller closes it. */
  readonly formerEmbedder?: (space: string) => Embedder | undefined;
  /** Only reads the cache until `embed` is called, and deletes nothing. For short-lived processes. */
  readonly readOnly?: boolean;
  /** Made while entries are embedded, so that they are ready for the first question. */
  readonly references?: ReferenceVectors;
  readonly timer: Timer;
  /** From 0 up to, but not including, 1. */
  readonly random?: () => number;
  readonly index?: VectorIndexOptions;
}

/** Cache look-ups or clean-ups per step: about 2 ms. */
const LOOKED_UP_AT_ONCE = 64;
/** Passages per embedding step, which also limits the entries per write. A single entry may have more. */
const PASSAGES_AT_ONCE = 32;
/** No more than one small request. */
const SHORT_PASSAGES = 8;
/** An entry is given up after this many refusals while others were accepted. */
const MOST_REFUSALS = 3;

interface BackgroundLoopOptions {
  /** Does the next piece of work; false when there is none. Rejects on temporary failures. */
  readonly step: (signal: AbortSignal) => Promise<boolean>;
  readonly timer: Timer;
  /** From 0 up to, but not including, 1. */
  readonly random: () => number;
  /** Called after each step. */
  readonly onStep: (failure?: StepFailure) => void;
}

interface StepFailure {
  readonly error: HelmdeckError;
  /** Failures since the last success. */
  readonly inARow: number;
}

const PAUSES = { firstMs: 1_000, longestMs: 300_000 };

/** Runs small steps while there is work, yields between them, and retries after a failure. */
class BackgroundLoop {
  readonly #options: BackgroundLoopOptions;
  readonly #ending = new AbortController();
  state: EmbeddingStatus["state"] = "idle";
  /** Undefined after a success. */
  lastError: ErrorCode | undefined;
  #failures = 0;
  /** Set since the last step began. */
  #isWoken = false;
  #cancelPause = (): void => undefined;

  constructor(options: BackgroundLoopOptions) {
    this.#options = options;
  }

  /** Signals possible new work. Does not shorten a pause. */
  wake(): void {
    this.#isWoken = true;
    if (this.state !== "idle") return;
    this.state = "working";
    // Never rejects: a failed step only causes a pause.
    void this.#run();
  }

  /** Aborts the current step by its signal and starts no further one. */
  close(): void {
    this.state = "closed";
    this.#cancelPause();
    this.#ending.abort();
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending;
    for (;;) {
      await nextTurn();
      if (signal.aborted) return;
      this.#isWoken = false;
      const outcome = await this.#options.step(signal).catch(asHelmdeckError);
      if (signal.aborted) return;
      if (typeof outcome !== "boolean") return this.#pause(outcome);
      this.#failures = 0;
      this.lastError = undefined;
      this.#options.onStep();
      if (outcome || this.#isWoken) continue;
      this.state = "idle";
      return;
    }
  }

  #pause(error: HelmdeckError): void {
    this.#failures += 1;
    this.lastError = error.code;
    this.state = "waiting";
    const longest = pauseAfter(this.#failures, PAUSES);
    // With jitter between half and all of the pause, so that many processes do not retry together.
    const pauseMs = retryAfterMsOf(error) + (longest * (1 + this.#options.random())) / 2;
    this.#cancelPause = this.#options.timer(() => {
      this.state = "working";
      void this.#run();
    }, pauseMs);
    this.#options.onStep({ error, inARow: this.#failures });
  }
}

/** Increment when passages or their embedded texts change: older vectors then stand for other texts. */
const TEXTS_VERSION = 1;

/** Somebody waits until a namespace is embedded, or keeps failing. */
interface EmbedRun extends EmbedRunOptions {
  readonly namespace: Namespace;
  readonly end: (failure: HelmdeckError | undefined) => void;
}

interface Embedded {
  readonly known: NamespaceVectors;
  readonly batch: readonly Waiting[];
  readonly made: readonly EntryVectors[];
}

export function createSemanticIndex(options: SemanticIndexOptions): SemanticIndex {
  return new BackgroundSemanticIndex(options);
}

class BackgroundSemanticIndex implements SemanticIndex {
  readonly #options: SemanticIndexOptions;
  readonly #namespaces = new Map<Namespace, NamespaceVectors>();
  readonly #loading: BackgroundLoop;
  readonly #embedding: BackgroundLoop;
  /** How many entries the service has accepted, and how many passages are sent at once. */
  #taken = 0;
  #passagesAtOnce = PASSAGES_AT_ONCE;
  /** The target model's dimensions; undefined before its first answer. */
  #dimensions: number | undefined;
  /** Vectors that the cache has not stored yet. */
  #unsaved: Embedded | undefined;
  #embeds: boolean;
  /** Short-lived processes embed the newest entry first, because they were started for it. */
  #newestIsNext = false;
  /** `later`: the service refused them; waiting entries go first. */
  #references: "wanted" | "later" | "there";
  readonly #runs = new Set<EmbedRun>();
  #isClosed = false;

  constructor(options: SemanticIndexOptions) {
    this.#options = options;
    const { timer, random = Math.random } = options;
    this.#dimensions = options.embedder.dimensions;
    this.#embeds = options.readOnly !== true;
    this.#references = options.references === undefined ? "there" : "wanted";
    const onStep = (failure?: StepFailure) => this.#afterStep(failure);
    this.#loading = new BackgroundLoop({ step: (signal) => this.#loadSome(signal), timer, random, onStep });
    this.#embedding = new BackgroundLoop({
      ...{ timer, random, onStep },
      step: (signal) => this.#embedSome(signal),
    });
  }

  follow(namespace: Namespace, readAgain?: () => void, grown?: () => void): VectorFollower {
    this.#namespaces.get(namespace)?.drop();
    const target = new ModelIndex(this.#options.embedder, this.#options.index ?? {});
    const onChange = (changed: NamespaceVectors) => this.#onChange(changed);
    const hooks = { readAgain, grown, onChange, embeds: () => this.#embeds };
    const followed = new NamespaceVectors(namespace, target, hooks);
    if (this.#isClosed) followed.drop();
    else this.#namespaces.set(namespace, followed);
    return followed;
  }

  serving(namespace: Namespace): Embedder | undefined {
    const modelIndex = this.#namespaces.get(namespace)?.serving;
    return modelIndex === undefined || modelIndex.size === 0 ? undefined : modelIndex.embedder;
  }

  search(namespace: Namespace, question: QuestionVector, limit: number): readonly SemanticHit[] {
    if (question.space === this.#options.embedder.space) this.learnDimensions(question.vector.length);
    const modelIndex = this.#namespaces.get(namespace)?.modelIndexOf(question.space);
    return modelIndex?.index?.search(question.vector, limit) ?? [];
  }

  vectorOf(namespace: Namespace, space: string, id: EntryId): Float32Array | undefined {
    return this.#namespaces.get(namespace)?.modelIndexOf(space)?.index?.vectorOf(id);
  }

  coverage(namespace: Namespace): Coverage {
    return this.#namespaces.get(namespace)?.coverage ?? { embedded: 0, total: 0, refused: 0 };
  }

  settled(namespace: Namespace): Promise<void> {
    return this.#namespaces.get(namespace)?.settled() ?? Promise.resolve();
  }

  embed(namespace: Namespace, options: EmbedRunOptions): Promise<HelmdeckError | undefined> {
    if (!this.#embeds) {
      this.#embeds = true;
      this.#newestIsNext = true;
      this.#passagesAtOnce = 1; // grows with success: a busy service may manage only one at a time
    }
    this.#loading.wake();
    this.#embedding.wake();
    const { promise, resolve } = Promise.withResolvers<HelmdeckError | undefined>();
    this.#runs.add({ ...options, namespace, end: resolve });
    this.#afterStep();
    return promise;
  }

  status(): EmbeddingStatus {
    const all = [...this.#namespaces.values()];
    const states = [this.#loading.state, this.#embedding.state];
    return {
      model: this.#options.embedder.model,
      embedded: all.reduce((sum, { target }) => sum + target.size, 0),
      waiting: all.reduce((sum, { unread, missing }) => sum + unread.size + missing.size, 0),
      refused: all.reduce((sum, { coverage }) => sum + coverage.refused, 0),
      state: (["closed", "waiting", "working"] as const).find((one) => states.includes(one)) ?? "idle",
      lastError: this.#embedding.lastError ?? this.#loading.lastError,
      embeds: this.#embeds,
      isLocal: this.#options.embedder.isLocal === true,
    };
  }

  close(): void {
    this.#isClosed = true;
    this.#loading.close();
    this.#embedding.close();
    for (const known of this.#namespaces.values()) known.drop();
    this.#afterStep();
  }

  #afterStep(failure?: StepFailure): void {
    for (const run of this.#runs) {
      run.onProgress?.(this.coverage(run.namespace));
      const hasFailed = failure !== undefined && failure.inARow >= run.mostFailures;
      if (!hasFailed && !this.#isDone(run.namespace)) continue;
      this.#runs.delete(run);
      run.end(hasFailed ? failure.error : undefined);
    }
  }

  #isDone(namespace: Namespace): boolean {
    const known = this.#namespaces.get(namespace);
    if (known === undefined || known.ids.length === 0) return true;
    return known.isSettled && this.#unsaved === undefined && !this.#needsReferences;
  }

  /** Reference vectors are useful once something can be found. */
  get #needsReferences(): boolean {
    if (this.#references === "there") return false;
    return this.#taken > 0 || this.#namespaces.values().some(({ target }) => target.size > 0);
  }

  #onChange(changed: NamespaceVectors): void {
    if (changed.isDropped) {
      if (this.#namespaces.get(changed.namespace) === changed) this.#namespaces.delete(changed.namespace);
      return;
    }
    this.#loading.wake();
  }

  /** Loads one page of some namespace from the cache; when all are complete, deletes vectors of other models. */
  async #loadSome(signal: AbortSignal): Promise<boolean> {
    const all = [...this.#namespaces.values()];
    const unread = all.find((one) => one.unread.size > 0);
    if (unread !== undefined) {
      await this.#lookAround(unread);
      await this.#lookUp(unread, signal);
      this.#embedding.wake();
      return true;
    }
    const finished = all.find((one) => one.isSettled && one.hasOtherSpaces);
    if (finished === undefined || this.#options.readOnly === true) return false;
    await this.#finishChangeOfModel(finished, signal);
    return true;
  }

  /** Finds former models in the cache, and whether the latest can serve meanwhile. */
  async #lookAround(known: NamespaceVectors): Promise<void> {
    if (known.hasLookedAround) return;
    const { embedder, cache, formerEmbedder, index = {} } = this.#options;
    const others = (await cache.spaces()).filter((space) => space !== keptSpaceOf(embedder));
    known.hasLookedAround = true;
    known.hasOtherSpaces = others.length > 0;
    const formers = others.flatMap((space) => {
      const former = embedderSpaceOf(space);
      return (former !== undefined && formerEmbedder?.(former)) || [];
    });
    const last = formers.at(-1);
    if (last !== undefined) known.former = new ModelIndex(last, index);
  }

  async #lookUp(known: NamespaceVectors, signal: AbortSignal): Promise<void> {
    const entries = known.unread.values().take(LOOKED_UP_AT_ONCE).toArray();
    const found = await this.#load(known, known.target, entries);
    // The first vectors fix the dimensions until the model itself answers.
    this.#dimensions ??= found[0]?.dimensions;
    const loaded = new Set(found.filter((one) => one.dimensions === this.#dimensions).map(({ id }) => id));
    const rest = entries.filter(({ id }) => !loaded.has(id));
    const { former } = known;
    const served = former === undefined ? [] : await this.#load(known, former, entries);
    if (signal.aborted) return;
    for (const made of found) if (loaded.has(made.id) && known.isCurrent(made)) known.take(made);
    for (const made of served) if (known.isCurrent(made)) former?.add(made);
    // An entry that was replaced during the look-up waits with its new value.
    for (const entry of rest) if (known.unread.get(entry.id) === entry) known.miss(entry);
    known.hooks.grown?.();
  }

  #load(
    { namespace }: NamespaceVectors,
    { embedder }: ModelIndex,
    entries: readonly EntryText[],
  ): Promise<readonly EntryVectors[]> {
    if (entries.length === 0) return Promise.resolve([]);
    const ids = entries.map(({ id }) => id);
    return this.#options.cache.load(namespace, keptSpaceOf(embedder), ids);
  }

  learnDimensions(dimensions: number): void {
    const before = this.#dimensions;
    this.#dimensions = dimensions;
    if (before === undefined || before === dimensions) return;
    for (const known of this.#namespaces.values()) known.hooks.readAgain?.();
  }

  async #finishChangeOfModel(known: NamespaceVectors, signal: AbortSignal): Promise<void> {
    known.former = undefined;
    const { cache, embedder } = this.#options;
    const { ids } = known;
    for (let at = 0; at < ids.length && !signal.aborted; at += LOOKED_UP_AT_ONCE) {
      await cache.dropOthers(known.namespace, keptSpaceOf(embedder), ids.slice(at, at + LOOKED_UP_AT_ONCE));
      await nextTurn();
    }
    known.hasOtherSpaces = false;
  }

  /** Embeds one request's worth of entries and stores the vectors in the cache and in memory. */
  async #embedSome(signal: AbortSignal): Promise<boolean> {
    if (!this.#embeds) return false;
    if (this.#unsaved !== undefined) return this.#keep(this.#unsaved, signal);
    const known = [...this.#namespaces.values()].find(({ missing }) => missing.size > 0);
    const isTheirTurn = this.#references === "wanted" || known === undefined;
    if (this.#needsReferences && isTheirTurn) return this.#makeReferences(signal);
    if (known === undefined) return false;
    // Gives all namespaces a turn.
    this.#namespaces.delete(known.namespace);
    this.#namespaces.set(known.namespace, known);
    const batch = this.#nextBatch(known);
    const entries = batch.map(({ entry }) => entry);
    const made = await embedEntries(entries, this.#options.embedder, signal).catch(asHelmdeckError);
    if (signal.aborted) return false;
    if ("code" in made) return this.#onRefusal(known, batch, made);
    this.#taken += made.length;
    this.#passagesAtOnce = Math.min(PASSAGES_AT_ONCE, this.#passagesAtOnce * 2);
    this.learnDimensions(made[0]?.dimensions ?? 0);
    return this.#keep({ known, batch, made }, signal);
  }

  /** Makes the reference vectors, which questions are normalised with. */
  async #makeReferences(signal: AbortSignal): Promise<boolean> {
    const { embedder, references } = this.#options;
    this.#references = "later";
    await references?.get(embedder, { signal });
    this.#references = "there";
    return true;
  }

  #nextBatch({ missing }: NamespaceVectors): readonly Waiting[] {
    const newest = this.#newestIsNext ? [...missing.values()].at(-1) : undefined;
    this.#newestIsNext = false;
    if (newest !== undefined && textsOf(newest.entry).length <= SHORT_PASSAGES) return [newest];
    const batch: Waiting[] = [];
    let passages = 0;
    for (const waiting of missing.values().take(LOOKED_UP_AT_ONCE)) {
      const count = textsOf(waiting.entry).length;
      const isTooMuch = passages + count > this.#passagesAtOnce;
      // A short-lived process embeds a long entry last: it might get no further.
      if (isTooMuch && this.#options.readOnly === true) continue;
      if (isTooMuch && batch.length > 0) break;
      passages += count;
      batch.push(waiting);
    }
    return batch.length > 0 ? batch : [...missing.values().take(1)];
  }

  /** Vectors of entries that were forgotten or replaced meanwhile are not stored. */
  async #keep(embedded: Embedded, signal: AbortSignal): Promise<boolean> {
    const { known, batch, made } = embedded;
    const current = made.filter((one) => known.isCurrent(one));
    this.#unsaved = embedded; // if the cache fails, the write is retried without another request
    const space = keptSpaceOf(this.#options.embedder);
    const kept = new Set(await this.#options.cache.put(known.namespace, space, current));
    this.#unsaved = undefined;
    if (this.#references === "later") this.#references = "wanted";
    if (signal.aborted) return false;
    for (const [i, one] of made.entries()) {
      const waiting = batch[i];
      if (kept.has(one.id) && known.isCurrent(one)) known.take(one);
      else if (waiting !== undefined) known.letGo(waiting);
    }
    known.hooks.grown?.();
    this.#loading.wake(); // completes a change of model if this was the last batch
    return true;
  }

  /** A smaller batch may succeed, or shows which entry is refused. */
  #onRefusal(known: NamespaceVectors, batch: readonly Waiting[], error: HelmdeckError): boolean {
    const isAboutText = error.code === "invalid_input";
    const [only] = batch;
    if (only === undefined || batch.length > 1) {
      this.#passagesAtOnce = Math.max(1, Math.floor(this.#passagesAtOnce / 2));
    } else {
      if (only.refusals === 0) only.takenBefore = this.#taken;
      only.refusals += 1;
      const isAlone = only.refusals >= MOST_REFUSALS && this.#taken > only.takenBefore;
      if (isAboutText || isAlone) known.giveUp(only);
      else known.putOff(only);
    }
    if (isAboutText) return true;
    throw error;
  }
}

function keptSpaceOf({ space }: Embedder): string {
  return `${TEXTS_VERSION}:${space}`;
}

/** The embedder's `space` for a stored name; undefined when its vectors stand for other texts. */
function embedderSpaceOf(keptSpace: string): string | undefined {
  const prefix = `${TEXTS_VERSION}:`;
  return keptSpace.startsWith(prefix) ? keptSpace.slice(prefix.length) : undefined;
}

export function textsOf(entry: EntryText): readonly string[] {
  return passagesOfEntry(entry).map((passage) => meantText(entry, passage));
}

/** The vectors of these entries, in order. Rejects like the embedder, or when the answer is invalid. */
async function embedEntries(
  entries: readonly EntryText[],
  embedder: Embedder,
  signal: AbortSignal,
): Promise<readonly EntryVectors[]> {
  const texts = entries.map(textsOf);
  const { vectors } = await embedder.embedDocuments(texts.flat(), { signal });
  const dimensions = requireSound(vectors, texts.flat().length);
  let at = 0;
  return entries.map(({ id, fingerprint }, i) => {
    const count = texts[i]?.length ?? 0;
    const joined = new Float32Array(count * dimensions);
    for (const [passage, vector] of vectors.slice(at, at + count).entries())
      joined.set(vector, passage * dimensions);
    at += count;
    return { id, fingerprint, dimensions, vectors: joined };
  });
}

/** The dimensions, once all vectors are finite and of length 1. */
function requireSound(vectors: readonly Float32Array[], wanted: number): number {
  const dimensions = vectors[0]?.length ?? 0;
  const isUnit = (vector: Float32Array) => {
    const squares = vector.reduce((sum, number) => sum + number * number, 0);
    return Math.abs(squares - 1) < 0.01; // false for NaN and infinity
  };
  const isSound = (vector: Float32Array) => vector.length === dimensions && isUnit(vector);
  if (dimensions > 0 && vectors.length === wanted && vectors.every(isSound)) return dimensions;
  throw new HelmdeckError(
    "embeddings_unavailable",
    "The embedder did not return one vector of length 1 for each text. The answer was discarded.",
  );
}
