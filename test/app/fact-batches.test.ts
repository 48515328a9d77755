import { afterEach, describe, expect, test, vi } from "vitest";
import type { OpenMemory } from "../../app/compose.ts";
import type { FactsInput, StoredFacts } from "../../app/memory.ts";
import { HelmdeckError } from "../../engine/errors.ts";
import { openTestMemory } from "./fixtures/memories.ts";

const MOST = 250;

afterEach(() => vi.restoreAllMocks());

/** Each result in a word: the stored key, or the code of the refusal. */
function outcomes({ results }: StoredFacts): readonly string[] {
  return results.map((one) => ("error" in one ? `${one.key}: ${one.error}` : one.key));
}

function facts(count: number): FactsInput["facts"] {
  return Array.from({ length: count }, (_, n) => ({ key: `fact/${n}`, value: `Value number ${n}` }));
}

async function valueAt(memory: OpenMemory, key: string): Promise<string | undefined> {
  return (await memory.getFact("main", { key }))?.value;
}

describe("storing many facts", () => {
  test("answers for each in order, as its own store would", async () => {
    const memory = await openTestMemory();
    const alone = await openTestMemory();
    const given = [
      { key: "deploy", value: "Konflux", tags: ["ci"], category: "work" },
      { key: "lunch", value: "soup", ttlSeconds: 3_600 },
      { key: "deploy", value: "Tekton" },
      { key: "dinner", value: "rice", supersedes: ["lunch"] },
    ];
    const { results, refused } = await memory.storeFacts("main", { facts: given });
    const each = [];
    for (const fact of given) each.push(await alone.storeFact("main", fact));
    expect(results).toEqual(each);
    expect(refused).toBe(0);
    expect(results[3]).toMatchObject({ superseded: ["lunch"] });
    expect(await memory.listFacts("main", {})).toEqual({
      ...(await alone.listFacts("main", {})),
      facts: expect.any(Array),
    });
    expect(await memory.getFact("main", { key: "deploy" })).toMatchObject({
      value: "Tekton",
      category: "work",
      tags: ["ci"],
    });
    const history = await memory.factHistory("main", { key: "deploy" });
    expect(history?.former.map(({ value }) => value)).toEqual(["Konflux"]);
  });

  test("refuses single facts with their reasons, and stores the others", async () => {
    const memory = await openTestMemory();
    await memory.storeFact("main", { key: "there", value: "first" });
    const answer = await memory.storeFacts("main", {
      facts: [
        { key: "a", value: "one" },
        { key: "b", value: "" },
        { key: "c", value: "password: hunter2hunter2hunter2" },
        { key: "there", value: "second", ifRevision: 0 },
        { key: "d\u0435ploy", value: "x" },
        { key: "deploy", value: "y" },
        { key: "e", value: "three" },
      ],
    });
    expect(outcomes(answer)).toEqual([
      ...["a", "b: invalid_input", "c: secret_refused", "there: changed_meanwhile"],
      ...["d\u0435ploy", "deploy: invalid_input", "e"],
    ]);
    expect(answer.refused).toBe(4);
    expect(answer.results[1]).toMatchObject({ message: expect.any(String), details: { field: "value" } });
    expect(JSON.stringify(answer)).not.toContain("hunter2");
    expect(await valueAt(memory, "there")).toBe("first");
    const { facts: kept } = await memory.listFacts("main", {});
    expect(kept.map(({ key }) => key).sort()).toEqual(["a", "d\u0435ploy", "e", "there"].sort());
  });

  test("changes nothing more when it is repeated", async () => {
    const memory = await openTestMemory();
    const once = await memory.storeFacts("main", { facts: facts(5) });
    const again = await memory.storeFacts("main", { facts: facts(5) });
    expect(outcomes(again)).toEqual(outcomes(once));
    for (const one of again.results) expect(one).toMatchObject({ replaced: { refreshed: true } });
    expect((await memory.listFacts("main", {})).facts).toHaveLength(5);
    expect((await memory.factHistory("main", { key: "fact/0" }))?.former ?? []).toEqual([]);
  });

  // verifies P-alone-quota
  test("stores what fits into the quota, and refuses the rest", async () => {
    const memory = await openTestMemory({ env: { HELMDECK_MEMORY_MAX_ENTRIES: "3" } });
    await memory.storeFact("main", { key: "there", value: "v" });
    const given = ["a", "b", "c", "there", "d"].map((key) => ({ key, value: "new" }));
    const answer = await memory.storeFacts("main", { facts: given });
    expect(outcomes(answer)).toEqual(["a", "b", "c: quota_exceeded", "there", "d: quota_exceeded"]);
    expect(await valueAt(memory, "there")).toBe("new");
    expect(outcomes(await memory.storeFacts("work", { facts: given }))).toHaveLength(5);
  });

  test("names facts that were there before, unless nobody asks", async () => {
    const memory = await openTestMemory();
    await memory.storeFact("main", { key: "wifi", value: "The guest wifi is called Kolibri." });
    const given = [{ key: "wlan", value: "The guest wifi is called Kolibri." }];
    expect((await memory.storeFacts("main", { facts: given })).results).toMatchObject([{ sameAs: ["wifi"] }]);
    const [quiet] = (await memory.storeFacts("main", { facts: given, similar: false })).results;
    expect(quiet).not.toHaveProperty("sameAs");
  });

  test("no longer looks for similar facts when a batch takes long", async () => {
    let time = 0;
    const memory = await openTestMemory({ clock: () => time });
    await memory.storeFact("main", { key: "wifi", value: "The guest wifi is called Kolibri." });
    const put = memory.store.put.bind(memory.store);
    vi.spyOn(memory.store, "put").mockImplementation(async (...asked) => {
      time = 2_001;
      return put(...asked);
    });
    const given = facts(65).map(({ key }) => ({ key, value: "The guest wifi is called Kolibri." }));
    const { results, refused } = await memory.storeFacts("main", { facts: given });
    expect(results.map((one) => "sameAs" in one)).toEqual([...Array(64).fill(true), false]);
    expect(refused).toBe(0);
  });

  test.each([0, MOST + 1])("refuses %s facts, and names field, limit and remedy", async (count) => {
    const memory = await openTestMemory();
    const given = { facts: facts(count) };
    await expect(memory.storeFacts("main", given)).rejects.toMatchObject({
      code: "invalid_input",
      message: `facts must be a list of 1 to ${MOST} facts, not ${count}; send the rest in further requests.`,
      details: { field: "facts", most: MOST },
    });
    expect((await memory.listFacts("main", {})).facts).toEqual([]);
  });

  test("writes as many at one moment as share a transaction", async () => {
    const memory = await openTestMemory();
    const before = await memory.revision("main");
    const put = memory.store.put.bind(memory.store);
    const moments: number[] = [];
    let underWay = 0;
    vi.spyOn(memory.store, "put").mockImplementation(async (...asked) => {
      underWay += 1;
      return put(...asked).finally(() => {
        if (underWay > 0) moments.push(underWay);
        underWay = 0;
      });
    });
    const answer = await memory.storeFacts("main", { facts: facts(MOST), similar: false });
    expect(answer.refused).toBe(0);
    expect(moments).toEqual([64, 64, 64, 58]);
    expect(await memory.revision("main")).toBe(before + MOST);
    const { facts: page } = await memory.listFacts("main", { limit: 1_000 });
    expect(page).toHaveLength(MOST);
  });

  test("throws the memory's failure if it stored none", async () => {
    const memory = await openTestMemory();
    const failure = new HelmdeckError("store_full", "The disk is full.");
    vi.spyOn(memory.store, "put").mockRejectedValue(failure);
    const given = [
      { key: "a", value: "" },
      { key: "b", value: "v" },
    ];
    await expect(memory.storeFacts("main", { facts: given })).rejects.toBe(failure);
  });

  test("tells what was stored when the memory fails, or closes, in the middle", async () => {
    const memory = await openTestMemory();
    const put = memory.store.put.bind(memory.store);
    let count = 0;
    vi.spyOn(memory.store, "put").mockImplementation(async (...asked) => {
      count += 1;
      if (count > 64) await memory.close();
      return put(...asked);
    });
    const answer = await memory.storeFacts("main", { facts: facts(70), similar: false });
    expect(outcomes(answer).slice(0, 64)).toEqual(facts(64).map(({ key }) => key));
    for (const one of answer.results.slice(64))
      expect(one).toMatchObject({ error: "store_unavailable", message: expect.any(String) });
    expect(answer.refused).toBe(6);
  });

  // verifies P-alone-batch
  test("keeps the batches of callers apart that store at the same time", async () => {
    const memory = await openTestMemory();
    const callers = ["main", "work", "home"];
    const answers = callers.map((caller) =>
      memory.storeFacts(caller, { facts: facts(70).map((fact) => ({ ...fact, value: caller })) }),
    );
    expect((await Promise.all(answers)).map(({ refused }) => refused)).toEqual([0, 0, 0]);
    for (const caller of callers) {
      const { facts: kept } = await memory.listFacts(caller, {});
      expect(new Set(kept.map(({ value }) => value))).toEqual(new Set([caller]));
      expect(kept).toHaveLength(70);
    }
  });

  test("carries out one caller's batches one after the other", async () => {
    const memory = await openTestMemory();
    const order: string[] = [];
    const put = memory.store.put.bind(memory.store);
    vi.spyOn(memory.store, "put").mockImplementation(async (entry, options) => {
      order.push(entry.key);
      return put(entry, options);
    });
    const batch = (name: string) => ({
      facts: facts(70).map((fact) => ({ ...fact, key: `${name}${fact.key}` })),
      similar: false,
    });
    const [first, refusal, second] = await Promise.allSettled([
      memory.storeFacts("main", batch("first/")),
      memory.storeFacts("main", { facts: [] }),
      memory.storeFacts("main", batch("second/")),
    ]);
    expect([first.status, refusal.status, second.status]).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(order).toEqual([...batch("first/").facts, ...batch("second/").facts].map(({ key }) => key));
  });
});
