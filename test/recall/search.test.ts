/** Which words match, how hits are ordered, and how they are shown. */
import { describe, expect, test } from "vitest";
import { WEIGHTS } from "../../recall/weights.ts";
import { hitsOf, keysOf, NOW, OWNER, recallOf, WritableSource } from "./corpus.ts";

describe("fields", () => {
  test("the words of a key find its fact", async () => {
    const facts = [
      { key: "projects/atlas/deploy", value: "Only on Tuesdays." },
      { key: "projects/atlas/owners", value: "The platform team." },
    ];
    expect(await keysOf(facts, "atlas deploy")).toEqual(["projects/atlas/deploy"]);
  });

  test("a tag finds its fact", async () => {
    const facts = [
      { key: "a", value: "Twice a week.", tags: ["physiotherapy"] },
      { key: "b", value: "Twice a month." },
    ];
    expect(await keysOf(facts, "physiotherapy")).toEqual(["a"]);
  });

  test("an exact key comes first, before a fact that only mentions it", async () => {
    const facts = [
      {
        key: "notes/meeting",
        value: "We talked about runbooks/failover and runbooks/failover again: runbooks failover.",
      },
      { key: "runbooks/failover", value: "Promote the replica." },
    ];
    const [first] = await hitsOf(facts, "runbooks/failover");
    expect(first?.key).toBe("runbooks/failover");
    expect(first?.score).toBeGreaterThanOrEqual(0.85);
  });

  test("a month in the question finds facts from that month", async () => {
    const at = (month: number) => ({ createdAt: Date.UTC(2025, month - 1, 9) });
    const facts = [
      { key: "notes/spring", value: "The lighthouse was painted.", ...at(4) },
      { key: "notes/summer", value: "The lighthouse was repaired.", ...at(7) },
      { key: "notes/autumn", value: "The lighthouse was closed.", ...at(10) },
      { key: "notes/winter", value: "The lighthouse was lit.", ...at(12) },
    ];
    expect((await keysOf(facts, "What about the lighthouse in July 2025?"))[0]).toBe("notes/summer");
  });
});

test("US in capitals is a name, not the common word us", async () => {
  const facts = [
    { key: "eu", value: "Data retention in the EU is 13 months." },
    { key: "us", value: "Data retention in the US is 24 months." },
  ];
  expect((await keysOf(facts, "US data retention"))[0]).toBe("us");
  expect((await keysOf(facts, "EU data retention"))[0]).toBe("eu");
});

describe("order", () => {
  test("adjacent words rank before the same words apart", async () => {
    const facts = [
      { key: "apart", value: "The blue van needs a new pump, and the paint of the door is green." },
      { key: "together", value: "The green pump of the van needs paint, and the door is blue." },
    ];
    expect((await keysOf(facts, "green pump"))[0]).toBe("together");
  });

  test("of equal facts the newest first, then by path", async () => {
    const facts = [
      { key: "c", value: "The same words.", updatedAt: NOW - 5_000 },
      { key: "b", value: "The same words.", updatedAt: NOW - 9_000 },
      { key: "a", value: "The same words.", updatedAt: NOW - 9_000 },
    ];
    expect(await keysOf(facts, "same words")).toEqual(["c", "a", "b"]);
  });

  test("the order does not depend on the order of arrival", async () => {
    const facts = Array.from({ length: 40 }, (_, number) => ({
      key: `topic/${number}`,
      value: `The ${number % 3 === 0 ? "copper" : "silver"} lamp number ${number % 7} is in room ${number % 5}.`,
    }));
    const orders = await Promise.all(
      [facts, facts.toReversed()].map((some) => keysOf(some, "copper lamp in room 3")),
    );
    expect(orders[0]).toEqual(orders[1]);
    expect(orders[0]?.length).toBeGreaterThan(0);
  });

  test("a near-duplicate that lacks one word comes second and scores below one half", async () => {
    const facts = [
      { key: "db/staging", value: "The staging database of Atlas listens on port 5433." },
      { key: "db/production", value: "The production database of Atlas listens on port 6432." },
    ];
    const hits = await hitsOf(facts, "Which port does the staging database of Atlas listen on?");
    expect(hits[0]?.key).toBe("db/staging");
    expect(hits[0]?.score).toBeGreaterThanOrEqual(0.85);
    for (const hit of hits.slice(1)) expect(hit.score).toBeLessThan(0.5);
  });
});

