/**
 * A model's space, measured by reference texts: facts without an owner, each about another subject. Cosines are not comparable across
 * models: for two unrelated texts one model gives 0.05, another 0.6. So a similarity is told in standard deviations from the
 * question's similarities to these texts; their similarities to each other show how much that varies.
 *
 * A cache keeps their vectors, so that a short-lived process only embeds the question. Missing vectors are made in small batches, and
 * each batch is stored at once: on a busy machine, many short-lived processes complete the set together.
 */
import { BoundedMap } from "../../engine/bounded-map.ts";
import { HelmdeckError } from "../../engine/errors.ts";
import { fingerprintOf } from "../../engine/store/entry-id.ts";
import type { ReferenceVectors as KeptVectors } from "../../engine/store/memory-store.ts";
import type { Embedder, EmbedOptions } from "../embedder.ts";

/** Short, like facts, about work and home. Written for this purpose, not fitted to a data set. */
export const REFERENCE_TEXTS: readonly string[] = [
  "Bins are emptied on Monday mornings.",
  "Elena works as a nurse at the children's hospital.",
  "Lentil stew simmers for forty minutes on low heat.",
  "The garage keypad opens with 4471.",
  "Our vehicle stands on level three, row F, of the long-stay car park.",
  "Billing data lives in PostgreSQL.",
  "Mr. Novak gives music lessons on Wednesdays.",
  "The new homepage went out two weeks late because the translations were missing.",
  "I am allergic to peanuts.",
  "Tom wears a 43.",
  "Hold the power button for ten seconds, then open and close the paper tray.",
  "The seaside express departs at 07:52 from platform 9.",
  "We painted the walls where we cook in pale green.",
  "Builds need clang 17 or newer.",
  "The lease of our workspace costs 1,850 euros a month.",
  "Our neighbour feeds Minka while we travel.",
  "Recommended to me: a novel about lighthouse keepers.",
  "There are 84 guests at the ceremony.",
  "Physiotherapy twice a week until the joint stops hurting.",
  "The upload suite fails at random on slow runners.",
  "Extra AA cells lie in the drawer under the television.",
  "Credentials must have fourteen characters and change once a year.",
  "Portugal's capital is mild and rainy in early spring.",
  "Finance signed off the trip's costs in the second quarter.",
];

/** Concurrent requests for a key share one attempt; failures are not kept, and a request in progress outlives its deletion. */
export class SharedAttempts<Value> extends BoundedMap<string, Promise<Value>> {
  getOrMake(key: string, make: () => Promise<Value>): Promise<Value> {
    const known = this.use(key);
    if (known !== undefined) return known;
    const value = make();
    this.set(key, value);
    value.catch(() => {
      if (this.get(key) === value) this.delete(key);
    });
    return value;
  }
}

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
  readonly #known = new SharedAttempts<readonly Float32Array[]>(KNOWN_SPACES);

  constructor(cache?: ReferenceCache) {
    this.#cache = cache;
  }

  /** One vector per reference text. Rejects like the embedder; vectors made before that stay cached. */
  get(embedder: Embedder, options: EmbedOptions = {}): Promise<readonly Float32Array[]> {
    return this.#known.getOrMake(embedder.space, () => this.#loadOrMake(embedder, options));
  }

  /** For when the model's dimensions have changed. */
  remake(
    embedder: Embedder,
    dimensions: number,
    options: EmbedOptions = {},
  ): Promise<readonly Float32Array[]> {
    this.#known.delete(embedder.space);
    return this.#known.getOrMake(embedder.space, () => this.#loadOrMake(embedder, options, dimensions));
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
    const count = Math.floor(kept.vectors.length / kept.dimensions);
    const vectors = Array.from({ length: count }, (_, at) =>
      kept.vectors.slice(at * kept.dimensions, (at + 1) * kept.dimensions),
    );
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

/** Converts a cosine to deviations; 0 means as near as an unrelated text. */
export type Scale = (similarity: number) => number;

/** A space in which all reference texts coincide cannot be measured. */
const LEAST_SPREAD = 1e-3;

/** The scale of each question. Requires reference vectors that {@link separatesTexts} accepts. */
export function measureSpace(references: readonly Float32Array[]): (question: Float32Array) => Scale {
  const spread = spreadOf(references);
  return (question) => {
    const usual = meanOf(references.map((vector) => cosine(question, vector)));
    return (similarity) => (similarity - usual) / spread;
  };
}

/** Whether these vectors differ enough to measure a space. */
function separatesTexts(references: readonly Float32Array[]): boolean {
  return spreadOf(references) >= LEAST_SPREAD;
}

/** The standard deviation of the similarities of all pairs. */
function spreadOf(references: readonly Float32Array[]): number {
  const similarities = references.flatMap((one, place) =>
    references.slice(place + 1).map((other) => cosine(one, other)),
  );
  const mean = meanOf(similarities);
  return Math.sqrt(meanOf(similarities.map((similarity) => (similarity - mean) ** 2)));
}

/** Expects vectors of length 1. */
export function cosine(left: Float32Array, right: Float32Array): number {
  let sum = 0;
  for (let place = 0; place < left.length; place += 1) sum += (left[place] ?? 0) * (right[place] ?? 0);
  return sum;
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
