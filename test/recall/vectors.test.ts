/**
 * Vectors follow the store: stored entries are found, replaced or forgotten ones are not, and nothing is embedded again after a
 * restart.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { recallOverStore } from "../../app/corpus-pages.ts";
import { vectorCacheOver } from "../../app/embedding/open-embeddings.ts";
import { openStoreInMemory } from "../../engine/store/sqlite/open-in-memory.ts";
import { createRecall } from "../../recall/recall.ts";
import type { CorpusSource } from "../../recall/search-contract.ts";
import type { VectorCache } from "../../recall/vectors/semantic-contract.ts";
import { ANA, aFewTurns, BEN, openSemanticRig as open, type SemanticRig, untilIdle } from "./vectors-rig.ts";

describe("an entry", () => {
  test("is embedded in the background and found by its words, nearest first", async () => {
    const rig = await open();
    await rig.put("deploy", "I always deploy via Konflux");
    await rig.put("editor", "My editor is vim with dark colours");
    await rig.put("lunch", "Lunch is at noon in the garden");
    await rig.catchUp();
    expect(rig.index.coverage(ANA)).toEqual({ embedded: 0, total: 3, refused: 0 });
    expect(rig.index.serving(ANA)).toBeUndefined();
    await rig.index.settled(ANA);
    expect(rig.index.coverage(ANA)).toEqual({ embedded: 3, total: 3, refused: 0 });
    expect((await rig.keysFor("editor with dark colours"))[0]).toBe("editor");
    expect((await rig.keysFor("lunch in the garden at noon"))[0]).toBe("lunch");
    const hits = await rig.search("deploy: I always deploy via Konflux");
    expect(hits[0]).toMatchObject({ passage: 0 });
    expect(hits[0]?.similarity).toBeCloseTo(1, 5);
    await untilIdle(rig);
    expect(rig.index.status()).toMatchObject({ embedded: 3, waiting: 0, state: "idle", model: "words" });
  });

  test("with a long value is found by the matching passage", async () => {
    const rig = await open();
    const paragraphs = Array.from({ length: 6 }, (_, i) => `Paragraph${i} `.repeat(40).trim());
    await rig.put("minutes", paragraphs.join("\n\n"));
    await rig.catchUpAndSettle();
    for (const [i, paragraph] of paragraphs.entries()) {
      expect((await rig.search(`minutes: ${paragraph}`))[0]).toMatchObject({ passage: i });
    }
    expect(await rig.keptCount()).toBe(1);
  });

  test("is not embedded again when only its life is renewed, nor after a restart", async () => {
    const rig = await open();
    await rig.put("editor", "vim");
    await rig.catchUpAndSettle();
    await rig.put("editor", "vim");
    await rig.catchUpAndSettle();
    const again = await open({ store: rig.store });
    await again.catchUpAndSettle();
    expect([rig.embedder.calls.length, again.embedder.calls.length]).toEqual([1, 0]);
    expect(await again.keysFor("vim")).toEqual(["editor"]);
  });

  test("whose value changed and changed back between two look-ups is stored again", async () => {
    const rig = await open();
    await rig.put("editor", "vim");
    await rig.catchUpAndSettle();
    await rig.put("editor", "emacs");
    await rig.put("editor", "vim");
    await rig.catchUpAndSettle();
    expect(await rig.keptCount()).toBe(1);
    expect(await rig.keysFor("vim")).toEqual(["editor"]);
  });

  test("with a replaced value is no longer found by the old one, from the replacement on", async () => {
    const rig = await open();
    await rig.put("editor", "crimson kayak");
    await rig.catchUpAndSettle();
    await rig.put("editor", "turquoise canoe");
    await rig.catchUp();
    expect(await rig.search("crimson kayak")).toEqual([]);
    await rig.index.settled(ANA);
    expect((await rig.search("editor: turquoise canoe"))[0]?.similarity).toBeCloseTo(1, 5);
    expect((await rig.search("editor: crimson kayak"))[0]?.similarity).toBeLessThan(0.9);
  });

  test("that was forgotten is removed from the index and the store", async () => {
    const rig = await open();
    await rig.put("editor", "vim");
    await rig.put("shell", "zsh");
    await rig.catchUpAndSettle();
    await rig.forget("editor");
    await rig.catchUp();
    expect(await rig.keysFor("vim")).toEqual(["shell"]);
    expect([rig.index.coverage(ANA).total, await rig.keptCount()]).toEqual([1, 1]);
  });

  test.each([true, false])(
    "forgotten while it is embedded never gets a row (reported: %s)",
    async (isTold) => {
      const rig = await open();
      await rig.put("editor", "vim");
      await rig.put("shell", "zsh");
      const release = await rig.catchUpHeld();
      await rig.forget("editor");
      if (isTold) await rig.catchUp();
      release();
      await rig.index.settled(ANA);
      expect(await rig.keysFor("editor vim")).toEqual(["shell"]);
      expect(await rig.keptCount()).toBe(1);
    },
  );

  test.each([true, false])(
    "replaced while it is embedded keeps the new value's vector (reported: %s)",
    async (isTold) => {
      const rig = await open();
      await rig.put("editor", "crimson kayak");
      const release = await rig.catchUpHeld();
      await rig.put("editor", "turquoise canoe");
      if (isTold) await rig.catchUp();
      release();
      await rig.index.settled(ANA);
      if (!isTold) {
        expect([await rig.search("crimson kayak"), await rig.keptCount()]).toEqual([[], 0]);
        await rig.catchUpAndSettle();
      }
      expect((await rig.search("editor: turquoise canoe"))[0]?.similarity).toBeCloseTo(1, 5);
      expect((await rig.search("editor: crimson kayak"))[0]?.similarity).toBeLessThan(0.9);
    },
  );
});

describe("a namespace", () => {
  test("never sees a thousand near-duplicates of another, in the index or from the cache", async () => {
    const store = await openStoreInMemory();
    const options = { store, index: { exactUpTo: 200, candidates: 50 } };
    const rig = await open(options);
    await rig.put("mine", "something else entirely");
    for (let i = 0; i < 1_000; i += 1)
      await rig.put(`bens-${i}`, `the secret harbour is Rotterdam ${i}`, BEN);
    for (const one of [rig, await open(options)]) {
      await Promise.all([one.catchUpAndSettle(ANA), one.catchUpAndSettle(BEN)]);
      expect(await one.keysFor("the secret harbour is Rotterdam 7", ANA, 50)).toEqual(["mine"]);
      expect(one.index.coverage(ANA)).toEqual({ embedded: 1, total: 1, refused: 0 });
      const bens = await one.keysFor("bens 7: the secret harbour is Rotterdam 7", BEN, 50);
      expect([bens[0], bens.length]).toEqual(["bens-7", 50]);
    }
  });

  test("that was evicted is not searched, and is restored from the cache", async () => {
    const rig = await open();
    await rig.put("editor", "vim");
    await rig.catchUpAndSettle();
    rig.drop();
    expect([rig.index.serving(ANA), rig.index.coverage(ANA).total]).toEqual([undefined, 0]);
    await rig.catchUpAndSettle();
    expect(await rig.keysFor("vim")).toEqual(["editor"]);
    expect(rig.embedder.calls).toHaveLength(1);
  });

  test("gets a turn while another has much to do", async () => {
    const rig = await open();
    for (let i = 0; i < 200; i += 1) await rig.put(`bens-${i}`, `number ${i}`, BEN);
    await rig.put("mine", "something small");
    await rig.catchUp(BEN);
    await rig.catchUpAndSettle(ANA);
    expect(rig.index.coverage(BEN).embedded).toBeLessThan(100);
    await rig.index.settled(BEN);
  });
});

type Step =
  | { readonly do: "put"; readonly key: string; readonly value: string }
  | { readonly do: "forget"; readonly key: string }
  | { readonly do: "tell" }
  | { readonly do: "turn" };

async function take(rig: SemanticRig, values: Map<string, string>, taken: Step): Promise<void> {
  if (taken.do === "tell") return rig.catchUp();
  if (taken.do === "turn") return aFewTurns();
  if (taken.do === "forget") {
    values.delete(taken.key);
    return rig.forget(taken.key);
  }
  values.set(taken.key, taken.value);
  return rig.put(taken.key, taken.value);
}

describe("any sequence of writing and forgetting", () => {
  test("leaves exactly the vectors of the current values, in memory and in the store", async () => {
    const key = fc.constantFrom("a", "b", "c", "d");
    const value = fc.constantFrom("crimson", "turquoise", "ochre", "magenta");
    const step: fc.Arbitrary<Step> = fc.oneof(
      fc.record({ do: fc.constant("put" as const), key, value }),
      fc.record({ do: fc.constant("forget" as const), key }),
      fc.record({ do: fc.constant("tell" as const) }),
      fc.record({ do: fc.constant("turn" as const) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const rig = await open({ index: { exactUpTo: 2, candidates: 50 } });
        const values = new Map<string, string>();
        for (const taken of steps) await take(rig, values, taken);
        await rig.catchUpAndSettle();
        expect(rig.index.coverage(ANA)).toEqual({ embedded: values.size, total: values.size, refused: 0 });
        expect(await rig.keptCount()).toBe(values.size);
        for (const [name, text] of values) {
          expect((await rig.search(`${name}: ${text}`))[0]?.similarity).toBeGreaterThan(0.99);
          expect((await rig.keysFor(`${name}: ${text}`))[0]).toBe(name);
        }
        rig.index.close();
      }),
      { numRuns: 100 },
    );
  });
});

test("keyword search has priority: no vector is read before everything is found by keywords", async () => {
  const rig = await open();
  for (let i = 0; i < 7; i += 1) await rig.put(`fact-${i}`, `kayak number ${i}`);
  await rig.catchUpAndSettle();
  const events: string[] = [];
  const source: CorpusSource = {
    async changes(...wanted) {
      const page = await recallOverStore(rig.store).changes(...wanted);
      await aFewTurns(); // enough time to read vectors
      events.push("words");
      return page;
    },
  };
  const kept = vectorCacheOver(rig.store);
  const load: VectorCache["load"] = (...wanted) => {
    events.push("vectors");
    return kept.load(...wanted);
  };
  const again = await open({ store: rig.store, cache: { ...kept, load } });
  const recall = createRecall({ source, now: Date.now, semantic: again.index, batchSize: 2 });
  await recall.warm(ANA);
  await again.index.settled(ANA);
  expect(events.lastIndexOf("words")).toBeLessThan(events.indexOf("vectors"));
  expect(events.filter((one) => one === "words").length).toBeGreaterThan(3);
  expect(again.index.coverage(ANA).embedded).toBe(7);
});