describe("helmdeck fault 13: a phrase scores below its words, short words cost, each query decrypts everything", () => {
  const facts = [
    { key: "phrase", value: "We keep the blue green switch for releases." },
    { key: "words", value: "The switch is green and, for releases, the light is blue." },
  ];

  test("a phrase match does not score below an all-words match", async () => {
    const hits = await hitsOf(facts, "blue green switch");
    const scoreOf = (key: string) => hits.find((hit) => hit.key === key)?.score ?? 0;
    expect(scoreOf("words")).toBeGreaterThan(0.5);
    expect(scoreOf("phrase")).toBeGreaterThanOrEqual(scoreOf("words"));
  });

  test("short words do not lower the score", async () => {
    const [bare] = await hitsOf(facts, "blue green switch releases");
    const [wordy] = await hitsOf(facts, "is it the blue green switch we do for releases or a no?");
    expect(wordy?.key).toBe(bare?.key);
    expect(wordy?.score).toBeGreaterThanOrEqual((bare?.score ?? 1) - 0.03);
  });

  test("a query reads only changes from the source", async () => {
    const source = new WritableSource(
      Array.from({ length: 200 }, (_, n) => ({ key: `k${n}`, value: `value ${n}` })),
    );
    const recall = recallOf(source);
    await recall.warm(OWNER);
    const read = source.rowsRead;
    for (let query = 0; query < 20; query += 1) await recall.search(OWNER, { query: `value ${query}` });
    expect(source.rowsRead).toBe(read);
    source.put({ key: "k200", value: "value 200" });
    await recall.search(OWNER, { query: "value 200" });
    expect(source.rowsRead).toBe(read + 1);
  });
});

describe("noise", () => {
  const facts = [
    { key: "people/hana", value: "Hana mentors me on Thursdays." },
    { key: "db/port", value: "The Atlas staging database listens on port 5433." },
    { key: "home/wifi", value: "The guest network is called pinecrest." },
    { key: "health/allergy", value: "I am allergic to peanuts." },
  ];

  test.each([
    "Which port does the Borealis staging database listen on?",
    "Where did Hana go to school?",
    "Am I allergic to penicillin?",
    "What is the network of the cabin in the mountains called?",
    "the of and",
    "What is this about?",
    "???",
    "",
    "   ",
  ])("%s finds nothing", async (query) => {
    expect(await keysOf(facts, query)).toEqual([]);
  });

  test("a question about one of two things with the same name finds only that one", async () => {
    expect(await keysOf(facts, "peanuts")).toEqual(["health/allergy"]);
  });
});

describe("a name without a capital", () => {
  test.each([
    ["The mail server is called heron.", "what is the mail server called"],
    ["The name of the mail server is heron.", "what is the name of the mail server"],
  ])("%s", async (value, query) => {
    const [hit] = await hitsOf(
      [
        { key: "mail/host", value },
        { key: "b", value: "The kayak is red." },
      ],
      query,
    );
    expect([hit?.key, hit?.possible]).toEqual(["mail/host", undefined]);
  });

  test.each(["The mail server restarts at night.", "The name tag of the mail server fell off."])(
    "%s does not say how it is called",
    async (value) => {
      const hits = await hitsOf([{ key: "mail", value }], "what is the mail server called");
      expect(hits.filter(({ possible }) => possible !== true)).toEqual([]);
    },
  );
});

describe("a hit", () => {
  test("shows a short fact completely, with its lines", async () => {
    const [hit] = await hitsOf(
      [{ key: "home/bins", value: "Paper on Monday.\nGlass on Friday." }],
      "paper monday",
    );
    expect(hit?.snippet).toBe("Paper on Monday.\nGlass on Friday.");
    expect([hit?.startLine, hit?.endLine]).toEqual([3, 4]);
    expect(hit?.path).toBe("helmdeck/user_facts/home/bins.md");
    expect(hit?.docid).toBe("user_facts/home/bins");
  });

  test("is explained only on request", async () => {
    const recall = recallOf(new WritableSource([{ key: "a", value: "paper on monday" }]));
    const [plain] = (await recall.search(OWNER, { query: "paper monday" })).results;
    const [explained] = (await recall.search(OWNER, { query: "paper monday", explain: true })).results;
    expect(plain).not.toHaveProperty("parts");
    expect(explained?.parts?.nearness?.value).toBeCloseTo(WEIGHTS.meaning.ofAllWords);
    expect({ ...explained, parts: undefined }).toEqual({ ...plain, parts: undefined });
  });

  test.each([
    [0, 1],
    [-4, 1],
    [3, 3],
    [1_000, 50],
  ])("limit %d gives %d hits of eighty", async (limit, expected) => {
    const facts = Array.from({ length: 80 }, (_, number) => ({
      key: `lamp/${number}`,
      value: "The lamp is lit.",
    }));
    expect((await hitsOf(facts, "lamp lit", limit)).length).toBe(expected);
  });
});
