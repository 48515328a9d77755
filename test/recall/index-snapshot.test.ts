/** An index from its copy answers like one from rows, whatever happened since; a copy that does not serve is built anew. */
import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { IndexSnapshots, SnapshotFacts } from "../../engine/store/memory-store.ts";
import { LexicalIndex } from "../../recall/lexical/lexical-index.ts";
import type { RecallOptions } from "../../recall/recall.ts";
import type { SemanticIndex } from "../../recall/vectors/semantic-contract.ts";
import { textsOf } from "../../recall/vectors/semantic-index.ts";
import { FakeClock } from "../sidecar/fake-clock.ts";
import { corpusEntry, type FactSketch, NOW, OWNER, recallOf, SOME_WORDS, WritableSource } from "./corpus.ts";

/** One copy, in memory. */
class Kept implements IndexSnapshots {
  parts: readonly Uint8Array[] | undefined;
  facts: SnapshotFacts | undefined;
  saves = 0;
  begun = 0;
  ended = 0;
  /** If set, a save waits for it after the first part. */
  gate: Promise<void> | undefined;

  async load(_: unknown, build: string) {
    const { parts, facts } = this;
    if (parts === undefined || facts?.build !== build) return undefined;
    return { cursor: facts.cursor, parts: inTurns(parts) };
  }

  async has(_: unknown, build: string): Promise<boolean> {
    return this.parts !== undefined && this.facts?.build === build;
  }

  async save(_: unknown, facts: SnapshotFacts, parts: Iterable<Uint8Array>): Promise<boolean> {
    const taken: Uint8Array[] = [];
    this.begun += 1;
    try {
      for (const part of parts) {
        taken.push(part);
        await this.gate;
      }
    } finally {
      this.ended += 1;
    }
    [this.parts, this.facts, this.saves] = [taken, facts, this.saves + 1];
    return true;
  }
}

async function* inTurns(parts: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield await Promise.resolve(part);
}

function over(source: WritableSource, kept: Kept, more: Partial<RecallOptions> = {}) {
  return recallOf(source, {
    snapshots: { kept: () => kept, version: "1", largeDocuments: 1 },
    patienceMs: 60_000,
    ...more,
  });
}

async function saved(source: WritableSource, kept: Kept, query = "canoe"): Promise<void> {
  const recall = over(source, kept);
  await recall.search(OWNER, { query });
  await recall.close();
}

const CANOES: readonly FactSketch[] = Array.from({ length: 50 }, (_, i) => ({
  key: `boats/canoe-${i}`,
  value: `Canoe number ${i} is ${i % 2 === 0 ? "crimson" : "teal"}.`,
  createdAt: NOW - i * 60_000,
}));

const words = fc.array(fc.constantFrom(...SOME_WORDS), { maxLength: 20 });
const value = fc.oneof(
  { weight: 4, arbitrary: words.map((list) => list.join(" ")) },
  { weight: 1, arbitrary: words.map((list) => `${list.join(" ")}\n\n`.repeat(60)) },
);
const key = fc.constantFrom("a", "b/1", "b/2", "b/3", "c/d/e", "Ключ", "鍵", "x y", "long".repeat(20));
const steps = fc.array(
  fc.record({ key, value: fc.option(value), age: fc.integer({ min: 0, max: 1_000_000 }), tags: words }),
  { maxLength: 25 },
);

function write(
  source: WritableSource,
  all: typeof steps extends fc.Arbitrary<infer Steps> ? Steps : never,
): void {
  for (const { key, value, age, tags } of all) {
    if (value === null) source.remove(key);
    else source.put({ key, value, tags, createdAt: NOW - age });
  }
}

