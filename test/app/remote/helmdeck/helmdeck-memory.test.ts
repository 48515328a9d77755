/** A running helmdeck as a memory: the same suite for the stand-in and, if HELMDECK_BIN names it, the real helmdeck. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RemoteMemory } from "../../../../app/remote/remote-memory.ts";
import { failureOf } from "../failure-of.ts";
import { helmdeckMemoryOf } from "./helmdeck-memory-of.ts";
import { RealHelmdeck } from "./real-helmdeck.ts";
import { StandInHelmdeck } from "./stand-in-helmdeck.ts";

const BINARY = process.env.HELMDECK_BIN ?? "";
const FACT = { key: "konflux/deployment-preference", value: "Konflux: staging first,\nnever on a Friday." };
const PATH = "helmdeck/user_facts/konflux/deployment-preference.md";

describe.each([
  { by: "a stand-in", start: () => StandInHelmdeck.start(), isLeftOut: false },
  {
    by: "the real one (HELMDECK_BIN names its control-plane; without it this is left out)",
    start: () => RealHelmdeck.start(BINARY),
    isLeftOut: BINARY === "",
  },
])("a memory in helmdeck, $by", ({ start, isLeftOut }) => {
  let helmdeck: StandInHelmdeck | RealHelmdeck;
  let memory: RemoteMemory;
  if (!isLeftOut) {
    beforeAll(async () => {
      helmdeck = await start();
      memory = await helmdeckMemoryOf(helmdeck);
    });
    afterAll(async () => {
      await memory?.close();
      await (helmdeck instanceof RealHelmdeck ? helmdeck.remove() : helmdeck.stop());
    });
  }

  it.skipIf(isLeftOut)(
    "stores, finds, reads and lists, with the value byte for byte and no invented time",
    async () => {
      const stored = await memory.storeFact("main", FACT);
      expect(stored).toMatchObject({ key: FACT.key, category: "user_facts", path: PATH });
      expect(stored.expiresAt).toBeGreaterThan(Date.now() + 89 * 86_400_000);
      const found = await memory.search("main", { query: "what was that about my Konflux deployments" });
      expect(found.results[0]).toMatchObject({ key: FACT.key, path: PATH });
      expect(found.partial).toBeUndefined();
      expect(await memory.getFact("main", { key: FACT.key })).toMatchObject({ ...FACT, tags: [] });
      const read = await memory.readDocument("main", { path: PATH });
      expect(read?.content).toContain("never on a Friday.");
      expect(read?.entry?.createdAt).toBeLessThan(86_400_000);
      expect((await memory.listFacts("main", {})).facts.map(({ key }) => key)).toEqual([FACT.key]);
      const again = await memory.storeFact("main", { ...FACT, value: "Konflux on Fridays." });
      expect(again.replaced).toMatchObject({ refreshed: false });
    },
  );

  it.skipIf(isLeftOut)(
    "accepts unusual categories, skips caches and plans, and finds other writers' facts",
    async () => {
      await memory.search("main", { query: "heron" });
      await storeAs(helmdeck, "main", {
        key: "birds",
        value: "The heron nests in March.",
        category: "Work Stuff",
      });
      await storeAs(helmdeck, "main", { key: "cached", value: "The heron of the cache.", category: "cache" });
      const { results } = await memory.search("main", { query: "when does the heron nest" });
      expect(results.map(({ key, category }) => [key, category])).toEqual([["birds", "work-stuff"]]);
      expect(await memory.getFact("main", { key: "birds" })).toMatchObject({ tags: ["Work Stuff"] });
      expect((await memory.myMemory("main")).categories.map(({ name }) => name)).toContain("work-stuff");
    },
  );

  it.skipIf(isLeftOut)("shows the runs of its packs, with their times", async () => {
    const runner = await helmdeckMemoryOf(helmdeck);
    try {
      await helmdeck.addRun("main", "github.list_issues");
      const { runs } = await runner.listRuns("main", {});
      expect(runs).toHaveLength(1);
      expect(runs[0]).toMatchObject({ kind: "pack", name: "github.list_issues" });
      expect(Math.abs((runs[0]?.at ?? 0) - Date.now())).toBeLessThan(60_000);
    } finally {
      await runner.close();
    }
  });

  // verifies P-alone-subjects
  it.skipIf(isLeftOut)("separates two agents", async () => {
    expect((await memory.search("work", { query: "Konflux heron" })).results).toEqual([]);
    expect(await memory.getFact("work", { key: FACT.key })).toBeUndefined();
    await memory.storeFact("work", { key: "works", value: "The ferry leaves at nine." });
    expect((await memory.search("main", { query: "when does the ferry leave" })).results).toEqual([]);
    expect((await memory.search("work", { query: "when does the ferry leave" })).results[0]?.key).toBe(
      "works",
    );
  });

  it.skipIf(isLeftOut)("refuses to forget a name of two facts", async () => {
    for (const key of ["tea", "key:tea", "user_facts/tea"])
      await memory.storeFact("undecided", { key, value: `about ${key}` });
    for (const scope of ["key:tea", "user_facts/tea"])
      expect(await failureOf(memory.forget("undecided", { scope }))).toMatchObject({
        code: "invalid_input",
        message: expect.stringContaining("matches 2 entries"),
      });
    expect(await memory.forget("undecided", { scope: "key:key:tea" })).toMatchObject({ deleted: 1 });
    expect(await memory.forget("undecided", { scope: "key:tea" })).toMatchObject({ deleted: 1 });
  });

  // verifies P-helmdeck-forget
  it.skipIf(isLeftOut)("forgets one key, and refuses when helmdeck would delete others too", async () => {
    await memory.storeFact("forgetter", FACT);
    for (const key of ["deploy", "Deploy/tool", "deploy/konflux", "a_b", "aXb", "two words here"])
      await memory.storeFact("forgetter", { key, value: `about ${key}` });
    const refused = await failureOf(memory.forget("forgetter", { scope: "key:deploy" }));
    expect(refused.code).toBe("invalid_input");
    expect(refused.message).toContain('"Deploy/tool"');
    expect(refused.message).toContain('"deploy/konflux"');
    expect(await memory.getFact("forgetter", { key: "deploy" })).toBeDefined();
    for (const key of ["a_b", "two words here", "deploy/konflux"]) {
      expect(await memory.forget("forgetter", { scope: `key:${key}`, dryRun: true })).toMatchObject({
        deleted: 1,
        dryRun: true,
      });
      expect(await memory.forget("forgetter", { scope: `key:${key}` })).toMatchObject({ deleted: 1 });
      expect(await memory.getFact("forgetter", { key })).toBeUndefined();
    }
    expect(await memory.getFact("forgetter", { key: "aXb" })).toBeDefined();
    expect(await memory.forget("forgetter", { scope: "key:never was" })).toMatchObject({ deleted: 0 });
    expect((await memory.forget("forgetter", { scope: PATH })).deleted).toBe(1);
  });

  // verifies P-helmdeck-forget
  it.skipIf(isLeftOut)("keeps the records of runs when a fact's key is a prefix of theirs", async () => {
    await helmdeck.addRun("runner", "github.list_issues");
    for (const key of ["pack", "Pack_history/github"]) {
      await memory.storeFact("runner", { key, value: `about ${key}` });
      expect(await failureOf(memory.forget("runner", { scope: `key:${key}` }))).toMatchObject({
        code: "invalid_input",
        message: expect.stringContaining("every record under pack_history/"),
      });
    }
    const fresh = await helmdeckMemoryOf(helmdeck);
    expect((await fresh.listRuns("runner", {})).runs.length).toBeGreaterThan(0);
    await fresh.close();
    expect(await memory.forget("runner", { scope: "pack:github.list_issues", dryRun: true })).toMatchObject({
      deleted: 1,
    });
    expect(await memory.forget("runner", { scope: "pack:github.list_issues" })).toMatchObject({ deleted: 1 });
  });

  const aXb = { ...FACT, supersedes: ["aXb"] };
  const run = { pack: "p", outcome: "ok", at_unix: 1 } as const;
  it.skipIf(isLeftOut).each<[string, (one: RemoteMemory) => Promise<unknown>, string]>([
    ["history", (one) => one.factHistory("main", { key: "x" }), "keeps no history"],
    ["undo", (one) => one.undoFact("main", { key: "x" }), "keeps no history"],
    ["renewal", (one) => one.renewFact("main", { key: "x" }), "cannot renew"],
    ["growth", (one) => one.growth("main"), "does not say when"],
    ["superseding", (one) => one.storeFact("main", aXb), "cannot supersede"],
    [
      "forgetting a category",
      (one) => one.forget("main", { scope: "category:work" }),
      "cannot forget a category",
    ],
    ["forgetting all", (one) => one.forget("main", { scope: "all" }), "its own scope all keeps them"],
    ["tags", (one) => one.listFacts("main", { tag: "x" }), "does not return tags"],
    ["recording a run", (one) => one.recordPackRun("main", run), "records the runs of its packs itself"],
  ])("refuses %s with a clear message", async (_what, ask, sentence) => {
    expect(await failureOf(ask(memory))).toMatchObject({
      code: "method_not_allowed",
      message: expect.stringContaining(sentence),
    });
  });

  it.skipIf(isLeftOut)("reports the owner, the number of known entries and their age", async () => {
    const status = await memory.status("main");
    expect(status).toMatchObject({
      state: "ready",
      engine: { kind: "helmdeck", url: helmdeck.url, held: { isWhole: true } },
      subject: { name: "main" },
    });
    expect((await memory.myMemory("main")).note).toMatch(
      /all \d+ rows that helmdeck shows, read less than a minute ago/,
    );
    const document = await memory.readDocument("main", { path: "helmdeck/my-memory.md" });
    expect(document?.content).toContain("rows that helmdeck shows, read less than a minute ago");
    const { findings } = await memory.doctor();
    expect(findings.map(({ message }) => message).join("\n")).toContain(
      "has the memory of main at helmdeck, until ",
    );
  });

  it.skipIf(isLeftOut)(
    "finds rows with the question's words beyond those that helmdeck lists, and reports how much was searched",
    async () => {
      const many = await helmdeckMemoryOf(helmdeck);
      try {
        await many.storeFact("big", { key: "old", value: "The zeppelin hangar is at Löwental." });
        for (let at = 0; at < 130; at += 1)
          await storeAs(helmdeck, "big", { key: `note/${at}`, value: `An ordinary note, number ${at}.` });
        const fresh = await helmdeckMemoryOf(helmdeck);
        const found = await fresh.search("big", { query: "where is the zeppelin's hangar" });
        expect(found.results[0]?.key).toBe("old");
        expect(found.reason).toMatch(/Searched: \d+ of 131 rows, read less than a minute ago/);
        expect(found.partial).toBe(true);
        expect((await fresh.getFact("big", { key: "old" }))?.value).toContain("Löwental");
        const refused = await failureOf(fresh.forget("big", { scope: "key:note" }));
        expect(refused.message).toContain("at most a hundred rows");
        expect((await fresh.getFact("big", { key: "note/129" }))?.key).toBe("note/129");
        await fresh.close();
      } finally {
        await many.close();
      }
    },
  );
});

async function storeAs(
  helmdeck: StandInHelmdeck | RealHelmdeck,
  sub: string,
  fact: { readonly key: string; readonly value: string; readonly category?: string },
): Promise<void> {
  if (helmdeck instanceof StandInHelmdeck) helmdeck.put(sub, fact.key, fact.value, fact.category);
  else await helmdeck.post(sub, "/api/v1/memory/store", fact);
}
