import { describe, expect, test } from "vitest";
import {
  DAY_MS,
  entryOf,
  inTurn,
  NOW,
  openTestMemory,
  openWithClock,
  pagesOf,
  TestClock,
  tempPlace,
} from "./fixtures/memories.ts";

describe("storing a fact", () => {
  test("returns its path and its expiry", async () => {
    const memory = await openTestMemory();
    expect(await memory.storeFact("main", { key: " deploy/preference ", value: "Konflux" })).toEqual({
      key: "deploy/preference",
      category: "user_facts",
      expiresAt: NOW + 90 * DAY_MS,
      revision: 1,
      path: "helmdeck/user_facts/deploy/preference.md",
    });
  });

  test("reports whether it replaced another value or renewed the same one", async () => {
    const { clock, memory } = await openWithClock();
    await memory.storeFact("main", { key: "k", value: "one" });
    clock.pass(1_000);
    const again = await memory.storeFact("main", { key: "k", value: " one " });
    expect(again.replaced).toEqual({ updatedAt: NOW, refreshed: true });
    clock.pass(1_000);
    const other = await memory.storeFact("main", { key: "k", value: "two" });
    expect(other.replaced).toEqual({ updatedAt: NOW + 1_000, refreshed: false });
  });

  // verifies P-person-first
  test("names the person whose value an agent replaces, and leaves them what an agent repeats", async () => {
    const memory = await openTestMemory();
    const person = { surface: "cli", agent: "main" };
    const agent = { surface: "openclaw", agent: "main", sessionKind: "direct" };
    const store = async (value: string, writer: typeof person) => {
      const { replaced } = await memory.storeFact("main", { key: "k", value }, writer);
      return [replaced?.writer, (await memory.getFact("main", { key: "k" }))?.writer];
    };
    expect(await store("one", person)).toEqual([undefined, person]);
    expect(await store("one", agent)).toEqual([undefined, person]);
    expect(await store("two", agent)).toEqual([person, agent]);
    expect(await store("two", person)).toEqual([undefined, person]);
    await memory.undoFact("main", { key: "k" });
    expect(await memory.getFact("main", { key: "k" })).toMatchObject({ value: "one", writer: person });
  });

  test("replaces nothing when the previous one has expired", async () => {
    const { clock, memory } = await openWithClock();
    await memory.storeFact("main", { key: "k", value: "one", ttlSeconds: 3_600 });
    clock.pass(3_600 * 1_000);
    expect((await memory.storeFact("main", { key: "k", value: "two" })).replaced).toBeUndefined();
  });

  // verifies P-text-lookalikes
  test("under a key that looks like another is refused with the other key's name, and changes nothing", async () => {
    const memory = await openTestMemory();
    await memory.storeFact("main", { key: "deploy", value: "Konflux" });
    const alike = { key: "d\u0435ploy", value: "by hand" };
    await expect(memory.storeFact("main", alike)).rejects.toThrow(/looks like the existing key "deploy"/);
    expect((await memory.listFacts("main", {})).facts.map(({ key }) => key)).toEqual(["deploy"]);
    await memory.storeFact("work", alike);
    await memory.storeFact("main", { key: "deploy", value: "Tekton" });
    await memory.forget("main", { scope: "key:deploy" });
    await memory.storeFact("main", alike);
    await expect(memory.storeFact("main", { key: "deploy", value: "x" })).rejects.toThrow("looks like");
  });

  test("under a key like another process's is refused until that expires", async () => {
    const place = await tempPlace();
    const clock = new TestClock();
    const [memory, other] = [
      await openTestMemory({ ...place, now: clock.now }),
      await openTestMemory({ ...place, now: clock.now }),
    ];
    await memory.storeFact("main", { key: "notes", value: "mine" });
    await other.storeFact("main", { key: "deploy", value: "Konflux", ttlSeconds: 3_600 });
    const alike = { key: "d\u0435ploy", value: "by hand" };
    await expect(memory.storeFact("main", alike)).rejects.toThrow("looks like");
    clock.pass(3_600 * 1_000);
    expect(await memory.storeFact("main", alike)).toMatchObject({ key: alike.key });
  });

  test("may have an emoji in its key, but not one that looks like another key", async () => {
    const memory = await openTestMemory();
    const key = "mood/\u2764\ufe0f";
    expect(await memory.storeFact("main", { key, value: "good" })).toMatchObject({ key });
    expect(await memory.getFact("main", { key })).toMatchObject({ value: "good" });
    for (const alike of ["mood/\u2764", "mood/\u2764\ufe0e", "mood/\u2764\ufe0f\u200d"])
      await expect(memory.storeFact("main", { key: alike, value: "bad" })).rejects.toThrow(/looks like|U\+/);
    expect(await memory.forget("main", { scope: `key:${key}` })).toMatchObject({ deleted: 1 });
  });

  test("does not affect facts of an earlier version with refused keys: they can be read, listed and forgotten", async () => {
    const memory = await openTestMemory();
    const key = "mood/a\ufe0f";
    await memory.store.put(entryOf(key, "fine"));
    expect(await memory.getFact("main", { key })).toMatchObject({ key, value: "fine" });
    await expect(memory.storeFact("main", { key, value: "new" })).rejects.toThrow("U+FE0F");
    expect(await memory.forget("main", { scope: `key:${key}` })).toMatchObject({ deleted: 1 });
  });

  test("is found by the next search, after a replacement only by its new words", async () => {
    const memory = await openTestMemory();
    await memory.storeFact("main", { key: "wifi", value: "The wifi is called Kolibri" });
    expect((await memory.search("main", { query: "kolibri" })).results[0]).toMatchObject({
      path: "helmdeck/user_facts/wifi.md",
      key: "wifi",
      category: "user_facts",
    });
    await memory.storeFact("main", { key: "wifi", value: "The wifi is called Amsel" });
    expect((await memory.search("main", { query: "kolibri" })).results).toEqual([]);
  });

  test.each([undefined, null, "deploy", {}, { key: "k" }, { key: "k", value: "v", category: "cache" }])(
    "that is invalid (%j) is refused, and nothing is stored",
    async (input) => {
      const memory = await openTestMemory();
      // @ts-expect-error a host may pass arguments of any type from a model
      const refused = memory.storeFact("main", input);
      await expect(refused).rejects.toMatchObject({ name: "HelmdeckError", code: "invalid_input" });
      expect((await memory.listFacts("main", {})).facts).toEqual([]);
    },
  );
});

