/** Limits of vectors in every store, and their encoding as bytes. */
import { endianness } from "node:os";
import { invalidField } from "../errors.ts";
import type { EntryVectors, Fingerprint, ReferenceVectors, VectorsQuery } from "./memory-store.ts";

/** Far above any model, and any entry split into passages. */
const VECTOR_LIMITS = { spaceBytes: 2_048, dimensions: 65_536, numbers: 64 * 1_024 * 1_024 } as const;

/** The serving model and its successor, plus two for going back and forth. */
export const KEPT_REFERENCE_SPACES = 4;

const MOST_IDS = 1_000;
const FINGERPRINT_BYTES = 8;
const NUMBER_BYTES = 4;
const IS_BIG_ENDIAN = endianness() === "BE";

export function checkSpace(space: string): void {
  const bytes = space.isWellFormed() ? Buffer.byteLength(space) : 0;
  if (bytes >= 1 && bytes <= VECTOR_LIMITS.spaceBytes) return;
  throw invalidField("space", `must be text of 1 to ${VECTOR_LIMITS.spaceBytes} bytes`);
}

export function checkVectorsQuery({ space, ids }: Pick<VectorsQuery, "space" | "ids">): void {
  checkSpace(space);
  if (ids.length > MOST_IDS)
    throw invalidField("ids", `may be at most ${MOST_IDS}, but there are ${ids.length}`);
}

export function checkNewVectors(space: string, batch: readonly EntryVectors[]): void {
  checkVectorsQuery({ space, ids: batch.map(({ id }) => id) });
  for (const made of batch) checkNumbers(made);
}

export function checkNewReferences(space: string, made: ReferenceVectors): void {
  checkSpace(space);
  checkNumbers(made);
}

function checkNumbers({ dimensions, vectors }: Pick<EntryVectors, "dimensions" | "vectors">): void {
  if (!Number.isInteger(dimensions) || dimensions < 1 || dimensions > VECTOR_LIMITS.dimensions) {
    throw invalidField("dimensions", `must be a whole number from 1 to ${VECTOR_LIMITS.dimensions}`);
  }
  if (!isWholeVectors(vectors.length, dimensions) || vectors.length > VECTOR_LIMITS.numbers) {
    throw invalidField("vectors", `must be one or more, of ${dimensions} numbers each`);
  }
}

/** The fingerprint of the embedded value (8 bytes), then each number as a little-endian Float32. */
export function encodeVectors({
  fingerprint,
  vectors,
}: Pick<EntryVectors, "fingerprint" | "vectors">): Uint8Array {
  const bytes = Buffer.allocUnsafe(FINGERPRINT_BYTES + vectors.byteLength);
  bytes.write(fingerprint, "hex");
  bytes.set(new Uint8Array(vectors.buffer, vectors.byteOffset, vectors.byteLength), FINGERPRINT_BYTES);
  if (IS_BIG_ENDIAN) bytes.subarray(FINGERPRINT_BYTES).swap32();
  return bytes;
}

/** Undefined for anything that {@link encodeVectors} did not create. */
export function decodeVectors(
  content: Uint8Array,
  dimensions: number,
): Pick<EntryVectors, "fingerprint" | "vectors"> | undefined {
  const count = (content.byteLength - FINGERPRINT_BYTES) / NUMBER_BYTES;
  if (!isWholeVectors(count, dimensions)) return undefined;
  const numbers = Uint8Array.from(content.subarray(FINGERPRINT_BYTES)); // a copy, since Float32Array needs alignment
  if (IS_BIG_ENDIAN) Buffer.from(numbers.buffer).swap32();
  const fingerprint = Buffer.from(content.subarray(0, FINGERPRINT_BYTES)).toString("hex") as Fingerprint;
  return { fingerprint, vectors: new Float32Array(numbers.buffer) };
}

function isWholeVectors(count: number, dimensions: number): boolean {
  return count > 0 && Number.isInteger(count / dimensions);
}
