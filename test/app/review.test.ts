/** What a memory asks about, and what stays: duplicates, conflicts, near-copies, what expires soon. */
import { describe, expect, test } from "vitest";
import type { OpenMemory } from "../../app/compose.ts";
import type { Review } from "../../app/memory.ts";
import { toKeep } from "../../app/tidying.ts";
import { areApart } from "../../engine/facts/marks.ts";
import { namespaceOf } from "../../engine/store/namespace.ts";
import { DAY_MS, entryOf, openTestMemory, openWithClock } from "./fixtures/memories.ts";

const LONG = { ttlSeconds: 300 * 86_400 };
const FRIDAYS = { key: "deploy/fridays", value: "We never deploy on Fridays" };
const ALSO_FRIDAYS = { key: "deploy/rule", value: "We deploy on Fridays" };
const PEANUTS = "I am allergic to peanuts";

async function memoryWith(...facts: readonly { readonly key: string; readonly value: string }[]) {
  const { clock, memory } = await openWithClock();
  for (const fact of facts) {
    clock.pass(1_000);
    await memory.storeFact("main", { ...LONG, ...fact });
  }
  return { memory, clock };
}

function shown({ findings }: Review) {
  return findings.map(({ kind, facts }) => [kind, ...facts.map(({ key }) => key)]);
}

const look = async (memory: OpenMemory) => shown(await memory.review("main", {}));

