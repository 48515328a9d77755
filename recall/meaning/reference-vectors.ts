/**
 * What a model makes of the reference texts, by space: kept where there is a cache, so that a process that is gone in a moment
 * has one text to embed, the question. What is not kept is made a few texts at a time, and each few are kept at once: on a busy
 * machine many short-lived processes get there together.
 */
import { fingerprintOf, HelmdeckError, type ReferenceVectors as KeptVectors } from "../../engine/index.ts";
import type { Embedder, EmbedOptions } from "../embedder.ts";
import { LruCache } from "./lru-cache.ts";
import { REFERENCE_TEXTS } from "./reference-texts.ts";
import { tellsApart } from "./similarity-normalizer.ts";

/** Errors of either are passed over: what is not kept is made. */
export interface ReferenceCache {
  load(space: string): Promise<KeptVectors | undefined>;
  save(space: string, made: KeptVectors): Promise<void>;
}

/** One for each model that serves; after a change there are two for a while. */
const KNOWN_SPACES = 4;
const FINGERPRINT = fingerprintOf(Buffer.from(JSON.stringify(REFERENCE_TEXTS)));

export class ReferenceVectors {
  readonly #cache: ReferenceCache | undefined;
  readonly #known = new LruCache<readonly Float32Array[]>(KNOWN_SPACES);

  constructor(cache?: ReferenceCache) {
    this.#cache = cache;
  }

  /** One for each text. Rejects as the embedder does; what was made by then is kept. */
  get(embedder: Embedder, options: EmbedOptions = {}): Promise<readonly Float32Array[]> {
    return this.#known.get(embedder.space, () => this.#loadOrMake(embedder, options));
  }

  /** The model has other dimensions now than when these were made. */
  remake(
    embedder: Embedder,
    dimensions: number,
    options: EmbedOptions = {},
  ): Promise<readonly Float32Array[]> {
    this.#known.forget(embedder.space);
    return this.#known.get(embedder.space, () => this.#loadOrMake(embedder, options, dimensions));
  }

  async #loadOrMake(
    embedder: Embedder,
    options: EmbedOptions,
    dimensions = embedder.dimensions,
  ): Promise<readonly Float32Array[]> {
    const vectors = await this.#load(embedder.space, dimensions);
    for (let atOnce = 1; vectors.length < REFERENCE_TEXTS.length; atOnce *= 2) {
      const texts = REFERENCE_TEXTS.slice(vectors.length, vectors.length + atOnce);
      const { vectors: made } = await embedder.embedDocuments(texts, options);
      vectors.push(...made);
      await this.#save(embedder.space, vectors);
    }
    if (tellsApart(vectors)) return vectors;
    throw new HelmdeckError("embeddings_unavailable", `${embedder.model} gives every text the same meaning.`);
  }

  /** All that is kept, some, or none. */
  async #load(space: string, dimensions: number | undefined): Promise<Float32Array[]> {
    const kept = await this.#cache?.load(space).catch(() => undefined);
    if (kept === undefined || kept.fingerprint !== FINGERPRINT) return [];
    if (dimensions !== undefined && kept.dimensions !== dimensions) return [];
    const vectors = apart(kept);
    if (vectors.length < REFERENCE_TEXTS.length) return vectors;
    return vectors.length === REFERENCE_TEXTS.length && tellsApart(vectors) ? vectors : [];
  }

  async #save(space: string, vectors: readonly Float32Array[]): Promise<void> {
    const dimensions = vectors[0]?.length ?? 0;
    if (vectors.some(({ length }) => length !== dimensions)) return;
    const joined = new Float32Array(vectors.length * dimensions);
    for (const [at, vector] of vectors.entries()) joined.set(vector, at * dimensions);
    await this.#cache
      ?.save(space, { fingerprint: FINGERPRINT, dimensions, vectors: joined })
      .catch(() => undefined); // the next process makes them again
  }
}

function apart({ dimensions, vectors }: KeptVectors): Float32Array[] {
  const count = Math.floor(vectors.length / dimensions);
  return Array.from({ length: count }, (_, at) => vectors.slice(at * dimensions, (at + 1) * dimensions));
}
