/** The index follows its source: new facts are found and removed ones are not. A partial search says that it is partial. */
import { describe, expect, test } from "vitest";
import { namespaceOf } from "../../engine/store/namespace.ts";
import { NamespaceIndex } from "../../recall/namespace-index.ts";
import type { CorpusSource } from "../../recall/search-contract.ts";
import type { SemanticIndex } from "../../recall/vectors/semantic-contract.ts";
import { corpusEntry, idOf, NOW, OWNER, recallOf, WritableSource } from "./corpus.ts";

async function keys(
  recall: ReturnType<typeof recallOf>,
  query: string,
  owner = OWNER,
): Promise<readonly string[]> {
  return (await recall.search(owner, { query })).results.map(({ key }) => key);
}

describe("changes", () => {
  test("a fact written between two searches is found by the second", async () => {
    const source = new WritableSource([{ key: "a", value: "The kayak is red." }]);
    const recall = recallOf(source);
    expect(await keys(recall, "paddle")).toEqual([]);
    source.put({ key: "b", value: "The paddle is under the kayak." });
    expect(await keys(recall, "paddle")).toEqual(["b"]);
  });

  test("a replaced fact is found by its new words and no longer by its old ones", async () => {
    const source = new WritableSource([{ key: "a", value: "The kayak is crimson." }]);
    const recall = recallOf(source);
    expect(await keys(recall, "crimson")).toEqual(["a"]);
    source.put({ key: "a", value: "The kayak is turquoise." });
    expect(await keys(recall, "crimson")).toEqual([]);
    expect(await keys(recall, "turquoise")).toEqual(["a"]);
  });

  test("a removed fact is not found, and removing it twice or removing nothing has no effect", async () => {
    const source = new WritableSource([
      { key: "a", value: "The kayak is crimson." },
      { key: "b", value: "The canoe is crimson." },
    ]);
    const recall = recallOf(source);
    await recall.warm(OWNER);
    source.remove("a");
    source.remove("a");
    source.remove("never/there");
    expect(await keys(recall, "crimson")).toEqual(["b"]);
  });

  test("a source that starts over leaves nothing from earlier reads", async () => {
    const source = new WritableSource([{ key: "a", value: "The kayak is crimson." }]);
    const recall = recallOf(source);
    await recall.warm(OWNER);
    source.exchange([{ key: "b", value: "The canoe is turquoise." }]);
    expect(await keys(recall, "crimson")).toEqual([]);
    expect(await keys(recall, "turquoise")).toEqual(["b"]);
  });

  test("many pages are read to the end", async () => {
    const source = new WritableSource(
      Array.from({ length: 103 }, (_, number) => ({ key: `k${number}`, value: `number ${number} of many` })),
    );
    expect(await keys(recallOf(source, { batchSize: 10 }), "number 102")).toEqual(["k102"]);
  });

  test("a source that reports more but does not advance is an error, not a loop", async () => {
    const stuck = {
      changes: async () => ({ kind: "changes", upserts: [], removed: [], cursor: 0, more: true }) as const,
    };
    await expect(recallOf(stuck).search(OWNER, { query: "x" })).rejects.toMatchObject({ code: "internal" });
    const dizzy = { changes: async () => ({ kind: "start_over" }) as const };
    await expect(recallOf(dizzy).search(OWNER, { query: "x" })).rejects.toMatchObject({ code: "internal" });
  });

  test("a source's failure reaches the search, and the next search retries", async () => {
    const source = new WritableSource([{ key: "a", value: "The kayak is crimson." }]);
    const recall = recallOf(source);
    source.failure = new Error("the disk is gone");
    await expect(recall.search(OWNER, { query: "crimson" })).rejects.toThrow("the disk is gone");
    source.failure = undefined;
    expect(await keys(recall, "crimson")).toEqual(["a"]);
  });
});