describe("a review", () => {
  test("finds nothing in a memory without questions", async () => {
    const { memory } = await memoryWith({ key: "a", value: "The cat is called Miso" }, FRIDAYS);
    expect(await memory.review("main", {})).toMatchObject({
      findings: [],
      found: { duplicate: 0, conflict: 0, near: 0, similar: 0, expiring: 0 },
    });
  });

  test("an allergy under four keys is one finding, the newest first", async () => {
    const { memory } = await memoryWith(
      { key: "allergies", value: PEANUTS },
      { key: "health/allergy", value: "i am allergic to  peanuts." },
      { key: "mem0/7", value: PEANUTS },
      { key: "notes/food", value: `${PEANUTS}!` },
    );
    expect(await look(memory)).toEqual([
      ["duplicate", "notes/food", "mem0/7", "health/allergy", "allergies"],
    ]);
  });

  test("finds the same in other words", async () => {
    const { memory } = await memoryWith(
      { key: "standup", value: "Standup is at 9:30" },
      { key: "standup/time", value: "The standup starts at half past nine" },
    );
    expect(await look(memory)).toEqual([["duplicate", "standup/time", "standup"]]);
  });

  test("does not take two facts that each have a word of their own for the same, unless they share a value", async () => {
    const { memory } = await memoryWith(
      { key: "proxy/billing", value: "nginx proxies the billing service" },
      { key: "proxy/search", value: "nginx proxies the search service" },
      { key: "port", value: "The dev server's port is 8081" },
      { key: "port/again", value: "dev server listens on :8081" },
    );
    expect(await look(memory)).toEqual([
      ["duplicate", "port/again", "port"],
      ["similar", "proxy/search", "proxy/billing"],
    ]);
  });

  test("does not ask about a series of similar facts", async () => {
    const { memory } = await memoryWith(
      ...["billing", "search", "mail", "photos", "chat", "maps"].map((name) => ({
        key: `proxy/${name}`,
        value: `nginx proxies the ${name} service`,
      })),
    );
    expect(await look(memory)).toEqual([]);
  });

  test("finds what contradicts each other, once for all copies of each side", async () => {
    const { memory } = await memoryWith(FRIDAYS, ALSO_FRIDAYS, { ...FRIDAYS, key: "copy" });
    expect(await look(memory)).toEqual([
      ["duplicate", "copy", "deploy/fridays"],
      ["conflict", "copy", "deploy/rule"],
    ]);
  });

  test("finds the old facts after real corrections under other keys", async () => {
    const corrections = [
      ["Lena lives in Cologne", "Lena moved to Aachen"],
      ["The project uses npm", "We switched the project to pnpm"],
      ["I drive a Golf", "I sold the Golf"],
      ["Piano lesson is on Mondays", "The piano lesson was postponed to Thursdays"],
    ] as const;
    const { memory } = await memoryWith(
      ...corrections.map(([value], place) => ({ key: `old/${place}`, value })),
      ...corrections.map(([, value], place) => ({ key: `new/${place}`, value })),
    );
    const found = await look(memory);
    expect(found.filter(([kind]) => kind === "conflict")).toHaveLength(4);
    for (const place of corrections.keys())
      expect(found).toContainEqual(["conflict", `new/${place}`, `old/${place}`]);
  });

  // verifies P-person-first
  test("offers to keep a person's fact, whatever an agent stored later", async () => {
    const memory = await openTestMemory();
    const store = (fact: typeof FRIDAYS, surface: string) =>
      memory.storeFact("main", { ...LONG, ...fact }, { surface });
    await store(FRIDAYS, "cli");
    await store({ ...FRIDAYS, key: "copy" }, "openclaw");
    await store(ALSO_FRIDAYS, "openclaw");
    const { findings } = await memory.review("main", {});
    expect(findings.map(({ kind }) => kind)).toEqual(["duplicate", "conflict"]);
    expect(findings.map((finding) => toKeep(finding)?.key)).toEqual(["deploy/fridays", "deploy/fridays"]);
  });

  test("finds near-copies from different sources only", async () => {
    const near = [
      { key: "a", value: "Backups of the photo archive go to the basement server" },
      { key: "b", value: "Backups of the photo archive go to the basement server, checked by Ines" },
    ] as const;
    const { memory } = await memoryWith(...near);
    expect(await look(memory)).toEqual([["similar", "b", "a"]]);
    await memory.forget("main", { scope: "key:b" });
    await memory.storeFact("main", { ...LONG, ...near[1] }, { surface: "openclaw", agent: "main" });
    expect(await look(memory)).toEqual([["near", "b", "a"]]);
  });

  test("ends with what expires soon: pinned facts first, then the soonest", async () => {
    const { memory, clock } = await memoryWith();
    const ending = { late: 9, soon: 2, never: 300, pinned: 1 };
    for (const [key, days] of Object.entries(ending))
      await memory.storeFact("main", { key, value: `${key} thing`, ttlSeconds: days * 86_400 });
    await memory.pinFact("main", { key: "pinned" }, { surface: "cli", isPerson: true });
    clock.pass(354 * DAY_MS);
    await memory.storeFact("main", { key: "late", value: "another thing", ttlSeconds: 9 * 86_400 });
    await memory.storeFact("main", { key: "soon", value: "a third", ttlSeconds: 2 * 86_400 });
    expect(await look(memory)).toEqual([
      ["expiring", "pinned"],
      ["expiring", "soon"],
      ["expiring", "late"],
    ]);
  });

  test("marks pinned facts", async () => {
    const { memory } = await memoryWith({ key: "a", value: PEANUTS }, { key: "b", value: PEANUTS });
    await memory.pinFact("main", { key: "a" }, { surface: "cli", isPerson: true });
    const { findings } = await memory.review("main", {});
    expect(findings[0]?.facts.map(({ key, pinned }) => [key, pinned])).toEqual([
      ["b", undefined],
      ["a", true],
    ]);
  });

  test("shows as many as asked for, and the others by cursor", async () => {
    const { memory } = await memoryWith(
      ...["one", "two", "three"].flatMap((word) => [
        { key: `${word}/a`, value: `${word} thing` },
        { key: `${word}/b`, value: `${word} thing` },
      ]),
    );
    const first = await memory.review("main", { limit: 2 });
    expect(first).toMatchObject({ found: { duplicate: 3 }, nextCursor: expect.any(String) });
    const rest = await memory.review("main", { limit: 2, cursor: first.nextCursor ?? "" });
    expect([...shown(first), ...shown(rest)]).toHaveLength(3);
    expect(rest.nextCursor).toBeUndefined();
    for (const wrong of [{ limit: 0 }, { limit: 101 }, { cursor: "x" }])
      await expect(memory.review("main", wrong)).rejects.toMatchObject({ code: "invalid_input" });
  });

  test("names at most ten of many copies, pinned ones among them", async () => {
    const { memory } = await memoryWith(
      ...Array.from({ length: 14 }, (_, n) => ({ key: `k${n}`, value: PEANUTS })),
    );
    await memory.pinFact("main", { key: "k0" }, { surface: "cli", isPerson: true });
    const [[, ...keys] = []] = await look(memory);
    expect(keys).toHaveLength(10);
    expect(keys).toContain("k0");
  });

  test("compares a long value as a whole only", async () => {
    const long = "We deploy on Fridays. ".repeat(60);
    const { memory } = await memoryWith({ key: "a", value: long }, { key: "b", value: long }, FRIDAYS);
    expect(await look(memory)).toEqual([["duplicate", "b", "a"]]);
  });
});