describe("getting a fact", () => {
  test("returns every field, and the value byte for byte", async () => {
    const memory = await openTestMemory();
    const value = "a\u0000b\u202ec\r\n日本";
    await memory.storeFact("main", { key: "k", value, category: "prefs", tags: ["ci"], ttlSeconds: 3_600 });
    expect(await memory.getFact("main", { key: " k " })).toEqual({
      key: "k",
      value,
      category: "prefs",
      tags: ["ci"],
      createdAt: NOW,
      updatedAt: NOW,
      expiresAt: NOW + 3_600 * 1_000,
      fingerprint: expect.stringMatching(/^[0-9a-f]{16}$/),
      revision: 1,
      path: "helmdeck/prefs/k.md",
    });
  });

  test("has helmdeck's fingerprint", async () => {
    const memory = await openTestMemory();
    await memory.storeFact("main", { key: "k", value: "React over Vue" });
    expect((await memory.getFact("main", { key: "k" }))?.fingerprint).toBe("6ef1c78715ae5385");
  });

  test.each(["K", "k2", "", "k\n", "k\u0000", "\ud800", "%", "k%", "_", "x".repeat(600)])(
    "misses for %j",
    async (key) => {
      const memory = await openTestMemory();
      await memory.storeFact("main", { key: "ka", value: "v" });
      await memory.storeFact("main", { key: "\ufffd", value: "v" });
      expect(await memory.getFact("main", { key })).toBeUndefined();
    },
  );

  test("misses exactly from its expiry on", async () => {
    const { clock, memory } = await openWithClock();
    await memory.storeFact("main", { key: "k", value: "v", ttlSeconds: 3_600 });
    clock.pass(3_600 * 1_000 - 1);
    expect(await memory.getFact("main", { key: "k" })).toBeDefined();
    clock.pass(1);
    expect(await memory.getFact("main", { key: "k" })).toBeUndefined();
    expect((await memory.listFacts("main", {})).facts).toEqual([]);
    expect((await memory.search("main", { query: "k" })).results).toEqual([]);
    expect(await memory.readDocument("main", { path: "helmdeck/user_facts/k.md" })).toBeUndefined();
    expect((await memory.myMemory("main")).categories).toEqual([]);
  });
});

