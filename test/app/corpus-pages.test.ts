/** Corpus pages with and without a query, the list of callers, and the revision. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { OpenMemory } from "../../app/compose.ts";
import type { CorpusAnswer, CorpusQuery } from "../../app/memory.ts";
import { OTHER_LANGUAGE, SEMANTIC_OFF } from "../../app/presenters/words.ts";
import type { Origin } from "../../engine/store/memory-store.ts";
import { namespaceOf } from "../../engine/store/namespace.ts";
import {
  entryOf,
  inTurn,
  NOW,
  openMemoryInProcess,
  openTestMemory,
  openWithClock,
  pagesOf,
  TestClock,
  tempPlace,
} from "./fixtures/memories.ts";

const AT = NOW / 1_000;

function put(memory: OpenMemory, origin: Origin, key: string, category: string, value = "zebrafish") {
  return memory.store.put(entryOf(key, value, { origin, category }));
}

const allPages = (memory: OpenMemory, limit: number) =>
  pagesOf((next) => memory.corpusPage("main", { limit, ...next }));

const docids = (pages: readonly CorpusAnswer[]) =>
  pages.flatMap(({ chunks }) => chunks.map(({ docid }) => docid));

describe("the corpus in pages", () => {
  test("returns every fact and run once, newest first, as QMD chunks", async () => {
    const { clock, memory } = await openWithClock();
    await inTurn(["a", "b", "c", "d", "e"], async (key) => {
      clock.pass(1_000);
      await memory.storeFact("main", { key, value: `value of ${key}`, category: "tools" });
    });
    clock.pass(1_000);
    await memory.recordPackRun("main", { pack: "lint", outcome: "ok", at_unix: AT });
    for (const limit of [1, 2, 5, 6, 100]) {
      const pages = await allPages(memory, limit);
      expect(pages).toHaveLength(Math.ceil(6 / limit));
      const [newest = "", ...facts] = docids(pages);
      expect(newest).toMatch(/^pack_history\/pack_history\/lint\/\d{20}$/);
      expect(facts).toEqual(["tools/e", "tools/d", "tools/c", "tools/b", "tools/a"]);
    }
    const { chunks } = await memory.corpusPage("main", { limit: 2 });
    expect(chunks[1]).toEqual({
      docid: "tools/e",
      path: "helmdeck/tools/e.md",
      title: "e",
      content: "## e\n\nvalue of e\n\n(category: tools)",
      collection: "helmdeck-tools",
      metadata: {
        category: "tools",
        fingerprint: expect.stringMatching(/^[0-9a-f]{16}$/),
        tags: [],
        kind: "fact",
        created_at: "2026-11-20T12:00:05.000Z",
        updated_at: "2026-11-20T12:00:05.000Z",
        expires_at: "2027-02-18T12:00:05.000Z",
      },
    });
  });

  test("misses no entry that is rewritten between its pages", async () => {
    const keys = ["a", "b", "c", "d", "e", "f"];
    const write = fc.record({
      key: fc.constantFrom(...keys, "new1", "new2"),
      /** An import may set earlier dates. */
      minutesAgo: fc.constantFrom(0, 0, 3, 30),
    });
    const meanwhile = fc.array(fc.array(write, { maxLength: 4 }), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(meanwhile, fc.integer({ min: 1, max: 4 }), async (writes, limit) => {
        const clock = new TestClock();
        const memory = await openMemoryInProcess(clock.now);
        const put = (key: string, updatedAt: number) =>
          memory.store.put(entryOf(key, `${updatedAt}`, { createdAt: NOW - 3_600_000, updatedAt }));
        await inTurn(keys, async (key) => {
          clock.pass(60_000);
          await put(key, clock.now());
        });
        const seen = new Map<string, string>();
        let cursor: string | undefined;
        for (const round of [...writes, ...Array<(typeof writes)[number]>(40).fill([])]) {
          const page = await memory.corpusPage("main", { limit, ...(cursor && { cursor }) });
          for (const { docid, content } of page.chunks) seen.set(docid, content);
          cursor = page.nextCursor;
          if (cursor === undefined) break;
          clock.pass(60_000);
          await inTurn(round, ({ key, minutesAgo }) => put(key, clock.now() - minutesAgo * 60_000));
        }
        expect(cursor).toBeUndefined();
        const { facts } = await memory.listFacts("main", {});
        for (const { key, value } of facts) expect(seen.get(`user_facts/${key}`)).toContain(value);
      }),
    );
  });

  test.each([["x"], ["bnVsbA"], ["WyJhIl0"], ["WzEsMl0"], ["WzEsIngiLDNd"]])(
    "refuses the foreign cursor %s",
    async (cursor) => {
      const memory = await openTestMemory();
      await expect(memory.corpusPage("main", { cursor })).rejects.toThrow(
        "cursor is not from an earlier page",
      );
    },
  );

  test("has 20 chunks by default, and fewer when they are large", async () => {
    const memory = await openTestMemory();
    await inTurn(
      Array.from({ length: 30 }, (_, i) => `k${i}`),
      (key) => put(memory, "fact", key, "user_facts"),
    );
    expect((await memory.corpusPage("main", {})).chunks).toHaveLength(20);
    const large = "x".repeat(64 * 1_024);
    await inTurn(
      Array.from({ length: 40 }, (_, i) => `k${i}`),
      (key) => put(memory, "fact", key, "user_facts", large),
    );
    const page = await memory.corpusPage("main", { limit: 100 });
    expect(page.chunks.length).toBeLessThan(40);
    expect(docids(await allPages(memory, 100))).toHaveLength(40);
  });

  test("fault 12: never contains cached answers, plans or notes of packs, by page or by query", async () => {
    const memory = await openTestMemory();
    await put(memory, "cache", "github.list_issues/ab", "cache");
    await put(memory, "cache", "looks like a fact", "user_facts");
    await put(memory, "pack", "swe.solve/ab/notes", "solve");
    await put(memory, "pack", "looks like a fact too", "user_facts");
    await put(memory, "audit", "plan_history/p/1", "plan_history");
    await put(memory, "fact", "real", "user_facts");
    expect(docids(await allPages(memory, 1))).toEqual(["user_facts/real"]);
    expect(docids([await memory.corpusPage("main", { query: "zebrafish" })])).toEqual(["user_facts/real"]);
  });

  test("skips unreadable rows, and reports them", async () => {
    const place = await tempPlace();
    const memory = await openTestMemory(place);
    await put(memory, "fact", "whole", "user_facts");
    await put(memory, "audit", "pack_history/lint/1", "pack_history", "no row");
    expect(await memory.corpusPage("main", {})).toMatchObject({
      chunks: [{ docid: "user_facts/whole" }],
      note: "1 entry could not be read; run doctor for details.",
    });
  });
});

