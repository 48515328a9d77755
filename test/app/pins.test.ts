/** Pinned facts: their limits, their life, and who may keep one; the mark that nobody can set from outside. */
import { describe, expect, test } from "vitest";
import type { OpenMemory } from "../../app/compose.ts";
import type { Asker } from "../../app/memory.ts";
import { exportLines } from "../../app/transfer/export-lines.ts";
import { exportMarkdown } from "../../app/transfer/export-markdown.ts";
import { namespaceOf } from "../../engine/store/namespace.ts";
import { importLines } from "../transfer/import-lines.ts";
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

const MAIN = "main";
const PERSON: Asker = { surface: "cli", isPerson: true };
const AGENT: Asker = { surface: "openclaw", agent: "main" };
const YEAR = 365;
const KEY = "allergies";

async function memoryWith(...keys: readonly string[]) {
  const { clock, memory } = await openWithClock();
  await inTurn(keys, (key) => memory.storeFact(MAIN, { key, value: `The value of ${key}.` }));
  return { memory, clock };
}

function pin(memory: OpenMemory, key = KEY, asker = PERSON) {
  return memory.pinFact(MAIN, { key }, asker);
}

/** The day on which it ends, counted from the beginning; undefined when it has ended. */
async function endOf(memory: OpenMemory, key = KEY): Promise<number | undefined> {
  const expiresAt = (await memory.getFact(MAIN, { key }))?.expiresAt;
  return expiresAt && (expiresAt - NOW) / DAY_MS;
}

async function keysIn(memory: OpenMemory, query: object = {}): Promise<readonly string[]> {
  return (await memory.listFacts(MAIN, query)).facts.map(({ key }) => key);
}

async function all(parts: AsyncIterable<string>): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const part of parts) found.push(part);
  return found;
}

function refusedFor(reason: RegExp) {
  return { code: "invalid_input", message: expect.stringMatching(reason) };
}

describe("a pin", () => {
  test("changes the end and nothing else, and is no tag", async () => {
    const { memory, clock } = await memoryWith();
    await memory.storeFact(MAIN, { key: KEY, value: "Nuts.", tags: ["food"] });
    const before = await memory.getFact(MAIN, { key: KEY });
    clock.pass(DAY_MS);
    const expiresAt = NOW + DAY_MS + YEAR * DAY_MS;
    expect(await pin(memory)).toEqual({ ...before, revision: 2, pinned: true, expiresAt });
    expect(await memory.factHistory(MAIN, { key: KEY })).toMatchObject({ former: [] });
    const unpinned = await memory.pinFact(MAIN, { key: KEY, pinned: false }, AGENT);
    expect(unpinned).toEqual({ ...before, revision: 3, expiresAt });
    const again = await memory.pinFact(MAIN, { key: KEY, pinned: false });
    expect(again).toEqual(unpinned);
  });

  test("is in no search text, corpus chunk, history or tag of a hit", async () => {
    const { memory } = await memoryWith(KEY);
    await pin(memory);
    await memory.storeFact(MAIN, { key: KEY, value: "Now nuts." });
    const seen = [
      await memory.search(MAIN, { query: "nuts", explain: true }),
      await memory.corpusPage(MAIN, {}),
      await memory.readDocument(MAIN, { path: "helmdeck/user_facts/allergies.md" }),
      await memory.factHistory(MAIN, { key: KEY }),
      (await memory.getFact(MAIN, { key: KEY }))?.tags,
    ];
    expect(JSON.stringify(seen)).not.toContain('" pinned"');
    expect((await memory.search(MAIN, { query: "pinned" })).results).toEqual([]);
  });

  test("finds no missing fact, none of another caller, and no other revision", async () => {
    const { memory } = await memoryWith(KEY);
    for (const pinned of [true, false]) {
      for (const [subject, key] of [
        [MAIN, "none"],
        ["work", KEY],
      ] as const)
        await expect(memory.pinFact(subject, { key, pinned }, PERSON)).rejects.toMatchObject({
          code: "not_found",
        });
      await expect(memory.pinFact(MAIN, { key: KEY, pinned, ifRevision: 9 })).rejects.toMatchObject({
        code: "changed_meanwhile",
      });
    }
    expect(await memory.getFact(MAIN, { key: KEY })).not.toHaveProperty("pinned");
  });

  test("stays when the fact is stored again or edited, and an undo leaves it as it is then", async () => {
    const { memory } = await memoryWith(KEY);
    await pin(memory);
    await memory.storeFact(MAIN, { key: KEY, value: "Peanuts.", tags: ["x"] });
    expect(await memory.getFact(MAIN, { key: KEY })).toMatchObject({ pinned: true, tags: ["x"] });
    await memory.undoFact(MAIN, { key: KEY });
    expect(await memory.getFact(MAIN, { key: KEY })).toMatchObject({ pinned: true, tags: [] });
    await memory.storeFact(MAIN, { key: KEY, value: "Peanuts." });
    await memory.pinFact(MAIN, { key: KEY, pinned: false });
    await memory.undoFact(MAIN, { key: KEY });
    expect(await memory.getFact(MAIN, { key: KEY })).not.toHaveProperty("pinned");
  });
});

