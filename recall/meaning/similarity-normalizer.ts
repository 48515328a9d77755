/**
 * Normalises similarities within a model's space. Cosines are not comparable across models: for two unrelated texts one model
 * gives 0.05, another 0.6. So a similarity is expressed in standard deviations from the question's similarities to reference
 * texts.
 */

/** Converts a cosine to deviations; 0 means as near as an unrelated text. */
export type Scale = (similarity: number) => number;

export interface SimilarityNormalizer {
  scaleFor(question: Float32Array): Scale;
}

/** A space in which all reference texts coincide cannot be measured. */
const LEAST_SPREAD = 1e-3;

/** Requires reference vectors that {@link separatesTexts} accepts. */
export function measureSpace(references: readonly Float32Array[]): SimilarityNormalizer {
  const spread = spreadOf(references);
  return {
    scaleFor(question) {
      const usual = meanOf(references.map((vector) => cosine(question, vector)));
      return (similarity) => (similarity - usual) / spread;
    },
  };
}

/** Whether these vectors differ enough to measure a space. */
export function separatesTexts(references: readonly Float32Array[]): boolean {
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
