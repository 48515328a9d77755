/** From entries to vectors: which texts are embedded, and what is accepted as an answer. */
import { type CorpusEntry, type EntryVectors, HelmdeckError } from "../../engine/index.ts";
import type { Embedder } from "../embedder.ts";
import { meantText, passagesOfEntry } from "../lexical/indexed-document.ts";

/** Grows when passages are cut otherwise or another text of them is embedded: older vectors then stand for other texts. */
const TEXTS_VERSION = 1;

/** The name under which vectors of an embedder are kept. */
export function keptSpaceOf({ space }: Embedder): string {
  return `${TEXTS_VERSION}:${space}`;
}

/** The `space` of the embedder whose vectors are kept under this name; undefined when they stand for other texts. */
export function embedderSpaceOf(keptSpace: string): string | undefined {
  const prefix = `${TEXTS_VERSION}:`;
  return keptSpace.startsWith(prefix) ? keptSpace.slice(prefix.length) : undefined;
}

/** One text for each passage, in their order. */
export function textsOf(entry: CorpusEntry): readonly string[] {
  return passagesOfEntry(entry).map((passage) => meantText(entry, passage));
}

/** What the model makes of these entries, in their order. Rejects as the embedder does, or when it answers nonsense. */
export async function embedEntries(
  entries: readonly CorpusEntry[],
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

/** The dimensions of vectors that are all finite and of length 1. */
function requireSound(vectors: readonly Float32Array[], wanted: number): number {
  const dimensions = vectors[0]?.length ?? 0;
  const isSound = vectors.length === wanted && vectors.every((one) => isUnit(one, dimensions));
  if (isSound) return dimensions;
  throw new HelmdeckError(
    "embeddings_unavailable",
    "The embedder answered something that is not one vector of length 1 for each text; nothing of it was kept.",
  );
}

function isUnit(vector: Float32Array, dimensions: number): boolean {
  if (vector.length !== dimensions || dimensions === 0) return false;
  const squares = vector.reduce((sum, number) => sum + number * number, 0);
  return Math.abs(squares - 1) < 0.01; // also false for NaN and infinity
}
