/** Caching of pack runs: which inputs count as equal, who shares an answer, and when a cached answer may be used. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { HelmdeckError } from "../../../engine/errors.ts";
import { factEntry, validateFact } from "../../../engine/facts/facts-policy.ts";
import type { MemoryStore } from "../../../engine/store/memory-store.ts";
import { namespaceOf } from "../../../engine/store/namespace.ts";
import { definePack } from "../../../packs/engine/define-pack.ts";
import type { Pack, PackContext } from "../../../packs/engine/pack-contract.ts";
import { createPackEngine } from "../../../packs/engine/pack-engine.ts";
import { canonicalJson } from "../../../packs/engine/run-cache.ts";
import { ANA, ask, failureOf, gate, openPackRig, overridden } from "./rig.ts";

const TTL_SECONDS = 300;

/** Counts its runs. Each run gives a different answer, so that a cache hit is visible. */
function counter(more: Partial<Pack> = {}) {
  let runs = 0;
  const pack = definePack({
    name: "counter",
    version: "1.0.0",
    description: "Counts.",
    input: z.object({ a: z.unknown().optional(), b: z.unknown().optional() }),
    output: z.object({ runs: z.number() }),
    memory: { cache: true, ttlSeconds: TTL_SECONDS },
    run: async () => {
      runs += 1;
      return { runs };
    },
    ...(more as object), // the changes for one test
  }) as Pack;
  return pack;
}

test("the same input is answered from the cache until the entry expires, with a row for every run", async () => {
  const { engine, clock, rows } = await openPackRig([counter()]);
  expect(await engine.run(ask("counter"))).toMatchObject({ output: { runs: 1 }, cached: false });
  clock.pass(TTL_SECONDS * 1_000 - 1);
  expect(await engine.run(ask("counter"))).toMatchObject({ output: { runs: 1 }, cached: true });
  clock.pass(1);
  expect(await engine.run(ask("counter"))).toMatchObject({ output: { runs: 2 }, cached: false });
  expect(await rows()).toMatchObject([{ outcome: "ok" }, { outcome: "ok" }, { outcome: "ok" }]);
});

test("equal inputs share a cache entry in any spelling; another input or another caller does not", async () => {
  const { engine } = await openPackRig([counter()]);
  const runsOf = async (input: unknown, caller = ANA) =>
    (await engine.run(ask("counter", input, { caller }))).output;
  expect(await runsOf({ a: { x: 0, y: "é" }, b: 2 })).toEqual({ runs: 1 });
  expect(await runsOf(JSON.parse('{"unknown": 1, "b": 2.0, "a": {"y": "\\u00e9", "x": -0}}'))).toEqual({
    runs: 1,
  });
  expect(await runsOf({ a: { x: 0, y: "é" }, b: "2" })).toEqual({ runs: 2 });
  expect(await runsOf({ a: { x: 0, y: "é" }, b: 2 }, "ben")).toEqual({ runs: 3 });
  expect(await runsOf({ a: { x: 0, y: "é" }, b: 2 }, "ana:s")).toEqual({ runs: 4 });
});

test.each<readonly [string, unknown, unknown, boolean]>([
  ["fields in another order", { a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 }, true],
  ["minus zero", [-0], [0], true],
  ["a number in another notation", JSON.parse("1e2"), 100, true],
  ["an escaped letter", JSON.parse('"\\u00e9"'), "é", true],
  ["an undefined field", { a: 1, b: undefined }, { a: 1 }, true],
  ["a composed and a decomposed letter", "\u00e9", "e\u0301", false],
  ["a text and a number", "1", 1, false],
  ["a list and its fields", ["a"], { 0: "a" }, false],
  ["lists with other nesting", [["a"], "b"], [["a", "b"]], false],
  ["null and an absent field", { a: null }, {}, false],
  ["two lone surrogates", "\ud800", "\ud801", false],
  ["a field called __proto__", JSON.parse('{"__proto__": 1}'), {}, false],
])("whether inputs share a cache entry: %s", async (_, a, b, cached) => {
  const { engine } = await openPackRig([counter()]);
  await engine.run(ask("counter", { a }));
  expect(await engine.run(ask("counter", { a }))).toMatchObject({ cached: true });
  expect(await engine.run(ask("counter", { a: b }))).toMatchObject({ cached });
});