describe("expiry", () => {
  test.each([
    [NOW - 1, []],
    [NOW, []],
    [NOW + 1, ["a"]],
  ])("expires at %d", async (expiresAt, expected) => {
    const source = new WritableSource([{ key: "a", value: "The kayak is crimson.", expiresAt }]);
    expect(await keys(recallOf(source), "crimson")).toEqual(expected);
  });

  test("a fact that expires while the index is open is not returned, although the source has not removed it", async () => {
    let now = NOW;
    const source = new WritableSource([{ key: "a", value: "The kayak is crimson.", expiresAt: NOW + 1_000 }]);
    const recall = recallOf(source, { now: () => now });
    expect(await keys(recall, "crimson")).toEqual(["a"]);
    now += 1_000;
    expect(await keys(recall, "crimson")).toEqual([]);
  });
});

describe("while the index is being built", () => {
  test("a search answers from the indexed part and reports that; later it is complete without a note", async () => {
    const source = new WritableSource([
      { key: "a", value: "The kayak is crimson." },
      { key: "b", value: "The canoe is crimson." },
    ]);
    const gate = Promise.withResolvers<void>();
    source.gate = gate.promise;
    source.gatesFirstPage = false;
    const recall = recallOf(source, { patienceMs: 0, batchSize: 1 });
    const partial = await recall.search(OWNER, { query: "crimson" });
    expect(partial.results.map(({ key }) => key)).toEqual(["a"]);
    expect(partial).toMatchObject({ reason: expect.stringMatching(/still indexing/i), incomplete: true });
    gate.resolve();
    await recall.warm(OWNER);
    const complete = await recallOf(source).search(OWNER, { query: "crimson" });
    expect(complete.results.map(({ key }) => key).sort()).toEqual(["a", "b"]);
    expect(complete).not.toHaveProperty("reason");
  });

  // verifies P-answers-current
  test("a search never answers without its source, however long that takes to fail", async () => {
    const source = new WritableSource([{ key: "a", value: "The kayak is crimson." }]);
    const recall = recallOf(source, { patienceMs: 0 });
    await recall.warm(OWNER);
    source.remove("a"); // by another engine
    const gate = Promise.withResolvers<void>();
    source.gate = gate.promise;
    const searches = [1, 2].map(() => recall.search(OWNER, { query: "crimson" }).catch((error) => error));
    const hundredTurns = (async () => {
      for (let turn = 0; turn < 100; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    })();
    expect(await Promise.race([...searches, hundredTurns])).toBeUndefined();
    source.failure = new Error("the path is frozen");
    gate.reject(source.failure);
    expect(await Promise.all(searches)).toEqual([source.failure, source.failure]);
  });

  test("building yields to other work", async () => {
    const source = new WritableSource(
      Array.from({ length: 3_000 }, (_, number) => ({
        key: `k${number}`,
        value: `sentence number ${number} of a long story`,
      })),
    );
    let turns = 0;
    let isDone = false;
    const count = (): void => {
      turns += 1;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    await recallOf(source).warm(OWNER);
    isDone = true;
    expect(turns).toBeGreaterThan(10);
  });

  test("concurrent searches share one reading", async () => {
    const source = new WritableSource([{ key: "a", value: "The kayak is crimson." }]);
    const recall = recallOf(source);
    await recall.warm(OWNER);
    const calls = source.calls;
    const answers = await Promise.all(Array.from({ length: 50 }, () => keys(recall, "crimson")));
    expect(answers.every((answer) => answer[0] === "a")).toBe(true);
    expect(source.calls - calls).toBeLessThanOrEqual(2);
  });

  test("a search during another's reading still finds earlier writes", async () => {
    const source = new WritableSource([{ key: "a", value: "The kayak is crimson." }]);
    const recall = recallOf(source);
    await recall.warm(OWNER);
    const gate = Promise.withResolvers<void>();
    source.gate = gate.promise;
    const first = keys(recall, "turquoise");
    source.gate = undefined;
    source.put({ key: "b", value: "The canoe is turquoise." });
    const second = keys(recall, "turquoise");
    gate.resolve();
    await first;
    expect(await second).toEqual(["b"]);
  });

  test("a search has its complete answer even if its memory is read again during the search", async () => {
    const source = new WritableSource([{ key: "a", value: "The kayak is crimson." }]);
    let readAgain = (): void => {};
    const semantic = {
      follow: (_: unknown, again: () => void) => {
        readAgain = again;
        return { changed() {}, caughtUp() {}, startOver() {}, drop() {}, isSettled: true, sizeBytes: 0 };
      },
      serving: () => undefined,
      status: () => ({}),
    } as unknown as SemanticIndex; // the only fields that recall uses here
    const recall = recallOf(source, { semantic });
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    source.gate = first.promise;
    const answer = keys(recall, "crimson");
    source.gate = second.promise;
    readAgain();
    first.resolve();
    expect(await answer).toEqual(["a"]);
    second.resolve();
    expect(await keys(recall, "crimson")).toEqual(["a"]);
  });

  test("gives way to others while it removes many facts", async () => {
    const value = Array.from({ length: 100 }, (_, at) => `word${at}`).join(" ");
    const facts = Array.from({ length: 500 }, (_, at) => ({ key: `k${at}`, value }));
    const source = new WritableSource(facts);
    const index = new NamespaceIndex(OWNER, { source, batchSize: 1_000 });
    await index.catchUp();
    for (const { key } of facts) source.remove(key);
    let turns = 0;
    const count = () => {
      turns += 1;
      counting = setImmediate(count);
    };
    let counting = setImmediate(count);
    await index.catchUp();
    clearImmediate(counting);
    expect(turns).toBeGreaterThan(2);
  });

  test("only one reading runs at a time, however quickly searches follow each other", async () => {
    const source = new WritableSource([{ key: "a", value: "The kayak is crimson." }]);
    let [underWay, most] = [0, 0];
    const counted: CorpusSource = {
      async changes(...asked) {
        underWay += 1;
        most = Math.max(most, underWay);
        for (let step = 0; step < 20; step += 1) await null;
        underWay -= 1;
        return source.changes(...asked);
      },
    };
    const index = new NamespaceIndex(OWNER, { source: counted });
    await index.catchUp(); // indexing yields to the event loop; the steps below are shorter
    const readings: Promise<unknown>[] = [];
    for (let turn = 0; turn < 100; turn += 1) {
      readings.push(index.catchUp());
      await null; // runs between the steps of a read
    }
    await Promise.all(readings);
    expect(most).toBe(1);
  });
});

describe("namespaces", () => {
  const [alice, bob, carol] = ["alice", "bob", "carol"].map((name) => namespaceOf(name));

  test("one never sees another's facts", async () => {
    const sources = new Map([
      [alice, new WritableSource([{ key: "a", value: "The kayak is crimson." }])],
      [bob, new WritableSource([{ key: "b", value: "The canoe is crimson." }])],
    ]);
    const recall = recallOf({
      changes: async (owner, ...rest) => (sources.get(owner) ?? new WritableSource()).changes(owner, ...rest),
    });
    expect(await keys(recall, "crimson", alice)).toEqual(["a"]);
    expect(await keys(recall, "crimson", bob)).toEqual(["b"]);
    expect(await keys(recall, "crimson", carol)).toEqual([]);
  });

  test("after close, no search is answered", async () => {
    const recall = recallOf(new WritableSource([{ key: "a", value: "The kayak is crimson." }]));
    await recall.warm(OWNER);
    recall.close();
    await expect(recall.search(OWNER, { query: "crimson" })).rejects.toMatchObject({
      code: "store_unavailable",
    });
    await expect(recall.warm(OWNER)).rejects.toMatchObject({ code: "store_unavailable" });
  });

  test("closing during the build ends it", async () => {
    const source = new WritableSource([{ key: "a", value: "The kayak is crimson." }]);
    const gate = Promise.withResolvers<void>();
    source.gate = gate.promise;
    const recall = recallOf(source);
    const warming = recall.warm(OWNER);
    recall.close();
    gate.resolve();
    await expect(warming).rejects.toMatchObject({ code: "store_unavailable" });
  });
});

test("the ids of the test corpus are unique", () => {
  expect(corpusEntry({ key: "a", value: "x" }).id).toBe(idOf("a"));
  expect(idOf("a")).not.toBe(idOf("b"));
});
