/** Semantic search during failures and changes of the service, the model and the cache, and during closing. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { vectorCacheOver } from "../../app/embedding/open-embeddings.ts";
import { HelmdeckError } from "../../engine/errors.ts";
import { openStoreInMemory } from "../../engine/store/sqlite/open-in-memory.ts";
import { DRIVERS, openSqliteRig } from "../engine/store/sqlite-rig.ts";
import {
  ANA,
  aFewTurns,
  openSemanticRig as open,
  type SemanticRig,
  untilIdle,
  WordEmbedder,
} from "./vectors-rig.ts";

const UNAVAILABLE = new HelmdeckError("embeddings_unavailable", "The service is down.");

describe("a service", () => {
  test("that is down is retried after growing pauses, and embedding resumes automatically", async () => {
    const rig = await open();
    rig.embedder.failing = () => UNAVAILABLE;
    await rig.put("editor", "vim");
    await rig.catchUp();
    for (let i = 0; i < 12; i += 1) {
      await rig.hand.isSet();
      expect(rig.index.status()).toMatchObject({ state: "waiting", lastError: "embeddings_unavailable" });
      rig.hand.fire();
    }
    await rig.hand.isSet();
    // With 0.5 for the random number, pauses are three quarters of 1, 2, 4 … seconds, up to three quarters of five minutes.
    expect(rig.hand.pauses.slice(0, 4)).toEqual([750, 1_500, 3_000, 6_000]);
    expect(Math.max(...rig.hand.pauses)).toBe(225_000);
    await rig.put("shell", "zsh"); // a new fact does not shorten the pause
    await rig.catchUp();
    expect(rig.hand.waiting).toBe(1);
    rig.embedder.failing = undefined;
    rig.hand.fire();
    await rig.index.settled(ANA);
    await untilIdle(rig);
    expect(rig.index.status()).toMatchObject({ embedded: 2, lastError: undefined });
  });

  test("that asks to wait gets that time in addition", async () => {
    const rig = await open();
    rig.embedder.failing = () =>
      new HelmdeckError("rate_limited", "Later.", { details: { retryAfterMs: 20_000 } });
    await rig.put("editor", "vim");
    await rig.catchUp();
    await rig.hand.isSet();
    expect(rig.hand.pauses).toEqual([20_750]);
  });

  test("that always refuses one entry no longer receives it, and embeds all others", async () => {
    const rig = await open();
    for (let i = 0; i < 40; i += 1) await rig.put(`k${i}`, i === 13 ? "poison" : `number ${i}`);
    rig.embedder.failing = (texts) =>
      texts.some((text) => text.includes("poison")) ? UNAVAILABLE : undefined;
    const settled = rig.catchUp().then(() => rig.index.settled(ANA));
    let isSettled = false;
    settled.then(() => {
      isSettled = true;
    });
    while (!isSettled) {
      await Promise.race([rig.hand.isSet(), settled]);
      rig.hand.fire();
    }
    expect(rig.index.coverage(ANA)).toEqual({ embedded: 39, total: 40, refused: 1 });
    rig.embedder.failing = undefined;
    await rig.put("k13", "harmless");
    await rig.catchUpAndSettle();
    expect(rig.index.coverage(ANA)).toEqual({ embedded: 40, total: 40, refused: 0 });
  });

  test("that rejects a text is not waited for", async () => {
    const rig = await open();
    await rig.put("good", "fine words");
    await rig.put("bad", "poison");
    rig.embedder.failing = (texts) =>
      texts.some((text) => text.includes("poison")) ? new HelmdeckError("invalid_input", "No.") : undefined;
    await rig.catchUpAndSettle();
    expect(rig.hand.pauses).toEqual([]);
    expect(rig.index.coverage(ANA)).toEqual({ embedded: 1, total: 2, refused: 1 });
  });

  test("that returns invalid vectors gets nothing stored", async () => {
    const flaw = fc.constantFrom<(vectors: readonly Float32Array[]) => readonly Float32Array[]>(
      () => [],
      (vectors) => vectors.slice(1),
      (vectors) => [...vectors, ...vectors],
      (vectors) => vectors.map((one, i) => (i === 0 ? one.map(() => 0) : one)),
      (vectors) => vectors.map((one) => one.map(() => Number.NaN)),
      (vectors) => vectors.map((one) => one.with(3, Number.POSITIVE_INFINITY)),
      (vectors) => vectors.map((one) => one.map((number) => number * 2)),
      (vectors) => vectors.map((one, i) => (i === 1 ? one.subarray(1) : one)),
      (vectors) => vectors.map(() => new Float32Array(0)),
    );
    await fc.assert(
      fc.asyncProperty(flaw, fc.integer({ min: 2, max: 5 }), async (answering, count) => {
        const rig = await open();
        rig.embedder.answering = answering;
        for (let i = 0; i < count; i += 1) await rig.put(`k${i}`, `number ${i}`);
        await rig.catchUp();
        await rig.hand.isSet();
        expect(rig.index.status()).toMatchObject({ lastError: "embeddings_unavailable", embedded: 0 });
        expect(await rig.keptCount()).toBe(0);
        rig.index.close();
      }),
      { numRuns: 60 },
    );
  });
});

describe("a change of model", () => {
  const withOldModel = async (): Promise<SemanticRig> => {
    const rig = await open({ embedder: new WordEmbedder("old") });
    await rig.put("editor", "crimson kayak");
    await rig.put("shell", "turquoise canoe");
    await rig.catchUpAndSettle();
    rig.index.close();
    return rig;
  };

  test("keeps the old vectors until the new ones are complete, and then drops them", async () => {
    const old = await withOldModel();
    const embedder = new WordEmbedder("new", 48);
    const formerEmbedder = (space: string) => (space === old.embedder.space ? old.embedder : undefined);
    const rig = await open({ store: old.store, embedder, formerEmbedder });
    const release = await rig.catchUpHeld();
    expect(rig.index.serving(ANA)).toBe(old.embedder);
    expect(rig.index.coverage(ANA)).toMatchObject({ embedded: 2, total: 2 });
    expect((await rig.keysFor("crimson kayak"))[0]).toBe("editor");
    await rig.forget("shell"); // also removes it from the vectors in use
    await rig.catchUp();
    expect(await rig.keysFor("turquoise canoe")).toEqual(["editor"]);
    release();
    await rig.index.settled(ANA);
    expect(rig.index.serving(ANA)).toBe(embedder);
    expect((await rig.keysFor("crimson kayak"))[0]).toBe("editor");
    await untilIdle(rig);
    expect(await rig.store.vectorSpaces()).toEqual([`1:${embedder.space}`]);
    expect(await rig.keptCount(old.embedder)).toBe(0);
  });

  test("that is interrupted continues at the next start, with all the old vectors until then", async () => {
    const old = await withOldModel();
    for (let i = 0; i < 40; i += 1) await old.put(`k${i}`, `number ${i}`);
    const before = await open({ store: old.store, embedder: new WordEmbedder("old") });
    await before.catchUpAndSettle();
    before.index.close();
    const half = new WordEmbedder("new");
    half.failing = () => (half.calls.length > 1 ? UNAVAILABLE : undefined);
    const formerEmbedder = () => old.embedder;
    const cut = await open({ store: old.store, embedder: half, formerEmbedder });
    await cut.catchUp();
    await cut.hand.isSet();
    expect(cut.index.status()).toMatchObject({ embedded: 32, waiting: 10 });
    cut.index.close();
    const stuck = new WordEmbedder("new");
    stuck.failing = () => UNAVAILABLE;
    const again = await open({ store: old.store, embedder: stuck, formerEmbedder });
    await again.catchUp();
    await again.hand.isSet();
    expect(again.index.serving(ANA)).toBe(old.embedder);
    expect(again.index.coverage(ANA)).toMatchObject({ embedded: 42, total: 42 });
    stuck.failing = undefined;
    again.hand.fire();
    await again.index.settled(ANA);
    expect(stuck.calls.flat()).toHaveLength(10 + 10);
    expect(again.index.serving(ANA)).toBe(stuck);
  });

  test("without the old model uses the new one's vectors so far", async () => {
    const old = await withOldModel();
    const rig = await open({ store: old.store, embedder: new WordEmbedder("new") });
    await rig.catchUp();
    expect(rig.index.serving(ANA)).toBeUndefined();
    await rig.index.settled(ANA);
    await untilIdle(rig);
    expect(await rig.keptCount(old.embedder)).toBe(0);
  });

  test("behind the same name is detected: everything is embedded again", async () => {
    const store = await openStoreInMemory();
    const before = await open({ store, embedder: new WordEmbedder("words", 96) });
    await before.put("editor", "crimson kayak");
    await before.catchUpAndSettle();
    before.index.close();
    const rig = await open({ store, embedder: new WordEmbedder("words", 48) });
    await rig.catchUpAndSettle();
    expect(rig.embedder.calls).toHaveLength(0);
    await rig.put("shell", "turquoise canoe");
    await rig.catchUpAndSettle(); // the model's first answer with 48 dimensions
    await rig.catchUpAndSettle(); // rereads, as the index requested
    expect(await rig.keysFor("crimson kayak")).toEqual(["editor", "shell"]);
  });
});

describe("the cache", () => {
  test("that fails is retried later, and nothing is embedded twice for it", async () => {
    const store = await openStoreInMemory();
    const cache = vectorCacheOver(store);
    let failures = 2;
    const put: typeof cache.put = async (...args) => {
      if (failures-- > 0) throw new HelmdeckError("store_locked", "Somebody writes.");
      return cache.put(...args);
    };
    const rig = await open({ store, cache: { ...cache, put } });
    await rig.put("editor", "vim");
    await rig.catchUp();
    for (let i = 0; i < 2; i += 1) {
      await rig.hand.isSet();
      expect(rig.index.status().lastError).toBe("store_locked");
      rig.hand.fire();
    }
    await rig.index.settled(ANA);
    expect([rig.embedder.calls.length, await rig.keptCount()]).toEqual([1, 1]);
  });

  test.each(DRIVERS)("in a file ($name): a row that does not open is embedded again", async (driver) => {
    const file = await openSqliteRig(driver);
    try {
      const rig = await open({ store: file.store });
      await rig.put("editor", "vim");
      await rig.put("shell", "zsh");
      await rig.catchUpAndSettle();
      rig.index.close();
      await file.tamper("UPDATE vectors SET sealed = zeroblob(500) WHERE rowid = 1");
      const again = await open({ store: await file.openAgain() });
      await again.catchUpAndSettle();
      expect(again.embedder.calls.flat()).toHaveLength(1);
      expect(again.index.coverage(ANA)).toMatchObject({ embedded: 2 });
      again.index.close();
      const last = await open({ store: file.store });
      await last.catchUpAndSettle();
      expect(last.embedder.calls).toEqual([]);
    } finally {
      await file.dispose();
    }
  });

  test("is only read by a read-only process", async () => {
    const rig = await open();
    await rig.put("editor", "vim");
    await rig.catchUpAndSettle();
    await rig.put("shell", "zsh");
    const reader = await open({ store: rig.store, readOnly: true });
    await reader.catchUp();
    await untilIdle(reader);
    expect(await reader.keysFor("vim")).toEqual(["editor"]);
    expect(reader.index.coverage(ANA)).toEqual({ embedded: 1, total: 2, refused: 0 });
    expect(reader.embedder.calls).toEqual([]);
    const other = await open({ store: rig.store, readOnly: true, embedder: new WordEmbedder("other") });
    await other.catchUp();
    await untilIdle(other);
    expect(await rig.keptCount()).toBe(1);
  });

  test("is read in small steps, with room for others in between", async () => {
    const store = await openStoreInMemory();
    const rig = await open({ store });
    for (let i = 0; i < 500; i += 1) await rig.put(`k${i}`, `number ${i}`);
    await rig.catchUpAndSettle();
    rig.index.close();
    const cache = vectorCacheOver(store);
    const asked: number[] = [];
    let turns = 0;
    const turnsAt: number[] = [];
    const load: typeof cache.load = (namespace, space, ids) => {
      asked.push(ids.length);
      turnsAt.push(turns);
      return cache.load(namespace, space, ids);
    };
    const again = await open({ store, cache: { ...cache, load } });
    const counting = setInterval(() => undefined, 1_000);
    const count = (): void => {
      turns += 1;
      if (again.index.coverage(ANA).embedded < 500) setImmediate(count);
    };
    setImmediate(count);
    await again.catchUpAndSettle();
    clearInterval(counting);
    expect(Math.max(...asked)).toBeLessThanOrEqual(64);
    expect(new Set(turnsAt).size).toBe(asked.length); // each in another turn of the event loop
  });
});

describe("closing", () => {
  test("stops at once: unfinished work is discarded, waiting callers are released, no timer is left", async () => {
    const rig = await open();
    await rig.put("editor", "vim");
    const release = await rig.catchUpHeld();
    const settled = rig.index.settled(ANA);
    rig.index.close();
    await settled;
    release();
    await aFewTurns();
    expect([await rig.keptCount(), rig.index.serving(ANA)]).toEqual([0, undefined]);
    expect(rig.index.status()).toMatchObject({ state: "closed" });
    await rig.catchUp(); // closed, so it ignores the change
    await aFewTurns();
    expect([rig.embedder.calls.length, rig.hand.waiting]).toEqual([1, 0]);
  });

  test("during a pause ends it", async () => {
    const rig = await open();
    rig.embedder.failing = () => UNAVAILABLE;
    await rig.put("editor", "vim");
    await rig.catchUp();
    await rig.hand.isSet();
    rig.index.close();
    expect(rig.hand.waiting).toBe(0);
  });
});
