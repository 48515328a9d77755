/**
 * The reference texts' vectors by space. A cache keeps them, so that a short-lived process only embeds the question. Missing
 * vectors are made in small batches, and each batch is stored at once: on a busy machine, many short-lived processes complete the
 * set together.
 */

import { HelmdeckError } from "../../engine/errors.ts";
import { fingerprintOf } from "../../engine/store/entry-id.ts";
import type { ReferenceVectors as KeptVectors } from "../../engine/store/memory-store.ts";
import type { Embedder, EmbedOptions } from "../embedder.ts";
import { LruCache } from "./lru-cache.ts";
import { REFERENCE_TEXTS } from "./reference-texts.ts";
import { separatesTexts } from "./similarity-normalizer.ts";

/** Errors of load and store are ignored; missing vectors are made again. */
export interface ReferenceCache {
  load(space: string): Promise<KeptVectors | undefined>;
  save(space: string, made: KeptVectors): Promise<void>;
}

/** One per serving model; two for a while after a change. */
const KNOWN_SPACES = 4;
const FINGERPRINT = fingerprintOf(Buffer.from(JSON.stringify(REFERENCE_TEXTS)));

export class ReferenceVectors {
  readonly #cache: ReferenceCache | undefined;
  readonly #known = new LruCache<readonly Float32Array[]>(KNOWN_SPACES);

  constructor(cache?: ReferenceCache) {
    this.#cache = cache;
  }

  /** One vector per reference text. Rejects like the embedder; vectors made before that stay cached. */
  get(embedder: Embedder, options: EmbedOptions = {}): Promise<readonly Float32Array[]> {
    return this.#known.get(embedder.space, () => this.#loadOrMake(embedder, options));
  }

  /** For when the model's dimensions have changed. */
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
    if (separatesTexts(vectors)) return vectors;
    throw new HelmdeckError(
      "embeddings_unavailable",
      `${embedder.model} returns the same vector for every text.`,
    );
  }

  /** The cached vectors: all, some or none. */
  async #load(space: string, dimensions: number | undefined): Promise<Float32Array[]> {
    const kept = await this.#cache?.load(space).catch(() => undefined);
    if (kept === undefined || kept.fingerprint !== FINGERPRINT) return [];
    if (dimensions !== undefined && kept.dimensions !== dimensions) return [];
    const vectors = apart(kept);
    if (vectors.length < REFERENCE_TEXTS.length) return vectors;
    return vectors.length === REFERENCE_TEXTS.length && separatesTexts(vectors) ? vectors : [];
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
