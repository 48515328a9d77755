import { beforeEach, describe, expect, test } from "vitest";
import { openBenchMemory, openHybridSearch } from "../../bench/recall/bench-memory.ts";
import { exactVectorsOver } from "../../bench/recall/exact-vectors.ts";
import { keepEmbeddings } from "../../bench/recall/kept-embeddings.ts";
import { type Answered, aimsMissed, cutOnDev, paraphraseFigures } from "../../bench/recall/paraphrases.ts";
import { namespaceOf } from "../../engine/store/namespace.ts";
import type { Embedder } from "../../recall/embedder.ts";
import { tempFolder } from "../app/fixtures/memories.ts";
import { FakeClock } from "../sidecar/fake-clock.ts";

const hit = (key: string, score: number) => ({ key, score });
const possible = (key: string) => ({ key, score: 0.2, possible: true }) as const;

function answered(
  wanted: string | undefined,
  hits: Answered["hits"],
  more: Partial<Answered> = {},
): Answered {
  return { id: "x", half: "dev", wanted, isNearMiss: false, hits, ...more };
}

describe("figures of the paraphrase bench", () => {
  test("count positions, scores and false hits, near misses separately", () => {
    const figures = paraphraseFigures([
      answered("a", [hit("a", 0.8)]),
      answered("b", [hit("a", 0.8), hit("c", 0.7), hit("b", 0.6)]),
      answered("c", [hit("a", 0.8), hit("b", 0.7), hit("d", 0.6), hit("c", 0.5)]),
      answered("d", []),
      answered(undefined, [hit("a", 0.4)], { isNearMiss: true }),
      answered(undefined, [], { isNearMiss: true }),
      answered(undefined, []),
      answered(undefined, [possible("a"), possible("b")]),
    ]);
    expect(figures).toEqual({
      hitAt1: 0.25,
      hitAt3: 0.5,
      meanScore: expect.closeTo(0.7),
      falseHits: 0.25,
      falseHitsNear: 0.5,
      falseHitsOther: 0,
      possible: 0.5,
    });
  });

  test("choose a cut-off on one half and apply it to the other", () => {
    const noise = Array.from({ length: 20 }, (_, place) => answered(undefined, [hit("a", place / 100)]));
    const foreign = { half: "held out" } as const;
    const cut = cutOnDev([
      ...noise,
      answered(undefined, [hit("a", 0.9)], foreign),
      answered("a", [hit("a", 0.19), hit("b", 0.18), hit("c", 0.1)], foreign),
    ]);
    expect(paraphraseFigures(cut.slice(0, 20)).falseHits).toBe(0.05);
    expect(cut.at(-2)?.hits).toHaveLength(1);
    expect(cut.at(-1)?.hits).toEqual([hit("a", 0.19)]);
  });
});

describe("the goals of the paraphrase bench", () => {
  const found = answered("a", [hit("a", 0.8)]);
  const alarm = answered(undefined, ["a", "b", "c"].map(possible));
  const quiet = answered(undefined, []);

  test("are listed with the figure when they are missed", () => {
    const [line = ""] = aimsMissed([found, answered("b", []), alarm]);
    expect(line).toContain("among the first three 50.0 %, aim above 85 %");
    expect(line).toContain("possible hits 3.00, aim at most 2");
    expect(aimsMissed([found, alarm])[0]).not.toContain("among the first three");
  });

  test("are not listed if they are reached, or if no question was asked", () => {
    expect(aimsMissed([found, quiet])).toEqual([]);
    expect(aimsMissed([])).toEqual([]);
  });
});

/** Counts its requests; a text's vector tells which letters the text contains. */
class CountingEmbedder implements Embedder {
  readonly model = "counting";
  readonly space = "counting";
  readonly dimensions = undefined;
  readonly asked: string[] = [];

  async embedDocuments(texts: readonly string[]) {
    this.asked.push(...texts);
    return { vectors: texts.map(lettersOf), truncated: [] };
  }

  async embedQuery(text: string) {
    this.asked.push(text);
    return lettersOf(text);
  }

  close() {}
}

function lettersOf(text: string): Float32Array {
  const vector = new Float32Array(26);
  for (const letter of text.toLowerCase().match(/[a-z]/g) ?? []) vector[letter.charCodeAt(0) - 97] = 1;
  const length = Math.hypot(...vector);
  return vector.map((number) => number / length);
}

let folder: string;
beforeEach(async () => {
  folder = await tempFolder();
});

describe("cached embeddings", () => {
  test("are requested once, in any order, and are returned unchanged", async () => {
    const first = new CountingEmbedder();
    const before = keepEmbeddings(first, folder);
    await before.embedDocuments(["abc", "xyz", "abc"]);
    expect(first.asked).toEqual(["abc", "xyz"]);
    before.close();

    const second = new CountingEmbedder();
    const after = keepEmbeddings(second, folder);
    const { vectors } = await after.embedDocuments(["xyz", "abc"]);
    expect(second.asked).toEqual([]);
    expect(vectors).toEqual([lettersOf("xyz"), lettersOf("abc")]);
    expect(after.dimensions).toBe(26);
    after.close();
  });

  test("are separate for questions and documents, since models read them differently", async () => {
    const inner = new CountingEmbedder();
    const kept = keepEmbeddings(inner, folder);
    await kept.embedDocuments(["abc"]);
    await kept.embedQuery("abc");
    expect(inner.asked).toEqual(["abc", "abc"]);
    kept.close();
  });
});

test("exact search ranks entries by their best passage, nearest first", async () => {
  const memory = await openBenchMemory();
  try {
    const long = `${"zzz qqq. ".repeat(200)}\n\nabcdef abcdef`;
    await memory.fill("main", [
      { key: "k", value: "abc" },
      { key: "l", value: long },
      { key: "m", value: "xyz" },
    ]);
    const search = await exactVectorsOver(await memory.entries(namespaceOf("main")), new CountingEmbedder());
    const hits = await search("abcdef", 2);
    expect(hits.map(({ key }) => key)).toEqual(["l", "k"]);
    expect(hits[0]?.score).toBeGreaterThan(hits[1]?.score ?? 1);
  } finally {
    await memory.close();
  }
});

test("the bench's hybrid search waits a minute for a question's vector, so that slow machines do not fail", async () => {
  const memory = await openBenchMemory();
  const clock = new FakeClock();
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  class SlowEmbedder extends CountingEmbedder {
    override async embedQuery(text: string): Promise<Float32Array> {
      asked.resolve();
      await answer.promise;
      return super.embedQuery(text);
    }
  }
  const { timer } = clock;
  const hybrid = openHybridSearch(memory.memory.store, new SlowEmbedder(), {}, timer);
  try {
    await memory.fill("main", [{ key: "k", value: "abc" }]);
    await hybrid.fill("main");
    const searching = hybrid.search("main", "abc", 1);
    await asked.promise;
    clock.advance(60_000);
    answer.resolve();
    expect((await searching).map(({ key }) => key)).toEqual(["k"]);
  } finally {
    hybrid.close();
    await memory.close();
  }
});