describe("the corpus with a query", () => {
  test("returns the hits of memory_search as whole chunks with score and snippet", async () => {
    const memory = await openTestMemory();
    await memory.storeFact("main", { key: "deploy", value: "We deploy through Konflux" });
    await memory.storeFact("main", { key: "editor", value: "vim, always" });
    const { results } = await memory.search("main", { query: "konflux deployment" });
    const answer = await memory.corpusPage("main", { query: "konflux deployment" });
    expect(answer.mode).toBe("keyword");
    expect(answer.chunks).toHaveLength(1);
    expect(answer.chunks[0]).toMatchObject({
      docid: "user_facts/deploy",
      content: "## deploy\n\nWe deploy through Konflux\n\n(category: user_facts)",
      score: results[0]?.score,
      snippet: results[0]?.snippet,
    });
  });

  test("marks possible hits in metadata and note, and leaves their content unchanged", async () => {
    const memory = await openTestMemory();
    await memory.storeFact("main", { key: "wifi", value: "The wifi at home is called Kolibri" });
    const answer = await memory.corpusPage("main", { query: "password of the wifi upstairs" });
    expect(answer).toMatchObject({
      chunks: [
        {
          content: "## wifi\n\nThe wifi at home is called Kolibri\n\n(category: user_facts)",
          metadata: { category: "user_facts", possible: true },
        },
      ],
      note: "Nothing answers this for certain. These are only possibly related.",
    });
    expect(answer.chunks[0]?.score).toBeLessThan(0.35);
    const sure = await memory.corpusPage("main", { query: "wifi at home" });
    expect(sure.chunks[0]?.metadata).not.toHaveProperty("possible");
    expect(sure.note).toBeUndefined();
  });

  test("without a match reports how much was searched", async () => {
    const memory = await openTestMemory();
    const query = { query: "zeppelin" };
    const none = { facts: 0, auditRows: 0 };
    expect(await memory.corpusPage("main", query)).toEqual({
      chunks: [],
      mode: "keyword",
      note: "Nothing has been stored yet.",
      unmatched: none,
    });
    expect(await memory.corpusPage("main", {})).toEqual({ chunks: [], note: "Nothing has been stored yet." });
    await memory.storeFact("main", { key: "wifi", value: "The wifi at home is called Kolibri" });
    expect(await memory.corpusPage("main", query)).toEqual({
      chunks: [],
      mode: "keyword",
      note: `1 fact, none matched; my-memory lists them. ${SEMANTIC_OFF}`,
      unmatched: { facts: 1, auditRows: 0 },
    });
    const missed = { results: [], mode: "keyword" };
    const one = { facts: 1, auditRows: 0 };
    expect(await memory.search("main", query)).toEqual({ ...missed, unmatched: one, hint: SEMANTIC_OFF });
    const quiet = { query: "wifi password", recall: "quiet" } as const;
    expect(await memory.search("main", quiet)).toEqual({ ...missed, unmatched: one, hint: SEMANTIC_OFF });
    expect(await memory.search("nobody", query)).toEqual({ ...missed, unmatched: none });
    const german = await memory.search("main", { query: "wo liegt der Schlüssel" });
    expect(german.hint).toBe(`${OTHER_LANGUAGE} ${SEMANTIC_OFF}`);
  });

  test("that is blank returns the newest entries, as helmdeck does", async () => {
    const memory = await openTestMemory();
    await put(memory, "fact", "a", "user_facts");
    expect(docids([await memory.corpusPage("main", { query: " " })])).toEqual(["user_facts/a"]);
  });

  test("never returns more than requested", async () => {
    const memory = await openTestMemory();
    await inTurn(["a", "b", "c"], (key) => put(memory, "fact", key, "user_facts"));
    expect((await memory.corpusPage("main", { query: "zebrafish", limit: 2 })).chunks).toHaveLength(2);
    expect((await memory.corpusPage("main", { query: "zebrafish", limit: 100 })).chunks).toHaveLength(3);
  });
});

