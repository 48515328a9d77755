/** Turns entries into vectors: which texts are embedded, and how the answers are validated. */
import { HelmdeckError } from "../../engine/errors.ts";
import type { EntryVectors } from "../../engine/store/memory-store.ts";
import type { Namespace } from "../../engine/store/namespace.ts";
import type { Embedder } from "../embedder.ts";
import { type EntryText, meantText, passagesOfEntry } from "../lexical/indexed-document.ts";
import type { StepFailure } from "./background-loop.ts";
import type { Coverage, EmbedRunOptions } from "./semantic-contract.ts";

/** Increment when passages or their embedded texts change: older vectors then stand for other texts. */
const TEXTS_VERSION = 1;

/** The name under which an embedder's vectors are stored. */
export function keptSpaceOf({ space }: Embedder): string {
  return `${TEXTS_VERSION}:${space}`;
}

/** The embedder's `space` for a stored name; undefined when its vectors stand for other texts. */
export function embedderSpaceOf(keptSpace: string): string | undefined {
  const prefix = `${TEXTS_VERSION}:`;
  return keptSpace.startsWith(prefix) ? keptSpace.slice(prefix.length) : undefined;
}

/** One text per passage, in order. */
export function textsOf(entry: EntryText): readonly string[] {
  return passagesOfEntry(entry).map((passage) => meantText(entry, passage));
}

/** The vectors of these entries, in order. Rejects like the embedder, or when the answer is invalid. */
export async function embedEntries(
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
  const isSound = vectors.length === wanted && vectors.every((one) => isUnit(one, dimensions));
  if (isSound) return dimensions;
  throw new HelmdeckError(
    "embeddings_unavailable",
    "The embedder did not return one vector of length 1 for each text. The answer was discarded.",
  );
}

function isUnit(vector: Float32Array, dimensions: number): boolean {
  if (vector.length !== dimensions || dimensions === 0) return false;
  const squares = vector.reduce((sum, number) => sum + number * number, 0);
  return Math.abs(squares - 1) < 0.01; // also false for NaN and infinity
}

interface EmbedRun extends EmbedRunOptions {
  readonly namespace: Namespace;
  readonly end: (failure: HelmdeckError | undefined) => void;
}

export interface Progress {
  coverage(namespace: Namespace): Coverage;
  isDone(namespace: Namespace): boolean;
}

/** Callers that wait until a namespace is embedded: notified after each step, and released when it is done or keeps failing. */
export class EmbedRuns {
  readonly #progress: Progress;
  readonly #runs = new Set<EmbedRun>();

  constructor(progress: Progress) {
    this.#progress = progress;
  }

  begin(namespace: Namespace, options: EmbedRunOptions): Promise<HelmdeckError | undefined> {
    const { promise, resolve } = Promise.withResolvers<HelmdeckError | undefined>();
    this.#runs.add({ ...options, namespace, end: resolve });
    this.afterStep();
    return promise;
  }

  afterStep(failure?: StepFailure): void {
    for (const run of this.#runs) {
      run.onProgress?.(this.#progress.coverage(run.namespace));
      const hasFailed = failure !== undefined && failure.inARow >= run.mostFailures;
      if (!hasFailed && !this.#progress.isDone(run.namespace)) continue;
      this.#runs.delete(run);
      run.end(hasFailed ? failure.error : undefined);
    }
  }
}