// verifies P-pin-limits
describe("the limits", () => {
  test("are ten facts of one subject; the refusal names the limit and the remedy", async () => {
    const keys = Array.from({ length: 11 }, (_, at) => `k${at}`);
    const { memory } = await memoryWith(...keys);
    for (const key of keys.slice(0, 10)) await pin(memory, key);
    for (const asker of [PERSON, AGENT])
      await expect(pin(memory, "k10", asker)).rejects.toMatchObject(refusedFor(/10 facts.*unpin one/));
    expect(await pin(memory, "k3")).toMatchObject({ pinned: true });
    await memory.storeFact("work", { key: "theirs", value: "x" });
    await memory.pinFact("work", { key: "theirs" }, PERSON);
    await memory.pinFact(MAIN, { key: "k0", pinned: false });
    expect(await pin(memory, "k10")).toMatchObject({ pinned: true });
  });

  test("are 300 tokens together, estimated at four characters", async () => {
    const { memory } = await memoryWith();
    const frame = 'fact "one":\n> \n'.length;
    await memory.storeFact(MAIN, { key: "one", value: "x".repeat(600 - frame) });
    await memory.storeFact(MAIN, { key: "two", value: "x".repeat(600 - frame + 1) });
    await pin(memory, "one");
    await expect(pin(memory, "two")).rejects.toMatchObject(
      refusedFor(/about 300 tokens, and with this one they would have 301; unpin one/),
    );
    await memory.storeFact(MAIN, { key: "two", value: "x".repeat(600 - frame) });
    expect(await pin(memory, "two")).toMatchObject({ pinned: true });
  });

  test("hold for pins at once", async () => {
    const keys = Array.from({ length: 14 }, (_, at) => `k${at}`);
    const { memory } = await memoryWith(...keys);
    const ended = await Promise.allSettled(keys.map((key) => pin(memory, key)));
    expect(ended.filter(({ status }) => status === "fulfilled")).toHaveLength(10);
    expect(await keysIn(memory, { pinned: true })).toHaveLength(10);
  });
});

// verifies P-pin-limits
describe("the mark", () => {
  const FORGED = [" pinned", "pinned ", "\u00a0pinned", "pinned"];

  test("cannot be set by a store or an import", async () => {
    const { memory } = await memoryWith();
    await memory.storeFact(MAIN, { key: "stored", value: "x", tags: FORGED });
    const line = { key: "imported", value: "x", tags: FORGED, pinned: true };
    const former = { ...line, created_at: "2026-01-01T00:00:00Z", updated_at: "2026-01-01T00:00:00Z" };
    const { pinned: _, ...held } = { ...former, key: "undone", category: "user_facts" };
    const lines = [line, { ...line, key: "undone", value: "y", history: [{ ...held, joined: false }] }];
    const input = (async function* () {
      yield Buffer.from(lines.map((one) => JSON.stringify(one)).join("\n"));
    })();
    const { refused, leftOut } = await importLines({ memory, subject: MAIN, input });
    expect([refused, leftOut]).toEqual([[], { "pins: pin again what matters": 2 }]);
    await memory.undoFact(MAIN, { key: "undone" });
    expect(await keysIn(memory)).toHaveLength(3);
    expect(await keysIn(memory, { pinned: true })).toEqual([]);
    const marked = { namespace: namespaceOf(MAIN), tag: " pinned" };
    expect(await memory.store.countWhere(marked)).toBe(0);
  });

  test("is told apart in exports", async () => {
    const { memory } = await memoryWith("plain", KEY);
    await pin(memory);
    const parts = { memory, subject: MAIN, onProblem: () => expect.unreachable() };
    const lines = await all(exportLines(parts));
    expect(lines.map((line) => [JSON.parse(line).key, JSON.parse(line).pinned])).toEqual([
      ["plain", undefined],
      [KEY, true],
    ]);
    const markdown = (await all(exportMarkdown(parts))).join("");
    expect(markdown.match(/^- pinned: true$/gm)).toHaveLength(1);
    expect(JSON.stringify(lines) + markdown).not.toContain(' pinned"');
  });
});

