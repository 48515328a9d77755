/**
 * What nearness is worth in the space of a model. Cosines mean nothing by themselves: of two texts that have nothing to do with
 * each other one model says 0.05, another 0.6. So nearness is told in deviations from what the same question has to reference texts.
 */

/** Deviations (0: as near as what has nothing to do with the question) for a cosine. */
export type Scale = (similarity: number) => number;

export interface SimilarityNormalizer {
  scaleFor(question: Float32Array): Scale;
}

/** A space in which all reference texts fall together tells nothing apart. */
const LEAST_SPREAD = 1e-3;

/** By what the model made of the reference texts, which {@link tellsApart}. */
export function measureSpace(references: readonly Float32Array[]): SimilarityNormalizer {
  const spread = spreadOf(references);
  return {
    scaleFor(question) {
      const usual = meanOf(references.map((vector) => cosine(question, vector)));
      return (similarity) => (similarity - usual) / spread;
    },
  };
}

/** Whether a space can be measured by these. */
export function tellsApart(references: readonly Float32Array[]): boolean {
  return spreadOf(references) >= LEAST_SPREAD;
}

function spreadOf(references: readonly Float32Array[]): number {
  return deviationOf(pairsOf(references));
}

/** Of vectors of length 1. */
export function cosine(left: Float32Array, right: Float32Array): number {
  let sum = 0;
  for (let place = 0; place < left.length; place += 1) sum += (left[place] ?? 0) * (right[place] ?? 0);
  return sum;
}

function pairsOf(vectors: readonly Float32Array[]): readonly number[] {
  return vectors.flatMap((left, place) => vectors.slice(place + 1).map((right) => cosine(left, right)));
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function deviationOf(values: readonly number[]): number {
  const mean = meanOf(values);
  return Math.sqrt(meanOf(values.map((value) => (value - mean) ** 2)));
}