const REFUSED: readonly (readonly [string, unknown])[] = [
  ["limit", { limit: 0 }],
  ["limit", { limit: 101 }],
  ["limit", { limit: 1.5 }],
  ["limit", { limit: "20" }],
  ["limit", { limit: Number.NaN }],
  ["limit", { limit: null, query: "x" }],
  ["cursor", { cursor: "no cursor" }],
  ["cursor", { cursor: "", query: "x" }],
  ["cursor", { cursor: 7 }],
  ["cursor", { cursor: Buffer.from("[1]").toString("base64url") }],
  ["query", { query: 7 }],
  ["query", { query: ["x"] }],
];

test.each(REFUSED)("a wrong %s is refused: %j", async (field, query) => {
  const memory = await openTestMemory();
  await put(memory, "fact", "a", "user_facts");
  await expect(memory.corpusPage("main", query as CorpusQuery)).rejects.toMatchObject({
    code: "invalid_input",
    details: { field },
  });
});

test("a page's cursor cannot be combined with a query", async () => {
  const memory = await openTestMemory();
  await inTurn(["a", "b"], (key) => put(memory, "fact", key, "user_facts"));
  const { nextCursor = "" } = await memory.corpusPage("main", { limit: 1 });
  await expect(memory.corpusPage("main", { query: "zebrafish", cursor: nextCursor })).rejects.toMatchObject({
    code: "invalid_input",
    details: { field: "cursor" },
  });
});

test("callers are counted with their sessions, under their own names", async () => {
  const memory = await openTestMemory();
  for (const subject of ["zoe", "a:b", "a", "50%", "%3A", "a%3Ab"])
    await memory.storeFact(subject, { key: "k", value: "v" });
  for (const session of ["s:1", "s2"]) {
    const namespace = namespaceOf("a:b", session);
    await memory.store.put(entryOf("n", "v", { namespace, origin: "pack", category: "c" }));
  }
  const counted = async (of?: string) =>
    (await memory.callers(of)).callers.map(({ subject, count }) => [subject, count]);
  const all = [
    ["%3A", 1],
    ["50%", 1],
    ["a", 1],
    ["a%3Ab", 1],
    ["a:b", 3],
    ["zoe", 1],
  ];
  expect(await counted()).toEqual(all);
  expect(await counted("a:b")).toEqual([["a:b", 3]]);
  expect(await counted("a")).toEqual([["a", 1]]);
  expect(await counted("nobody")).toEqual([]);
});

test("the revision increases with facts and runs from any process, but not with another caller's", async () => {
  const place = await tempPlace();
  const memory = await openTestMemory(place);
  const other = await openTestMemory(place);
  const seen = [await memory.revision("main")];
  const after = async (change: Promise<unknown>) => {
    await change;
    seen.push(await memory.revision("main"));
  };
  await after(memory.storeFact("main", { key: "k", value: "v" }));
  await after(other.storeFact("main", { key: "k", value: "w" }));
  await after(other.recordPackRun("main", { pack: "lint", outcome: "ok", at_unix: AT }));
  await after(other.forget("main", { scope: "key:k" }));
  expect(seen).toEqual([...new Set(seen)].sort((a, b) => a - b));
  const last = seen.at(-1);
  await other.storeFact("ben", { key: "k", value: "v" });
  expect(await memory.revision("main")).toBe(last);
});
