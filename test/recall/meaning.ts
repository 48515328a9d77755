/** Semantic search for recall tests: an embedder with predefined vectors, and an index of its vectors. */
import type { EntryId } from "../../engine/store/memory-store.ts";
import type { Embedder } from "../../recall/embedder.ts";
import { passagesOfEntry } from "../../recall/lexical/indexed-document.ts";
import { cosine } from "../../recall/meaning/reference-vectors.ts";
import type { SemanticIndex } from "../../recall/vectors/semantic-contract.ts";

const DIMENSIONS = 64;

/** A direction for each text; the same text always has the same one. */
export function directionOf(text: string): Float32Array {
  let state = 2_166_136_261;
  for (const character of text) state = Math.imul(state ^ (character.codePointAt(0) ?? 0), 16_777_619);
  const vector = Float32Array.from({ length: DIMENSIONS }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return state / 2 ** 31;
  });
  return unit(vector);
}

/** The point at this share of the way between two directions. */
export function between(from: Float32Array, to: Float32Array, share: number): Float32Array {
  return unit(from.map((value, place) => (1 - share) * value + share * (to[place] ?? 0)));
}

function unit(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

export interface DrawnSpace {
  readonly embedder: Embedder;
  readonly index: SemanticIndex;
  /** The questions that were embedded. */
  readonly asked: string[];
}

export interface SpaceOptions {
  /** Vectors of named texts; every other text has its own direction. */
  readonly places?: Readonly<Record<string, Float32Array>>;
  /** How much all vectors resemble each other, as they do in some models. */
  readonly squeezed?: number;
  readonly language?: "english";
  readonly isLocal?: true;
  /** False: this process makes no vectors of entries. */
  readonly embeds?: boolean;
  readonly embedQuery?: Embedder["embedQuery"];
  readonly embedDocuments?: Embedder["embedDocuments"];
}

/** An entry's vector depends on its body. */
export function drawSpace({ places = {}, squeezed = 0, ...own }: SpaceOptions = {}): DrawnSpace {
  const asked: string[] = [];
  const vectors = new Map<EntryId, readonly Float32Array[]>();
  const everything = directionOf("what every text has in common");
  const placeOf = (text: string) => between(places[text] ?? directionOf(text), everything, squeezed);
  const embedder: Embedder = {
    model: "drawn",
    space: "drawn",
    dimensions: DIMENSIONS,
    ...(own.language && { language: own.language }),
    ...(own.isLocal && { isLocal: own.isLocal }),
    embedDocuments: own.embedDocuments ?? (async (texts) => ({ vectors: texts.map(placeOf), truncated: [] })),
    embedQuery: (text, options) => {
      asked.push(text);
      return own.embedQuery?.(text, options) ?? Promise.resolve(placeOf(text));
    },
    close: () => {},
  };
  const index: SemanticIndex = {
    follow: () => ({
      changed(upserts, removed) {
        for (const id of removed) vectors.delete(id);
        for (const entry of upserts)
          vectors.set(
            entry.id,
            passagesOfEntry(entry).map(() => placeOf(entry.body)),
          );
      },
      caughtUp: () => {},
      startOver: () => vectors.clear(),
      drop: () => vectors.clear(),
      ...{ isSettled: true, sizeBytes: 0 },
    }),
    serving: () => (vectors.size === 0 ? undefined : embedder),
    search: (_, { vector }, limit) =>
      [...vectors]
        .flatMap(([id, own]) => own.map((one, passage) => ({ id, passage, similarity: cosine(one, vector) })))
        .sort((one, other) => other.similarity - one.similarity)
        .slice(0, limit),
    vectorOf: (_, __, id) => vectors.get(id)?.[0],
    learnDimensions: () => {},
    coverage: () => ({ embedded: vectors.size, total: vectors.size, refused: 0 }),
    settled: () => Promise.resolve(),
    embed: () => Promise.resolve(undefined),
    status: () => ({
      model: "drawn",
      embedded: vectors.size,
      waiting: 0,
      refused: 0,
      state: "idle",
      lastError: undefined,
      embeds: own.embeds ?? true,
      isLocal: own.isLocal === true,
    }),
    close: () => {},
  };
  return { embedder, index, asked };
}
