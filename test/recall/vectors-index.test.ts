/** The vector index finds the same vectors as an exhaustive search, keeps nothing that was removed, and grows evenly. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { EntryId } from "../../engine/store/memory-store.ts";
import { VectorIndex, type VectorIndexOptions } from "../../recall/vectors/vector-index.ts";

const DIMENSIONS = 40;

/** Pseudo-random numbers, the same for each seed. */
function vectorOf(seed: number, dimensions = DIMENSIONS): Float32Array {
  let state = Math.imul(seed + 1, 2_654_435_761) >>> 0;
  const numbers = Float32Array.from({ length: dimensions }, () => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 0x9e37_79b9) >>> 0;
    return state / 2 ** 31 - 1;
  });
  const length = Math.hypot(...numbers);
  return numbers.map((number) => number / length);
}

/** A vector near `center`; a larger spread makes it less similar. */
function near(center: Float32Array, seed: number, spread: number): Float32Array {
  const away = vectorOf(seed, center.length);
  const numbers = center.map((number, i) => number + spread * (away[i] ?? 0));
  const length = Math.hypot(...numbers);
  return numbers.map((number) => number / length);
}

function idOf(number: number): EntryId {
  return `mem_${`${number}`.padStart(32, "0")}` as EntryId; // the form of a store's ids
}

function joined(vectors: readonly Float32Array[]): Float32Array {
  return Float32Array.from(vectors.flatMap((one) => [...one]));
}

function similarity(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, number, i) => sum + number * (b[i] ?? 0), 0);
}

/** Without passages, removes the entry. */
function take(
  index: VectorIndex,
  held: Map<EntryId, readonly Float32Array[]>,
  step: { readonly id: number; readonly passages: readonly number[] },
): void {
  const id = idOf(step.id);
  const vectors = step.passages.map((seed) => vectorOf(seed));
  if (vectors.length === 0) {
    index.remove(id);
    held.delete(id);
    return;
  }
  index.set(id, joined(vectors));
  held.set(id, vectors);
}

describe("any sequence of setting and removing", () => {
  const passages = fc.array(fc.nat(500), { minLength: 1, maxLength: 4 });
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.record({ id: fc.nat(30), passages }) },
    { weight: 1, arbitrary: fc.record({ id: fc.nat(30), passages: fc.constant([]) }) },
  );
  const kinds: Readonly<Record<string, VectorIndexOptions>> = {
    "while all are exact": { exactUpTo: 1_000 },
    "when they are rounded early": { exactUpTo: 5, candidates: 1_000 },
    "when they are rounded from the first": { exactUpTo: 0, candidates: 1_000 },
  };
  for (const [kind, options] of Object.entries(kinds)) {
    test(`finds the same as an exhaustive comparison, ${kind}`, () => {
      fc.assert(
        fc.property(fc.array(step, { maxLength: 60 }), fc.nat(500), (steps, question) => {
          const index = new VectorIndex(DIMENSIONS, options);
          const held = new Map<EntryId, readonly Float32Array[]>();
          for (const taken of steps) take(index, held, taken);
          const query = vectorOf(question);
          const expected = [...held].flatMap(([id, vectors]) =>
            vectors.map((vector, passage) => ({ id, passage, similarity: similarity(query, vector) })),
          );
          const found = index.search(query, 1_000);
          expect(found).toHaveLength(expected.length);
          expect([index.entryCount, index.passageCount]).toEqual([held.size, expected.length]);
          for (const one of expected) {
            const hit = found.find(({ id, passage }) => id === one.id && passage === one.passage);
            expect(Math.abs((hit?.similarity ?? 9) - one.similarity)).toBeLessThan(0.01);
          }
          const order = found.map((hit) => hit.similarity);
          expect(order).toEqual(order.toSorted((a, b) => b - a));
        }),
        { numRuns: 150 },
      );
    });
  }
});

describe("many entries", () => {
  const COUNT = 6_000;
  const centers = Array.from({ length: 60 }, (_, i) => vectorOf(1_000_000 + i, 128));
  const centerOf = (i: number): Float32Array => centers[i % centers.length] ?? vectorOf(0, 128);
  const vectors = Array.from({ length: COUNT }, (_, i) => near(centerOf(i), i, 0.8));
  const fill = (index: VectorIndex): VectorIndex => {
    for (const [i, vector] of vectors.entries()) index.set(idOf(i), vector);
    return index;
  };

  test("beyond the threshold are found nearly as well as by exact comparison", () => {
    const index = fill(new VectorIndex(128, { exactUpTo: 500, candidates: 500 }));
    const exact = fill(new VectorIndex(128, { exactUpTo: COUNT }));
    let found = 0;
    for (let question = 0; question < 100; question += 1) {
      const query = near(centerOf(question), 2_000_000 + question, 0.6);
      const ids = new Set(index.search(query, 10).map(({ id }) => id));
      found += exact.search(query, 10).filter(({ id }) => ids.has(id)).length;
    }
    expect(found).toBeGreaterThan(980); // out of 1,000
  });

  test("take a quarter of the memory, and free it when they are removed", () => {
    const index = fill(new VectorIndex(128));
    expect(index.sizeBytes).toBeLessThan(1.4 * COUNT * 128);
    for (let i = 10; i < COUNT; i += 1) index.remove(idOf(i));
    expect(index.sizeBytes).toBeLessThan(0.5 * COUNT * 128);
    expect(index.search(near(centerOf(3), 3, 0.1), 50).map(({ id }) => id)).toHaveLength(10);
  });

  test("that are all equal are found up to the limit, in the order of their ids", () => {
    const index = new VectorIndex(128, { exactUpTo: 10, candidates: 30 });
    for (let i = 0; i < 20; i += 1) index.set(idOf(19 - i), vectorOf(7, 128));
    expect(index.search(vectorOf(7, 128), 5).map(({ id }) => id)).toEqual([0, 1, 2, 3, 4].map(idOf));
  });
});

test("a question of another length finds nothing, and so does one to an empty index", () => {
  const index = new VectorIndex(DIMENSIONS);
  expect(index.search(vectorOf(1), 5)).toEqual([]);
  index.set(idOf(1), vectorOf(1));
  expect(index.search(vectorOf(1, 39), 5)).toEqual([]);
  expect(index.search(vectorOf(1), 5)).toEqual([
    { id: idOf(1), passage: 0, similarity: expect.closeTo(1, 5) },
  ]);
});

test("dimensions that fill no word, and zero vectors, work", () => {
  const index = new VectorIndex(33, { exactUpTo: 0 });
  index.set(idOf(1), new Float32Array(33));
  index.set(idOf(2), vectorOf(2, 33));
  expect(index.search(vectorOf(2, 33), 2).map(({ id }) => id)).toEqual([idOf(2), idOf(1)]);
});