describe("an index from its copy", () => {
  test("answers like one from rows, for any memory, before and after further changes", async () => {
    await fc.assert(
      fc.asyncProperty(steps, steps, fc.array(words, { maxLength: 4 }), async (before, after, questions) => {
        const [source, kept] = [new WritableSource(), new Kept()];
        write(source, before);
        await saved(source, kept);
        write(source, after);
        const [copied, fresh] = [over(source, kept), recallOf(source, { patienceMs: 60_000 })];
        for (const words of questions) {
          const query = { query: words.join(" "), limit: 50, explain: true };
          expect(await copied.search(OWNER, query)).toEqual(await fresh.search(OWNER, query));
        }
        await copied.close();
      }),
      { numRuns: 150 },
    );
  });

  test("reads only the rows that changed since", async () => {
    const [source, kept] = [new WritableSource(CANOES), new Kept()];
    await saved(source, kept);
    source.put({ key: "boats/kayak", value: "The kayak is olive." });
    source.remove("boats/canoe-3");
    source.rowsRead = 0;
    const recall = over(source, kept);
    const found = await recall.search(OWNER, { query: "kayak" });
    expect(found.results.map(({ key }) => key)).toEqual(["boats/kayak"]);
    expect(source.rowsRead).toBe(2);
  });

  test("gives the semantic index the same texts", async () => {
    const facts = [...CANOES, { key: "long", value: "A long text about boats. ".repeat(100) }];
    const [source, kept] = [new WritableSource(facts), new Kept()];
    const [fromRows, fromCopy] = [new Map<string, unknown>(), new Map<string, unknown>()];
    const semantic = (seen: Map<string, unknown>): SemanticIndex => ({
      follow: () => ({
        changed: (upserts) => {
          for (const one of upserts) seen.set(one.id, [one.fingerprint, textsOf(one)]);
        },
        ...{ caughtUp: () => {}, startOver: () => {}, drop: () => {}, isSettled: true, sizeBytes: 0 },
      }),
      ...{
        serving: () => undefined,
        search: () => [],
        vectorOf: () => undefined,
        learnDimensions: () => {},
        coverage: () => ({ embedded: 0, total: 0, refused: 0 }),
      },
      ...{ settled: () => Promise.resolve(), embed: () => Promise.resolve(undefined), close: () => {} },
      status: () => ({
        ...{ model: "none", embedded: 0, waiting: 0, refused: 0, state: "idle", lastError: undefined },
        ...{ embeds: false, isLocal: true },
      }),
    });
    const built = over(source, kept, { semantic: semantic(fromRows) });
    await built.search(OWNER, { query: "canoe" });
    await built.close();
    await over(source, kept, { semantic: semantic(fromCopy) }).search(OWNER, { query: "canoe" });
    expect(fromRows.size).toBe(facts.length);
    expect(new Map([...fromCopy].sort())).toEqual(new Map([...fromRows].sort()));
  });
});

describe("a copy that does not serve", () => {
  test.each([
    ["is of another build", (kept: Kept) => Object.assign(kept, { facts: { build: "2 1", cursor: 50 } })],
    ["lacks a part", (kept: Kept) => Object.assign(kept, { parts: failing(kept.parts) })],
    ["is nothing that can be read", (kept: Kept) => Object.assign(kept, { parts: [new Uint8Array(8)] })],
  ])("is dropped when it %s", async (_, spoil) => {
    const [source, kept] = [new WritableSource(CANOES), new Kept()];
    await saved(source, kept);
    spoil(kept);
    const recall = over(source, kept);
    const { results } = await recall.search(OWNER, { query: "crimson canoe number 4" });
    expect(results[0]?.key).toBe("boats/canoe-4");
    expect(source.rowsRead).toBe(2 * CANOES.length);
  });

  test("is dropped when the source's history begins after it", async () => {
    const [source, kept] = [new WritableSource(CANOES), new Kept()];
    await saved(source, kept);
    source.exchange([{ key: "other", value: "Another canoe." }]);
    const recall = over(source, kept);
    const { results } = await recall.search(OWNER, { query: "canoe" });
    expect(results.map(({ key }) => key)).toEqual(["other"]);
  });
});

function failing(parts: readonly Uint8Array[] = []): Iterable<Uint8Array> {
  return (function* () {
    yield* parts.slice(0, -1);
    throw new Error("damaged");
  })();
}