// verifies P-pin-limits
describe("the life of a pinned fact", () => {
  test("a person confirms it for another year", async () => {
    const { memory, clock } = await memoryWith(KEY);
    await pin(memory);
    clock.pass(300 * DAY_MS);
    await pin(memory);
    expect(await endOf(memory)).toBe(300 + YEAR);
  });

  test("an agent's pin lasts a year from when the value was stored, and none makes it last longer", async () => {
    const { memory, clock } = await memoryWith(KEY);
    clock.pass(20 * DAY_MS);
    await pin(memory, KEY, AGENT);
    expect(await endOf(memory)).toBe(YEAR);
    clock.pass(200 * DAY_MS);
    await pin(memory, KEY, AGENT);
    await memory.pinFact(MAIN, { key: KEY });
    const longer = { key: KEY, ttlSeconds: YEAR * 86_400 };
    for (const asker of [AGENT, undefined])
      await expect(memory.renewFact(MAIN, longer, asker)).rejects.toMatchObject(
        refusedFor(/is pinned: only a person/),
      );
    await memory.pinFact(MAIN, { key: KEY, pinned: false }, AGENT);
    await memory.renewFact(MAIN, longer, AGENT);
    await expect(pin(memory, KEY, AGENT)).rejects.toMatchObject(refusedFor(/only a person can pin it/));
    expect((await memory.getFact(MAIN, { key: KEY }))?.pinned).toBeUndefined();
  });

  const SHORT = { key: KEY, ttlSeconds: 5 * 86_400 };
  type Live = (memory: OpenMemory) => Promise<unknown>;
  const LIVES: readonly (readonly [string, number, Live, number, number])[] = [
    ["the default life", 10, async () => {}, YEAR, 60 + YEAR],
    [
      "a person's renewal",
      100,
      (memory) => memory.renewFact(MAIN, { key: KEY }, PERSON),
      100 + YEAR,
      150 + YEAR,
    ],
    [
      "a new value",
      100,
      (memory) => memory.storeFact(MAIN, { key: KEY, value: "x" }),
      100 + YEAR,
      150 + YEAR,
    ],
    ["a chosen end", 10, (memory) => memory.renewFact(MAIN, SHORT), YEAR, YEAR],
  ];
  test.each(LIVES)("unpinned, it would not end later: after %s", async (_life, day, before, end, stored) => {
    const { clock, memory } = await openWithClock({ lifetimeDays: YEAR });
    await memory.storeFact(MAIN, { key: KEY, value: "Nuts." });
    clock.pass(day * DAY_MS);
    await before(memory);
    const unpinned = await endOf(memory);
    await pin(memory, KEY, AGENT);
    expect(await endOf(memory)).toBe(end);
    expect(end).toBeGreaterThanOrEqual(Number(unpinned));
    clock.pass(50 * DAY_MS);
    await memory.storeFact(MAIN, { key: KEY, value: "Nuts and milk." }, AGENT);
    expect(await endOf(memory)).toBe(stored);
  });

  test("an agent cannot pin what was stored more than a year ago", async () => {
    const { memory, clock } = await memoryWith(KEY);
    await memory.renewFact(MAIN, { key: KEY, ttlSeconds: YEAR * 86_400 });
    clock.pass(300 * DAY_MS);
    await memory.renewFact(MAIN, { key: KEY, ttlSeconds: YEAR * 86_400 });
    clock.pass(65 * DAY_MS);
    await expect(pin(memory, KEY, AGENT)).rejects.toMatchObject(refusedFor(/only a person can pin it/));
    expect(await endOf(memory)).toBe(300 + YEAR);
    await pin(memory);
    expect(await endOf(memory)).toBe(YEAR + YEAR);
  });

  test("use leaves its end alone; a store keeps it, within a year", async () => {
    const { memory, clock } = await memoryWith(KEY);
    await pin(memory);
    await memory.renewFact(MAIN, { key: KEY, ttlSeconds: 90 * 86_400 }, PERSON);
    clock.pass(80 * DAY_MS);
    await memory.readDocument(MAIN, { path: "helmdeck/user_facts/allergies.md", renewOnUse: true });
    expect(await endOf(memory)).toBe(90);
    await pin(memory);
    clock.pass(DAY_MS);
    await memory.storeFact(MAIN, { key: KEY, value: "Nuts and milk." }, AGENT);
    expect(await endOf(memory)).toBe(80 + YEAR);
    await memory.storeFact(MAIN, { key: KEY, value: "Nuts.", ttlSeconds: YEAR * 86_400 }, AGENT);
    expect(await endOf(memory)).toBe(81 + YEAR);
  });
});