describe("a merge", () => {
  const copies = [
    { key: "allergies", value: PEANUTS, category: "people", tags: ["health"] },
    { key: "mem0/7", value: PEANUTS },
    { key: "notes/food", value: PEANUTS },
  ];
  const merged = { key: "allergies", value: PEANUTS, supersedes: ["mem0/7", "notes/food"] };

  // verifies P-tidy-loses-nothing
  test("keeps the values of the others in the history, and an undo brings all back", async () => {
    const { memory } = await memoryWith(...copies);
    const before = (await memory.listFacts("main", {})).facts;
    const { revision } = await memory.review("main", {});
    await memory.storeFact("main", { ...merged, upTo: revision });
    expect(await look(memory)).toEqual([]);
    const kept = await memory.getFact("main", { key: "allergies" });
    expect(kept).toMatchObject({ category: "people", tags: ["health"], expiresAt: before[2]?.expiresAt });
    const history = await memory.factHistory("main", { key: "allergies" });
    expect(history?.former.map(({ key }) => key).sort()).toEqual(["allergies", "mem0/7", "notes/food"]);
    await memory.undoFact("main", { key: "allergies" });
    const values = ({ key, value, category, tags, updatedAt, expiresAt }: (typeof before)[number]) => ({
      key,
      value,
      category,
      tags,
      updatedAt,
      expiresAt,
    });
    const after = (await memory.listFacts("main", {})).facts;
    expect(after.map(values)).toEqual(before.map(values));
    expect(await look(memory)).toHaveLength(1);
  });

  test("changes nothing if somebody changed one of the facts since the review", async () => {
    const { memory } = await memoryWith(...copies);
    const { revision } = await memory.review("main", {});
    await memory.storeFact("main", { key: "mem0/7", value: "and to shrimps" });
    await expect(memory.storeFact("main", { ...merged, upTo: revision })).rejects.toMatchObject({
      code: "changed_meanwhile",
    });
    expect((await memory.listFacts("main", {})).facts).toHaveLength(3);
  });
});