test("inputs that share a cache entry are the same value, since the entry's key is made of all of it", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4, stringUnit: "binary" }), (value) => {
      expect(JSON.parse(canonicalJson(value) ?? "")).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

test("helmdeck's fault 7: a fact or a note with the key of a cached answer does not change the cache", async () => {
  const { engine, entries, store, clock, memory } = await openPackRig([counter()]);
  await engine.run(ask("counter"));
  const [row] = await entries("cache");
  const key = row?.key ?? "";
  expect(key).toMatch(/^counter\/[0-9a-f]{64}$/);
  const planted = JSON.stringify({ output: { runs: 666 }, artifacts: [] });
  await memory.storeFact(ANA, { key, value: planted });
  const namespace = namespaceOf(ANA);
  await store.put({
    namespace,
    origin: "pack",
    key,
    value: Buffer.from(planted),
    category: "cache",
    tags: [],
  });
  expect(await engine.run(ask("counter"))).toMatchObject({ output: { runs: 1 }, cached: true });
  await memory.forget(ANA, { scope: `key:${key}` });
  expect(await engine.run(ask("counter"))).toMatchObject({ output: { runs: 1 }, cached: true });
  // The reverse case: only the fact exists, and nothing is cached.
  await store.delete({ namespace, origin: "cache", key });
  await store.put(
    factEntry(namespace, validateFact({ key, value: planted }), { expiresAt: clock.time + 1_000 }),
  );
  expect(await engine.run(ask("counter"))).toMatchObject({ output: { runs: 2 }, cached: false });
});

test("helmdeck's fault 9: another version of a pack does not get answers of the former version", async () => {
  const { engine, another } = await openPackRig([counter()]);
  await engine.run(ask("counter"));
  const next = another([counter({ version: "1.1.0" })]);
  expect(await next.run(ask("counter"))).toMatchObject({ version: "1.1.0", cached: false });
  expect(await next.run(ask("counter"))).toMatchObject({ cached: true });
});

test("helmdeck's fault 9: a cached answer that the output schema refuses is a miss, and is overwritten", async () => {
  const { engine, another } = await openPackRig([counter()]);
  await engine.run(ask("counter"));
  const stricter = another([counter({ output: z.object({ runs: z.number(), at: z.string() }), run: dated })]);
  expect(await stricter.run(ask("counter"))).toMatchObject({ output: { runs: 9, at: "now" }, cached: false });
  expect(await stricter.run(ask("counter"))).toMatchObject({ output: { runs: 9, at: "now" }, cached: true });
});

const dated = async () => ({ runs: 9, at: "now" });

test("helmdeck's fault 9: a hit returns its artifacts, and is a miss after one of them is deleted", async () => {
  const made = counter({
    run: async ({ artifacts }) => {
      await artifacts.put({ name: "a.txt", mediaType: "text/plain", content: Buffer.from("a") });
      return { runs: 1 };
    },
  });
  const { engine, artifacts } = await openPackRig([made]);
  const first = await engine.run(ask("counter"));
  expect(first.artifacts).toHaveLength(1);
  expect(await engine.run(ask("counter"))).toEqual({ ...first, cached: true });
  await artifacts.delete(ANA, first.artifacts[0]?.id ?? "");
  const third = await engine.run(ask("counter"));
  expect(third.cached).toBe(false);
  expect(third.artifacts[0]?.id).not.toBe(first.artifacts[0]?.id);
});

test("helmdeck's fault 12: cached answers and notes are not facts: no list, my-memory or search shows them", async () => {
  const noting = counter({
    run: async (ec) => {
      await ec.memory?.store("konflux/note", "deploy through konflux", { category: "user_facts" });
      return { runs: 1 };
    },
  });
  const { engine, memory, entries } = await openPackRig([noting]);
  await engine.run(ask("counter", { a: "konflux" }));
  expect(await entries("cache")).toHaveLength(1);
  expect(await entries("pack")).toHaveLength(1);
  expect((await memory.listFacts(ANA, {})).facts).toEqual([]);
  expect((await memory.myMemory(ANA)).categories.map(({ name }) => name)).toEqual(["pack_history"]);
  expect((await memory.search(ANA, { query: "konflux" })).results).toEqual([]);
});

describe("nothing is cached for", () => {
  const cachedRows = async (pack: Pack, input: unknown = {}) => {
    const { engine, entries, lost } = await openPackRig([pack]);
    const run = await engine.run(ask("counter", input)).catch((error: HelmdeckError) => error.code);
    const again = await engine.run(ask("counter", input)).catch((error: HelmdeckError) => error.code);
    return { run, again, rows: (await entries("cache")).length, lost: lost.cache };
  };

  const failing = counter({ run: () => Promise.reject(new HelmdeckError("upstream_failed", "No.")) });
  const growing = z.string().overwrite((text) => `${text}!`);
  test.each<readonly [string, Pack, object]>([
    ["a run that failed", failing, { run: "upstream_failed", again: "upstream_failed" }],
    [
      "an answer that its schema refuses",
      counter({ run: async () => ({ runs: "many" }) }),
      { run: "invalid_output", again: "invalid_output" },
    ],
    [
      "an answer that is too large",
      counter({ output: z.string(), run: async () => "x".repeat(1_024 * 1_024) }),
      { again: { cached: false }, lost: [] },
    ],
    [
      "an answer that changes when its schema parses it again",
      counter({ output: growing, run: async () => "a" }),
      { run: { output: "a!" }, again: { output: "a!", cached: false } },
    ],
    [
      "an answer without a JSON form, which is reported",
      counter({ output: z.unknown(), run: async () => 1n }),
      { again: { output: 1n }, lost: ["internal", "internal"] },
    ],
  ])("%s", async (_, pack, expected) => {
    expect(await cachedRows(pack)).toMatchObject({ ...expected, rows: 0 });
  });

  test.each([
    ["a date", new Date(0)],
    ["a big number", 1n],
    ["not a number", Number.NaN],
    ["an infinite number", Number.POSITIVE_INFINITY],
    ["a map", new Map()],
    ["an undefined item", [undefined]],
    ["a function", () => 1],
    ["a field named by a symbol", { [Symbol("a")]: 1 }],
    ["too many levels", JSON.parse("[".repeat(5_000) + "]".repeat(5_000))],
  ])("an input with %s, which has no canonical form", async (_, a) => {
    for (const input of [{ a }, { a: { a: [a] } }])
      expect(await cachedRows(counter(), input)).toMatchObject({ again: { output: { runs: 2 } }, rows: 0 });
  });

  test("a cancelled run, even if its handler returns an answer", async () => {
    const started = gate<PackContext>();
    const half = counter({
      run: async (ec) => {
        started.open(ec);
        await new Promise((resolve) => ec.signal.addEventListener("abort", resolve));
        return { runs: 0 };
      },
    });
    const { engine, entries } = await openPackRig([half]);
    const leave = new AbortController();
    const failure = failureOf(engine.run(ask("counter", {}, { signal: leave.signal })));
    await started.opened;
    leave.abort();
    expect((await failure).code).toBe("cancelled");
    await engine.close();
    expect(await entries("cache")).toEqual([]);
  });
});

describe("memory that fails does not fail a run:", () => {
  const broken = async (): Promise<never> => {
    throw new HelmdeckError("store_locked", "Locked.");
  };
  const withStore = (methods: Partial<MemoryStore>) =>
    openPackRig([counter()], {}, (store) => overridden(store, methods));

  test("a cache that cannot be read is a miss, and is reported", async () => {
    const { engine, lost } = await withStore({ get: broken });
    expect((await engine.run(ask("counter"))).output).toEqual({ runs: 1 });
    expect((await engine.run(ask("counter"))).output).toEqual({ runs: 2 });
    expect(lost.cache).toEqual(["store_locked", "store_locked"]);
  });

  test("a cache that cannot be written is reported", async () => {
    const { engine, lost } = await withStore({ put: broken });
    expect(await engine.run(ask("counter"))).toMatchObject({ output: { runs: 1 }, cached: false });
    expect(lost.cache).toEqual(["store_locked"]);
  });

  test("a cached row that cannot be decrypted is a miss, is reported, and is overwritten", async () => {
    const { engine, entries, damage, lost } = await openPackRig([counter()]);
    await engine.run(ask("counter"));
    const [row] = await entries("cache");
    if (row === undefined) throw new Error("nothing was cached");
    await damage(row);
    expect((await engine.run(ask("counter"))).output).toEqual({ runs: 2 });
    expect(lost.cache).toEqual(["entry_unreadable"]);
    expect(await engine.run(ask("counter"))).toMatchObject({ output: { runs: 2 }, cached: true });
  });

  test("a cached row that is not an answer is a miss and is overwritten", async () => {
    const { engine, entries, store } = await openPackRig([counter()]);
    for (const value of [
      "{",
      "null",
      "{}",
      '{"output": {"runs": 5}}',
      '{"output":{"runs":5},"artifacts":[{}]}',
    ]) {
      await engine.run(ask("counter"));
      const [row] = await entries("cache");
      if (row === undefined) throw new Error("nothing was cached");
      await store.put({ ...row, value: Buffer.from(value) });
      expect((await engine.run(ask("counter"))).cached).toBe(false);
      expect((await engine.run(ask("counter"))).cached).toBe(true);
    }
  });
});

describe("concurrent identical misses", () => {
  /** Each run waits for the test. `ends[n]` ends the nth run. */
  function slowCounter() {
    const runs: { readonly ec: PackContext; end(output: unknown): void; fail(error: unknown): void }[] = [];
    const arrivals: ReturnType<typeof gate<void>>[] = [gate(), gate(), gate()];
    const pack = counter({
      deadlineMs: 1_000,
      run: (ec) => {
        const { promise, resolve, reject } = Promise.withResolvers<unknown>();
        runs.push({ ec, end: resolve, fail: reject });
        arrivals[runs.length - 1]?.open();
        return promise;
      },
    });
    const nth = async (n: number) => {
      await arrivals[n]?.opened;
      const run = runs[n];
      if (run === undefined) throw new Error("no such run");
      return run;
    };
    return { pack, runs, nth };
  }

  /** Waits until nothing that has started can continue without the test. */
  const idle = async () => {
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  };

  test("run the handler once; each waiter gets the answer, the progress and its own row", async () => {
    const { pack, runs, nth } = slowCounter();
    const { engine, rows } = await openPackRig([pack]);
    const seen: number[] = [];
    const onProgress = (done: number) => seen.push(done);
    const all = ["a", "b", "c"].map((title) => engine.run(ask("counter", { title }, { onProgress })));
    const run = await nth(0);
    await idle();
    run.ec.progress(0.5);
    run.end({ runs: 1 });
    for (const answer of await Promise.all(all))
      expect(answer).toMatchObject({ output: { runs: 1 }, cached: false });
    expect(runs).toHaveLength(1);
    expect(seen).toEqual([0.5, 0.5, 0.5]);
    expect((await rows()).map(({ learn_inputs }) => learn_inputs?.title).sort()).toEqual(["a", "b", "c"]);
  });

  test("run the handler twice for two callers", async () => {
    const { pack, runs, nth } = slowCounter();
    const { engine } = await openPackRig([pack]);
    const both = [ANA, "ben"].map((caller) => engine.run(ask("counter", {}, { caller })));
    for (const [n] of both.entries()) (await nth(n)).end({ runs: n });
    await Promise.all(both);
    expect(runs.map(({ ec }) => ec.caller).sort()).toEqual(["ana", "ben"]);
  });

  test("continue after the first waiter leaves", async () => {
    const { pack, nth } = slowCounter();
    const { engine, rows } = await openPackRig([pack]);
    const leave = new AbortController();
    const first = failureOf(engine.run(ask("counter", {}, { signal: leave.signal })));
    const run = await nth(0);
    const second = engine.run(ask("counter"));
    await idle();
    leave.abort();
    expect((await first).code).toBe("cancelled");
    expect(run.ec.signal.aborted).toBe(false);
    run.end({ runs: 1 });
    expect((await second).output).toEqual({ runs: 1 });
    expect((await rows()).map(({ outcome }) => outcome)).toEqual(["cancelled", "ok"]);
  });

  test("end when the last waiter leaves, and the next request starts a new run", async () => {
    const { pack, nth } = slowCounter();
    const { engine } = await openPackRig([pack]);
    const leave = new AbortController();
    const failure = failureOf(engine.run(ask("counter", {}, { signal: leave.signal })));
    const abandoned = await nth(0);
    leave.abort();
    await failure;
    expect(abandoned.ec.signal.aborted).toBe(true);
    const again = engine.run(ask("counter"));
    (await nth(1)).end({ runs: 2 });
    expect(await again).toMatchObject({ output: { runs: 2 }, cached: false });
  });

  test("all get the error of a failed handler, each with a row, and the next request starts a new run", async () => {
    const { pack, nth } = slowCounter();
    const { engine, rows } = await openPackRig([pack]);
    const both = [1, 2].map(() => failureOf(engine.run(ask("counter"))));
    const run = await nth(0);
    await idle();
    run.fail(new HelmdeckError("upstream_failed", "No."));
    expect((await Promise.all(both)).map(({ code }) => code)).toEqual(["upstream_failed", "upstream_failed"]);
    const again = engine.run(ask("counter"));
    (await nth(1)).end({ runs: 2 });
    expect(await again).toMatchObject({ cached: false });
    expect((await rows()).map(({ outcome }) => outcome)).toEqual([
      "upstream_failed",
      "upstream_failed",
      "ok",
    ]);
  });

  test("share the deadline of the one handler that runs", async () => {
    const { pack, nth } = slowCounter();
    const { engine, timer } = await openPackRig([pack]);
    const first = failureOf(engine.run(ask("counter")));
    await nth(0);
    timer.pass(900);
    const second = failureOf(engine.run(ask("counter")));
    await idle();
    timer.pass(100);
    expect((await first).code).toBe("deadline_exceeded");
    expect((await second).code).toBe("deadline_exceeded");
  });
});

test("without a store nothing is cached, and the list of packs says so", async () => {
  const { sessions, artifacts, clock } = await openPackRig([]);
  const engine = createPackEngine({ packs: [counter()], sessions, artifacts, now: clock.now });
  expect(engine.list()[0]?.cached).toBe(false);
  await engine.run(ask("counter"));
  expect(await engine.run(ask("counter"))).toMatchObject({ output: { runs: 2 }, cached: false });
});
