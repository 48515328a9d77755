/** Vectors generated from texts: of length 1 and in clusters like those of a model. The same text always gives the same vector. */
import { createHash } from "node:crypto";
import type { Embedder } from "../../recall/embedder.ts";
import { seeded } from "../search/made-facts.ts";

export const DIMENSIONS = 768;

/** All vectors share a small common direction, as a model's do. Vectors of one topic share another. */
const TOPICS = 500;
const SHARE = { common: 0.8, topic: 1, own: 1 } as const;

const common = directionOf(7);
const topics = Array.from({ length: TOPICS }, (_, topic) => directionOf(1_000 + topic));

export function madeVector(text: string): Float32Array {
  const seed = createHash("sha256").update(text).digest().readUInt32LE();
  const topic = topics[seed % TOPICS] ?? common;
  const vector = directionOf(seed);
  for (let i = 0; i < DIMENSIONS; i += 1) {
    vector[i] =
      SHARE.common * (common[i] ?? 0) + SHARE.topic * (topic[i] ?? 0) + SHARE.own * (vector[i] ?? 0);
  }
  return normalised(vector);
}

/** A model that takes no time, so that only everything else is measured. */
export const madeEmbedder: Embedder = {
  model: "made",
  space: "made",
  dimensions: DIMENSIONS,
  embedDocuments: async (texts) => ({ vectors: texts.map(madeVector), truncated: [] }),
  embedQuery: async (text) => madeVector(text),
  close() {},
};

export function dot(left: Float32Array, right: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < left.length; i += 1) sum += (left[i] as number) * (right[i] as number); // the index is within both arrays
  return sum;
}

/** A direction, all equally likely. The sum of several uniform numbers is close enough to a normal distribution. */
function directionOf(seed: number): Float32Array {
  const random = seeded(seed);
  const vector = new Float32Array(DIMENSIONS);
  for (let i = 0; i < DIMENSIONS; i += 1) vector[i] = random() + random() + random() - 1.5;
  return normalised(vector);
}

function normalised(vector: Float32Array): Float32Array {
  const length = Math.sqrt(dot(vector, vector));
  return vector.map((number) => number / length);
}