describe("a copy is saved", () => {
  test("when recall closes, unless the last one is nearly the same", async () => {
    const [source, kept] = [new WritableSource(CANOES), new Kept()];
    await saved(source, kept);
    expect(kept.saves).toBe(1);
    for (let i = 0; i < 4; i += 1) source.put({ key: `more/${i}`, value: "one more" });
    await saved(source, kept);
    expect(kept.saves).toBe(1);
    for (let i = 0; i < 6; i += 1) source.put({ key: `even more/${i}`, value: "one more" });
    await saved(source, kept);
    expect(kept.saves).toBe(2);
    kept.parts = undefined; // a value was deleted
    await saved(source, kept);
    expect(kept.saves).toBe(3);
  });

  test("not of a small index, nor of one that was only partly read", async () => {
    const [source, kept] = [new WritableSource(CANOES), new Kept()];
    const small = recallOf(source, { snapshots: { kept: () => kept, version: "1", largeDocuments: 51 } });
    await small.search(OWNER, { query: "canoe" });
    await small.close();
    const failing = over(source, kept, { batchSize: 20 });
    const { promise, reject } = Promise.withResolvers<void>();
    [source.gate, source.gatesFirstPage] = [promise, false];
    const { calls } = source;
    const asked = failing.search(OWNER, { query: "canoe" });
    await expect.poll(() => source.calls).toBeGreaterThan(calls + 1);
    reject(new Error("the store is gone"));
    await expect(asked).rejects.toThrow("the store is gone");
    [source.gate, source.rowsRead] = [undefined, 0];
    await failing.close();
    expect([kept.saves, source.rowsRead]).toEqual([0, 0]);
  });

  test.each([
    ["evicts idle indexes", { idleMs: 4_000 }, 1_000],
    ["keeps them", {}, 7 * 60_000],
  ])("while a server that %s has nothing to do, once", async (_, limits, stepMs) => {
    const [source, kept, clock] = [new WritableSource(CANOES), new Kept(), new FakeClock()];
    const recall = over(source, kept, { limits, clock: () => clock.now(), timer: clock.timer });
    await recall.search(OWNER, { query: "canoe" });
    expect(kept.saves).toBe(0);
    for (let step = 0; step < 3; step += 1) {
      clock.advance(stepMs);
      await expect.poll(() => kept.saves).toBe(1);
    }
    await recall.close();
    expect(kept.saves).toBe(1);
  });

  test("not when the index changed meanwhile", async () => {
    const [source, kept, clock] = [new WritableSource(CANOES), new Kept(), new FakeClock()];
    const { promise, resolve } = Promise.withResolvers<void>();
    kept.gate = promise;
    const limits = { idleMs: 4_000 };
    const recall = over(source, kept, { limits, clock: () => clock.now(), timer: clock.timer });
    await recall.search(OWNER, { query: "canoe" });
    clock.advance(1_000);
    await expect.poll(() => kept.begun).toBe(1);
    source.remove("boats/canoe-4");
    await recall.search(OWNER, { query: "canoe" });
    resolve();
    await expect.poll(() => kept.ended).toBe(1);
    expect(kept.saves).toBe(0);
    await recall.close();
    expect(kept.saves).toBe(1);
  });
});

test("the same entries give the index that copies of this format hold", () => {
  const index = new LexicalIndex();
  for (const [n, text] of [
    "Ana's deploys run via Konflux, v1.2.3, every second Tuesday at 17:30.",
    "Die Straßenbahn-Haltestelle heißt Jakominiplatz; the tram's stops were re-named.",
    `${"She prefers oat milk and never drinks coffee after lunch. ".repeat(40)}\n\nLast paragraph.`,
  ].entries())
    index.add(corpusEntry({ key: `golden/fact-${n}`, value: text, tags: ["Überblick"], createdAt: NOW }));
  index.endBatch();
  const parts = [...index.parts()].map((part) => JSON.stringify(part, (_, value) => plain(value)));
  const digest = createHash("sha256").update(parts.join("\n")).digest("hex").slice(0, 16);
  expect(digest, "raise FORMAT in recall/namespace-index.ts, then change this digest").toBe(
    "21014b2c499a71c3",
  );
});

/** Typed arrays as lists. */
function plain(value: unknown): unknown {
  return ArrayBuffer.isView(value) ? [...(value as Uint32Array)] : value;
}