describe("a list", () => {
  test("begins with the pinned facts, in an order that does not change, and repeats none", async () => {
    const { memory, clock } = await memoryWith();
    const keys = Array.from({ length: 9 }, (_, at) => `k${at}`);
    await inTurn(keys, async (key) => {
      clock.pass(1_000);
      await memory.storeFact(MAIN, { key, value: `The value of ${key}.` });
    });
    for (const key of ["k7", "k2", "k5"]) await pin(memory, key);
    const expected = ["k2", "k5", "k7", "k8", "k6", "k4", "k3", "k1", "k0"];
    await memory.storeFact(MAIN, { key: "k2", value: "Another value." });
    expect(await keysIn(memory)).toEqual(expected);
    expect(await keysIn(memory, { pinned: true })).toEqual(["k2", "k5", "k7"]);
    expect(await keysIn(memory, { pinned: true, prefix: "k5" })).toEqual(["k5"]);
    for (const limit of [1, 2, 3, 4, 5, 8, 9, 10]) {
      const pages = await pagesOf((next) => memory.listFacts(MAIN, { limit, ...next }));
      for (const { facts } of pages) expect(facts.length).toBeLessThanOrEqual(limit);
      expect(pages.flatMap(({ facts }) => facts.map(({ key }) => key))).toEqual(expected);
    }
    for (const key of ["k0", "k1", "k3", "k4", "k6", "k8"])
      await memory.forget(MAIN, { scope: `key:${key}` });
    expect(await memory.listFacts(MAIN, { limit: 3 })).not.toHaveProperty("nextCursor");
  });

  test("follows what other processes pin, unpin, store and forget, and what ends", async () => {
    const place = await tempPlace();
    const clock = new TestClock();
    const [memory, other] = [
      await openTestMemory({ ...place, now: clock.now }),
      await openTestMemory({ ...place, now: clock.now }),
    ];
    const pinned = () => keysIn(memory, { pinned: true });
    await inTurn(["a", "b", "c"], (key) => other.storeFact(MAIN, { key, value: "x" }));
    expect(await pinned()).toEqual([]);
    await inTurn(["a", "b", "c"], (key) => pin(other, key));
    expect(await pinned()).toEqual(["a", "b", "c"]);
    await other.pinFact(MAIN, { key: "b", pinned: false });
    await other.storeFact(MAIN, { key: "c", value: "Another." });
    expect(await pinned()).toEqual(["a", "c"]);
    await other.forget(MAIN, { scope: "key:c" });
    expect(await pinned()).toEqual(["a"]);
    await other.store.putMany(Array.from({ length: 1_100 }, (_, at) => entryOf(`many/${at}`, "x")));
    await pin(other, "b");
    expect(await pinned()).toEqual(["a", "b"]);
    clock.pass(YEAR * DAY_MS);
    expect(await pinned()).toEqual([]);
  });

  test("names what is pinned first among what ends soon", async () => {
    const { memory, clock } = await memoryWith("early", KEY);
    await pin(memory);
    clock.pass(355 * DAY_MS);
    await memory.storeFact(MAIN, { key: "soon", value: "x", ttlSeconds: 86_400 });
    const { expiring } = await memory.myMemory(MAIN);
    expect(expiring).toMatchObject({ count: 2, soonest: [{ key: KEY, pinned: true }, { key: "soon" }] });
    expect(await keysIn(memory, { soonestFirst: true })).toEqual([KEY, "soon"]);
    const first = await memory.listFacts(MAIN, { soonestFirst: true, limit: 1 });
    const { nextCursor: cursor = "" } = first;
    expect(await keysIn(memory, { soonestFirst: true, cursor })).toEqual(["soon"]);
    const document = await memory.readDocument(MAIN, { path: "helmdeck/my-memory.md" });
    expect(document?.content).toMatch(/allergies \(.*, pinned\) on/);
    expect(document?.content).toContain("/pin KEY keeps it another year");
  });
});
