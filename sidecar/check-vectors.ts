/**
 * Validates vectors from a service.
 *
 * A broken or hostile service must not get vectors into an index that make comparisons meaningless (NaN, zeros) or that belong to
 * another text (too many, too few): the whole answer is refused.
 */
import { type Asked, dimensionMismatch, unusable } from "./service-failures.ts";

/** Far above any current model. */
const MAX_DIMENSIONS = 16_384;
/** The smallest normal number. Below it, the root is not the vector's length, and dividing by it gives no unit vector. */
const LEAST_SQUARES = 2 ** -1022;

/** One unit vector per sent text, all of the same dimensions. */
export function checkVectors(
  asked: Asked,
  raw: readonly (readonly unknown[])[],
  wanted: { readonly count: number; readonly dimensions?: number | undefined },
): readonly Float32Array[] {
  if (raw.length !== wanted.count) throw unusable(asked, `${raw.length} vectors for ${wanted.count} texts`);
  const dimensions = wanted.dimensions ?? raw[0]?.length ?? 0;
  return raw.map((numbers) => {
    if (numbers.length > MAX_DIMENSIONS || numbers.length === 0)
      throw unusable(asked, `a vector of ${numbers.length} dimensions`);
    if (numbers.length !== dimensions) throw dimensionMismatch(asked, dimensions, numbers.length);
    return unitVector(asked, numbers);
  });
}

function unitVector(asked: Asked, numbers: readonly unknown[]): Float32Array {
  let squares = 0;
  const vector = Float64Array.from(numbers, (value) => {
    if (typeof value !== "number") throw unusable(asked, "a vector with a value that is not a number");
    squares += value * value;
    return value;
  });
  const length = Math.sqrt(squares);
  if (!Number.isFinite(length)) throw unusable(asked, "a vector with a number that is not finite");
  if (squares < LEAST_SQUARES) throw unusable(asked, "a vector that is zero or nearly zero");
  return Float32Array.from(vector, (value) => value / length);
}