describe("listing facts", () => {
  test("pages through all of them, newest first, each once", async () => {
    const { clock, memory } = await openWithClock();
    const keys = Array.from({ length: 135 }, (_, index) => `k${index}`);
    await inTurn(keys, (key) => {
      clock.pass(1);
      return memory.storeFact("main", { key, value: "v" });
    });
    const pages = await pagesOf((next) => memory.listFacts("main", { limit: 120, ...next }));
    expect(pages.map(({ facts }) => facts.length)).toEqual([120, 15]);
    expect(pages.flatMap(({ facts }) => facts.map(({ key }) => key))).toEqual(keys.reverse());
  });

  test("by prefix and category, exactly", async () => {
    const memory = await openTestMemory();
    const stored = [
      ["a/x", "c1"],
      ["A/x", "c1"],
      ["a_x", "c1"],
      ["a/y", "c2"],
    ] as const;
    await inTurn(stored, ([key, category]) => memory.storeFact("main", { key, value: "v", category }));
    const keysOf = async (query: object) =>
      (await memory.listFacts("main", query)).facts.map(({ key }) => key).sort();
    expect(await keysOf({ prefix: "a/" })).toEqual(["a/x", "a/y"]);
    expect(await keysOf({ prefix: "a_" })).toEqual(["a_x"]);
    expect(await keysOf({ prefix: "%" })).toEqual([]);
    expect(await keysOf({ category: "c1" })).toEqual(["A/x", "a/x", "a_x"]);
    expect(await keysOf({ prefix: "a", category: "c2" })).toEqual(["a/y"]);
    expect(await keysOf({ category: "C1" })).toEqual([]);
    expect(await keysOf({ category: "pack_history" })).toEqual([]);
  });

  test("ends a page early instead of returning hundreds of megabytes, and reports that there is more", async () => {
    const memory = await openTestMemory();
    const value = "x".repeat(60_000);
    const keys = Array.from({ length: 120 }, (_, index) => `k${index}`);
    await inTurn(keys, (key) => memory.storeFact("main", { key, value }));
    const pages = await pagesOf((next) => memory.listFacts("main", { limit: 1_000, ...next }));
    for (const { facts } of pages) expect(facts.length).toBeLessThan(100);
    expect(pages.flatMap(({ facts }) => facts.map(({ key }) => key)).sort()).toEqual(keys.sort());
  });

  test.each([
    { limit: 0 },
    { limit: 1_001 },
    { limit: 1.5 },
    { prefix: "\ud800" },
    { prefix: 5 },
    { category: 5 },
    { cursor: "no cursor" },
  ])("refuses %j", async (query) => {
    const memory = await openTestMemory();
    // @ts-expect-error some of these have the wrong type on purpose
    await expect(memory.listFacts("main", query)).rejects.toMatchObject({ code: "invalid_input" });
  });
});

describe("searching", () => {
  test.each([
    { query: 5 },
    {},
    undefined,
    { query: "x", limit: 0 },
    { query: "x", limit: 51 },
    { query: "x", limit: 1.5 },
  ])("refuses %j", async (query) => {
    const memory = await openTestMemory();
    // @ts-expect-error some of these have the wrong type on purpose
    await expect(memory.search("main", query)).rejects.toMatchObject({ code: "invalid_input" });
  });

  test.each(["", "   ", "\ud800", "\u0000", "x".repeat(1_000_000), "%_*\"'; DROP TABLE entries"])(
    "finds nothing for a query without content (%#)",
    async (query) => {
      const memory = await openTestMemory();
      await memory.storeFact("main", { key: "deploy", value: "Konflux" });
      expect((await memory.search("main", { query })).results).toEqual([]);
    },
  );
});