describe("facts that are kept apart", () => {
  const keys = [FRIDAYS.key, ALSO_FRIDAYS.key];
  const apart = async (memory: OpenMemory, more = {}) => memory.keepApart("main", { keys, ...more });

  test("are not asked about again, and change in nothing that somebody sees", async () => {
    const { memory } = await memoryWith(FRIDAYS, ALSO_FRIDAYS);
    const withoutRevision = async () =>
      (await memory.listFacts("main", {})).facts.map(({ revision: _, ...fact }) => fact);
    const before = await withoutRevision();
    expect(await look(memory)).toHaveLength(1);
    expect(await apart(memory)).toEqual({ keys, apart: true });
    expect(await look(memory)).toEqual([]);
    expect(await withoutRevision()).toEqual(before);
    await apart(memory, { apart: false });
    expect(await look(memory)).toHaveLength(1);
  });

  test.each(keys)(
    "are asked about again when %s gets another value, and not for the same value",
    async (key) => {
      const { memory } = await memoryWith(FRIDAYS, ALSO_FRIDAYS);
      await apart(memory);
      const value = key === FRIDAYS.key ? FRIDAYS.value : ALSO_FRIDAYS.value;
      await memory.storeFact("main", { key, value, tags: ["again"] });
      expect(await look(memory)).toEqual([]);
      await memory.storeFact("main", { key, value: `${value} at all` });
      await memory.storeFact("main", { key, value });
      expect(await look(memory)).toHaveLength(1);
    },
  );

  test("of many, one is asked about beside a new copy only", async () => {
    const { memory, clock } = await memoryWith(
      { key: "a", value: PEANUTS },
      { key: "b", value: PEANUTS },
      { key: "c", value: PEANUTS },
    );
    await memory.keepApart("main", { keys: ["a", "b", "c"] });
    expect(await look(memory)).toEqual([]);
    clock.pass(1_000);
    await memory.storeFact("main", { key: "d", value: PEANUTS, ...LONG });
    expect(await look(memory)).toEqual([["duplicate", "d", "c", "b", "a"]]);
  });

  test("must be those that were shown", async () => {
    const { memory } = await memoryWith(FRIDAYS, ALSO_FRIDAYS);
    const { revision: upTo } = await memory.review("main", {});
    await memory.storeFact("main", { key: ALSO_FRIDAYS.key, value: "We deploy on Fridays, too" });
    await expect(apart(memory, { upTo })).rejects.toMatchObject({ code: "changed_meanwhile" });
    await memory.storeFact("main", { ...ALSO_FRIDAYS, ...LONG });
    expect(await look(memory)).toHaveLength(1);
  });

  test("must exist, and be two to ten", async () => {
    const { memory } = await memoryWith(FRIDAYS);
    for (const wrong of [[], ["a"], ["a", "a"], Array.from({ length: 11 }, (_, n) => `k${n}`)])
      await expect(memory.keepApart("main", { keys: wrong })).rejects.toMatchObject({
        code: "invalid_input",
      });
    await expect(apart(memory)).rejects.toMatchObject({ code: "not_found" });
  });

  test("are at most fifty for one fact", async () => {
    const { memory } = await memoryWith(
      ...Array.from({ length: 52 }, (_, n) => ({ key: `k${n}`, value: `thing number ${n}` })),
    );
    for (let n = 1; n <= 50; n += 1) await memory.keepApart("main", { keys: ["k0", `k${n}`] });
    await expect(memory.keepApart("main", { keys: ["k0", "k51"] })).rejects.toThrow("is the limit");
  });

  // verifies P-tidy-by-hand
  test("cannot be set by anybody's tags: neither by a store nor by an import", async () => {
    const { memory } = await memoryWith(FRIDAYS, ALSO_FRIDAYS);
    const namespace = namespaceOf("main");
    const entries = async () => (await memory.store.list({ namespace, origin: "fact" })).entries;
    const [one, other] = await entries();
    if (one === undefined || other === undefined) throw new Error("two facts are stored");
    const areMarked = async () => {
      const [now, then] = await entries();
      return now !== undefined && then !== undefined && areApart(now, then);
    };
    await memory.store.put({ ...one, tags: [` apart:${other.id}`] });
    await memory.store.putMany([{ ...other, tags: [` apart:${one.id}`] }]);
    expect(await areMarked()).toBe(false);
    await memory.storeFact("main", { ...FRIDAYS, tags: [` apart:${one.id}`] });
    await memory.storeFact("main", { ...ALSO_FRIDAYS, tags: [` apart:${other.id}`] });
    expect(await areMarked()).toBe(false);
    expect(await look(memory)).toHaveLength(1);
  });
});

test("10,000 facts are reviewed within seconds, and others get their turn meanwhile", {
  timeout: 60_000,
}, async () => {
  const { memory } = await memoryWith();
  const words =
    "harbour violet kettle meadow lantern copper walnut saddle ribbon thistle anchor marble".split(" ");
  const word = (n: number) => `${words[n % words.length]}${Math.floor(n / words.length) % 300}`;
  for (let from = 0; from < 10_000; from += 1_000) {
    const entries = Array.from({ length: 1_000 }, (_, at) => {
      const n = from + at;
      return entryOf(`fact/${n}`, `The ${word(n)} of ${word(n * 7 + 1)} is beside the ${word(n * 13 + 5)}`);
    });
    await memory.store.putMany(entries);
  }
  let longestMs = 0;
  let last = performance.now();
  const watch = setInterval(() => {
    longestMs = Math.max(longestMs, performance.now() - last);
    last = performance.now();
  }, 1);
  const begun = process.cpuUsage();
  await memory.review("main", {});
  clearInterval(watch);
  const seconds = process.cpuUsage(begun).user / 1_000_000;
  // A comparison of all pairs takes minutes.
  expect(seconds).toBeLessThan(15);
  expect(longestMs).toBeLessThan(1_000);
});
