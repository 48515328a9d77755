/** Embedding in a short-lived process: the order of work, when it ends, and the work left for the next process. */
import { describe, expect, test } from "vitest";
import { referenceCacheOver } from "../../app/embedding/open-embeddings.ts";
import { HelmdeckError } from "../../engine/errors.ts";
import type { MemoryStore } from "../../engine/store/memory-store.ts";
import { openStoreInMemory } from "../../engine/store/sqlite/open-in-memory.ts";
import { REFERENCE_TEXTS, ReferenceVectors } from "../../recall/meaning/reference-vectors.ts";
import type { Coverage } from "../../recall/vectors/semantic-contract.ts";
import { ANA, BEN, openSemanticRig as open, type SemanticRig } from "./vectors-rig.ts";

const DOWN = new HelmdeckError("embeddings_unavailable", "The service is down.");

/** A store with three facts, and an index that only reads vectors until a test requests embedding. */
async function reader(given?: MemoryStore): Promise<SemanticRig> {
  const store = given ?? (await openStoreInMemory());
  const references = new ReferenceVectors(referenceCacheOver(store));
  const rig = await open({ store, references, readOnly: true });
  if ((await store.namespaces()).length === 0)
    for (const key of ["first", "second", "third"]) await rig.put(key, key);
  await rig.catchUpAndSettle();
  return rig;
}

const textsOf = ({ embedder }: SemanticRig) => embedder.calls.flat();

describe("a read-only index", () => {
  test("is ready when all vectors are looked up, and sends nothing to the service", async () => {
    const rig = await reader();
    expect(rig.index.coverage(ANA)).toEqual({ embedded: 0, total: 3, refused: 0 });
    expect(rig.embedder.calls).toEqual([]);
    expect(rig.index.status()).toMatchObject({ embeds: false });
  });

  test("embeds on request the newest entry first and alone, then the reference texts, then the rest", async () => {
    const rig = await reader();
    expect(await rig.index.embed(ANA, { mostFailures: 1 })).toBeUndefined();
    expect(rig.embedder.calls[0]).toEqual(["third: third"]);
    expect(textsOf(rig).slice(1, 1 + REFERENCE_TEXTS.length)).toEqual(REFERENCE_TEXTS);
    expect(textsOf(rig).slice(1 + REFERENCE_TEXTS.length)).toEqual(["first: first", "second: second"]);
    expect(rig.index.coverage(ANA)).toEqual({ embedded: 3, total: 3, refused: 0 });
    const again = await reader(rig.store);
    expect(await again.index.embed(ANA, { mostFailures: 1 })).toBeUndefined();
    expect(again.embedder.calls).toEqual([]);
  });

  test("embeds a long entry last even if it is the newest, because time may run out", async () => {
    const store = await openStoreInMemory();
    const before = await open({ store, readOnly: true });
    const long = Array.from({ length: 12 }, (_, at) => `paragraph ${at} `.repeat(40)).join("\n\n");
    for (const key of ["first", "second"]) await before.put(key, key);
    await before.put("long", long);
    const rig = await reader(store);
    await rig.index.embed(ANA, { mostFailures: 1 });
    const entries = rig.embedder.calls.flat().filter((text) => !REFERENCE_TEXTS.includes(text));
    expect(entries.slice(0, 2)).toEqual(["first: first", "second: second"]);
    expect(entries.length).toBeGreaterThan(10);
    expect(rig.index.coverage(ANA)).toMatchObject({ embedded: 3, total: 3 });
  });

  test("ends at the first failure with its error, and keeps what was embedded for the next process", async () => {
    const rig = await reader();
    rig.embedder.failing = (texts) => (texts.includes("first: first") ? DOWN : undefined);
    expect(await rig.index.embed(ANA, { mostFailures: 1 })).toBe(DOWN);
    expect(await rig.keptCount()).toBe(1);
    const next = await reader(rig.store);
    await next.index.embed(ANA, { mostFailures: 1 });
    expect(textsOf(next)).toEqual(["second: second", "first: first"]);
  });

  test("continues after failures if allowed, and stops after the given number in a row", async () => {
    const rig = await reader();
    rig.embedder.failing = () => DOWN;
    const running = rig.index.embed(ANA, { mostFailures: 3 });
    for (let pause = 0; pause < 2; pause += 1) {
      await rig.hand.isSet();
      rig.hand.fire();
    }
    expect(await running).toBe(DOWN);
    expect(rig.embedder.calls).toHaveLength(3);
  });

  test("reports its progress after each step", async () => {
    const rig = await reader();
    const seen: Coverage[] = [];
    await rig.index.embed(ANA, { mostFailures: 1, onProgress: (coverage) => seen.push(coverage) });
    expect(seen[0]).toMatchObject({ embedded: 0, total: 3 });
    expect(seen.at(-1)).toMatchObject({ embedded: 3, total: 3 });
  });

  test.each([
    ["that is empty", BEN],
    ["that does not exist", ANA],
  ])("has nothing to do in a namespace %s", async (_, namespace) => {
    const rig = await open({ readOnly: true, references: new ReferenceVectors() });
    if (namespace === BEN) await rig.catchUp(BEN);
    expect(await rig.index.embed(namespace, { mostFailures: 1 })).toBeUndefined();
    expect(rig.embedder.calls).toEqual([]);
  });

  test("releases waiting callers when it is closed", async () => {
    const rig = await reader();
    rig.embedder.gate = new Promise(() => {});
    const called = rig.embedder.called();
    const running = rig.index.embed(ANA, { mostFailures: 1 });
    await called;
    rig.index.close();
    expect(await running).toBeUndefined();
  });
});

describe("reference vectors of a server", () => {
  test("are made without a question, also when all entries already had vectors", async () => {
    const store = await openStoreInMemory();
    const before = await open({ store });
    await before.put("first", "first");
    await before.catchUpAndSettle();
    const rig = await open({ store, references: new ReferenceVectors(referenceCacheOver(store)) });
    await rig.catchUp();
    await rig.index.embed(ANA, { mostFailures: 1 });
    expect(textsOf(rig)).toEqual(REFERENCE_TEXTS);
    expect((await store.referenceVectors(rig.embedder.space))?.vectors.length).toBe(
      96 * REFERENCE_TEXTS.length,
    );
  });

  test("block no entry when the service refuses them", async () => {
    const store = await openStoreInMemory();
    const rig = await open({ store, references: new ReferenceVectors(referenceCacheOver(store)) });
    rig.embedder.failing = (texts) => (REFERENCE_TEXTS.includes(texts[0] ?? "") ? DOWN : undefined);
    for (let fact = 0; fact < 100; fact += 1) await rig.put(`fact ${fact}`, "x");
    await rig.catchUp();
    let isSettled = false;
    const settled = rig.index.settled(ANA).then(() => {
      isSettled = true;
    });
    while (!isSettled) {
      await Promise.race([settled, rig.hand.isSet()]);
      rig.hand.fire();
    }
    expect(rig.index.coverage(ANA)).toEqual({ embedded: 100, total: 100, refused: 0 });
  });
});
