/** helmdeck's known faults that users of memory would notice. Their numbers are those of docs/explanation/helmdeck-faults.md. */
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import type { OpenMemory } from "../../app/compose.ts";
import type { OpenMemoryOptions } from "../../app/open-memory-options.ts";
import { forgetPreview } from "../../app/presenters/forget-texts.ts";
import type { StorageLocation } from "../../app/storage-location.ts";
import { importLines } from "../transfer/import-lines.ts";
import { DAY_MS, entryOf, inTurn, NOW, openTestMemory, TestClock, tempPlace } from "./fixtures/memories.ts";

/** Changes the closed database without the store. */
function tamper(place: StorageLocation, sql: string, ...values: readonly unknown[]): void {
  const database = new Database(place.databasePath);
  database.prepare(sql).run(...values);
  database.close();
}

function countRows(place: StorageLocation): number {
  const database = new Database(place.databasePath, { readonly: true });
  const row = database.prepare<[], { n: number }>("SELECT count(*) AS n FROM entries").get();
  database.close();
  return row?.n ?? -1;
}

// verifies P-durable-damage
describe("fault 3: one row that cannot be decrypted makes every list fail", () => {
  async function withBadRow(): Promise<OpenMemory> {
    const place = await tempPlace();
    const memory = await openTestMemory(place);
    await inTurn(["good", "bad", "better"], (key) =>
      memory.storeFact("main", { key, value: `the ${key} harbour` }),
    );
    await memory.close();
    tamper(place, "UPDATE entries SET category = 'moved' WHERE key = 'bad'");
    return openTestMemory(place);
  }

  test("lists show the others, and name the unreadable one", async () => {
    const memory = await withBadRow();
    const page = await memory.listFacts("main", {});
    expect(page.facts.map(({ key }) => key).sort()).toEqual(["better", "good"]);
    expect(page.unreadable).toEqual(["bad"]);
  });

  test("searches find the others", async () => {
    const memory = await withBadRow();
    const { results } = await memory.search("main", { query: "harbour" });
    expect(results.map(({ key }) => key).sort()).toEqual(["better", "good"]);
  });

  test("the row itself is refused with its own code, and can be stored again or forgotten", async () => {
    const memory = await withBadRow();
    await expect(memory.getFact("main", { key: "bad" })).rejects.toMatchObject({ code: "entry_unreadable" });
    await memory.storeFact("main", { key: "bad", value: "mended" });
    expect((await memory.getFact("main", { key: "bad" }))?.value).toBe("mended");
    expect((await memory.forget("main", { scope: "key:bad" })).deleted).toBe(1);
  });

  test.each([
    ["bad", "bad"],
    ["key: bad", "bad"],
    ["helmdeck/moved/bad.md", "helmdeck/moved/bad.md"],
  ])("the preview of forgetting %s says that its value cannot be read", async (scope, name) => {
    const memory = await withBadRow();
    expect(await forgetPreview(memory, "main", scope)).toEqual([`${name} (its value cannot be read)`]);
  });

  test("a row damaged after it was indexed is no longer found", async () => {
    const place = await tempPlace();
    const memory = await openTestMemory(place);
    await memory.storeFact("main", { key: "bad", value: "the harbour" });
    expect((await memory.search("main", { query: "harbour" })).results).toHaveLength(1);
    // The same library in the same process shares SQLite's locks, so this write acts like one of another process.
    tamper(place, "UPDATE entries SET category = 'moved', seq = seq + 1000000 WHERE key = 'bad'");
    tamper(place, "UPDATE store SET newest_seq = newest_seq + 1000000");
    expect((await memory.search("main", { query: "harbour" })).results).toEqual([]);
  });

  test("doctor counts it", async () => {
    const memory = await withBadRow();
    const { findings } = await memory.doctor();
    expect(findings).toContainEqual(
      expect.objectContaining({
        level: "error",
        check: "rows",
        message: expect.stringContaining("1 row cannot be opened"),
      }),
    );
  });
});

describe("fault 4: nothing ever deletes expired rows", () => {
  test("a sweep deletes them permanently, and nothing else", async () => {
    const clock = new TestClock();
    const place = await tempPlace();
    const memory = await openTestMemory({ ...place, now: clock.now });
    await memory.storeFact("main", { key: "short", value: "v", ttlSeconds: 3_600 });
    await memory.storeFact("main", { key: "long", value: "v" });
    await memory.recordPackRun("main", { pack: "p", outcome: "ok", at_unix: NOW / 1_000 });
    clock.pass(31 * DAY_MS);
    expect(await memory.sweep()).toMatchObject({ deleted: 0 });
    expect((await memory.listFacts("main", {})).facts.map(({ key }) => key)).toEqual(["long"]);
    for (let minutes = 0; minutes <= 24 * 60; minutes += 5) {
      clock.pass(5 * 60_000);
      await memory.sweep();
    }
    await memory.close();
    expect(countRows(place)).toBe(2); // the other fact, and how many ended
  });

  /** A timer that runs when the test calls it. */
  function handTimer() {
    const waiting: { run: () => void; delayMs: number }[] = [];
    const timer: NonNullable<OpenMemoryOptions["timer"]> = (run, delayMs) => {
      const entry = { run, delayMs };
      waiting.push(entry);
      return () => waiting.splice(waiting.indexOf(entry), 1);
    };
    return { timer, waiting };
  }

  test("memory sweeps while it is open: soon, then periodically", async () => {
    const clock = new TestClock();
    const { timer, waiting } = handTimer();
    const memory = await openTestMemory({ now: clock.now, timer, sweepEveryMs: 600_000 });
    const { deleteExpired } = memory.store;
    let sweeps = 0;
    memory.store.deleteExpired = () => {
      sweeps += 1;
      return deleteExpired.call(memory.store);
    };
    expect(waiting.map(({ delayMs }) => delayMs)).toEqual([10_000]);
    waiting.shift()?.run();
    await expect.poll(() => waiting.map(({ delayMs }) => delayMs)).toEqual([600_000]);
    await memory.close();
    expect(waiting).toEqual([]);
    expect(sweeps).toBe(1);
  });

  test("a failed sweep is reported by doctor, and retried", async () => {
    const { timer, waiting } = handTimer();
    const memory = await openTestMemory({ timer, sweepEveryMs: 600_000 });
    const { deleteExpired } = memory.store;
    memory.store.deleteExpired = () => Promise.reject(new Error("a text that may hold anything"));
    waiting.shift()?.run();
    await expect.poll(() => waiting.length).toBe(1);
    const { findings } = await memory.doctor();
    const told = findings.find(({ check, level }) => check === "expiry" && level === "warning");
    expect(told?.message).toMatch(/^The last sweep failed: An unexpected error .*\(internal\)$/);
    expect(JSON.stringify(findings)).not.toContain("may hold anything");
    memory.store.deleteExpired = deleteExpired;
    waiting.shift()?.run();
    await expect.poll(() => waiting.length).toBe(1);
    expect((await memory.doctor()).findings.some(({ message }) => message.includes("sweep failed"))).toBe(
      false,
    );
  });
});

describe("fault 5: prefix listing is case-insensitive and accepts wildcards", () => {
  test("a prefix is compared by bytes", async () => {
    const memory = await openTestMemory();
    await inTurn(["team_a", "teamXa", "Team_a"], (key) => memory.storeFact("main", { key, value: "v" }));
    const { facts } = await memory.listFacts("main", { prefix: "team_" });
    expect(facts.map(({ key }) => key)).toEqual(["team_a"]);
  });
});

describe("fault 6: key: deletes by prefix, case-insensitively, over all categories; all keeps the facts; an empty body deletes everything", () => {
  async function filled(): Promise<OpenMemory> {
    const memory = await openTestMemory();
    await inTurn(["deploy", "Deploy", "deploy/eu", "deploy2"], (key) =>
      memory.storeFact("main", { key, value: "v" }),
    );
    await memory.recordPackRun("main", { pack: "deploy", outcome: "ok", at_unix: NOW / 1_000 });
    await memory.store.put(entryOf("deploy", "c", { origin: "cache", category: "cache" }));
    return memory;
  }

  test.each([
    ["key:deploy", 1],
    ["key:deplo", 0],
    ["category:user_facts", 4],
    ["packs", 1],
    ["pack:deploy", 1],
    ["all", 5],
    ["everything", 6],
  ])("%s deletes %i, as its dry run said", async (scope, count) => {
    const memory = await filled();
    expect(await memory.forget("main", { scope, dryRun: true })).toMatchObject({
      scope,
      deleted: count,
      dryRun: true,
    });
    expect(await memory.forget("main", { scope })).toMatchObject({
      scope,
      deleted: count,
      dryRun: false,
      erased: count > 0 ? "complete" : "nothing",
    });
    expect(await memory.forget("main", { scope })).toMatchObject({ deleted: 0, erased: "nothing" });
  });

  test.each(["", "  ", undefined, null, "key:"])(
    "the scope %j is refused and deletes nothing",
    async (scope) => {
      const memory = await filled();
      // @ts-expect-error a host may pass arguments of any type from a model
      await expect(memory.forget("main", { scope })).rejects.toMatchObject({ code: "invalid_input" });
      expect((await memory.forget("main", { scope: "everything", dryRun: true })).deleted).toBe(6);
    },
  );

  test.each(["true", 1, {}])("an invalid dry_run (%j) is refused", async (dryRun) => {
    const memory = await filled();
    // @ts-expect-error a host may pass arguments of any type from a model
    await expect(memory.forget("main", { scope: "all", dryRun })).rejects.toMatchObject({
      code: "invalid_input",
    });
    expect((await memory.forget("main", { scope: "all", dryRun: true })).deleted).toBe(5);
  });

  test("a forgotten entry is missing from every answer", async () => {
    const memory = await filled();
    const [hit] = (await memory.search("main", { query: "deploy eu" })).results;
    expect(hit?.key).toBe("deploy/eu");
    await memory.forget("main", { scope: hit?.path ?? "" });
    expect(
      (await memory.search("main", { query: "deploy eu" })).results.some(({ key }) => key === "deploy/eu"),
    ).toBe(false);
    expect(await memory.readDocument("main", { path: hit?.path ?? "" })).toBeUndefined();
    expect(await memory.getFact("main", { key: "deploy/eu" })).toBeUndefined();
  });
});

describe("fault 7: a fact whose key begins pack_history/ poisons the audit history or the cache", () => {
  test("it is stored as a normal fact, and affects no run", async () => {
    const memory = await openTestMemory();
    await memory.recordPackRun("main", { pack: "lint", outcome: "ok", at_unix: NOW / 1_000 });
    const [runKey = ""] = (await memory.myMemory("main")).categories[0]?.recentKeys ?? [];
    const forged = await memory.storeFact("main", {
      key: runKey,
      value: '{"pack":"lint","outcome":"forged","at_unix":1}',
    });
    expect(forged.replaced).toBeUndefined();
    expect(forged.path).toBe(`helmdeck/user_facts/${runKey}.md`);
    expect(await memory.status("main")).toMatchObject({ subject: { facts: 1, auditRows: 1 } });
    const run = await memory.readDocument("main", { path: `helmdeck/pack_history/${runKey}.md` });
    expect(run?.content).toContain("Outcome: ok");
    expect((await memory.forget("main", { scope: "packs" })).deleted).toBe(1);
    expect(await memory.getFact("main", { key: runKey })).toBeDefined();
  });

  test("a fact with the key of a cached answer affects no cached answer", async () => {
    const memory = await openTestMemory();
    const cached = entryOf("github.list_issues/ab", "answer", { origin: "cache", category: "cache" });
    await memory.store.put(cached);
    await memory.storeFact("main", { key: cached.key, value: "poison" });
    expect(Buffer.from((await memory.store.get(cached))?.value ?? []).toString()).toBe("answer");
  });
});

describe("fault 8: no limit on keys, values, tags, and a huge ttl overflows into the valid range", () => {
  test.each([
    ["storing", async (memory: OpenMemory, fact: object) => memory.storeFact("main", fact as never)],
    ["importing", importing],
  ] as const)("%s applies the same limits", async (_, store) => {
    const memory = await openTestMemory();
    const refused = [
      { key: "x".repeat(513), value: "v" },
      { key: "k", value: "x".repeat(65_537) },
      { key: "k", value: "v", tags: Array.from({ length: 33 }, (_, index) => `t${index}`) },
      { key: "k", value: "v", tags: ["x".repeat(65)] },
      { key: "k", value: "v", ttlSeconds: 18_446_747_673 },
      { key: "k", value: "v", ttlSeconds: 3_599 },
    ];
    for (const fact of refused)
      await expect(store(memory, fact)).rejects.toMatchObject({ code: "invalid_input" });
    expect((await memory.listFacts("main", {})).facts).toEqual([]);
  });

  async function importing(
    memory: OpenMemory,
    { ttlSeconds, ...fact }: { ttlSeconds?: number },
  ): Promise<void> {
    const line = JSON.stringify({ ...fact, ...(ttlSeconds !== undefined && { ttl_seconds: ttlSeconds }) });
    const { refused } = await importLines({
      memory,
      subject: "main",
      input: (async function* () {
        yield Buffer.from(line);
      })(),
    });
    if (refused[0] !== undefined) throw refused[0];
  }
});

describe("fault 12: cache rows show up as facts in my-memory and in the corpus, plan_history as raw JSON", () => {
  test("only facts and runs are listed, counted, found or read", async () => {
    const memory = await openTestMemory();
    await memory.storeFact("main", { key: "deploy", value: "harbour" });
    await memory.store.putMany([
      entryOf("github.list_issues/ab", "harbour", { origin: "cache", category: "cache" }),
      entryOf("posing", "harbour", { origin: "cache" }),
      entryOf("swe.solve/ab/notes", "harbour", { origin: "pack", category: "solve" }),
      entryOf("plan_history/p/1", '{"plan":"harbour"}', { origin: "audit", category: "plan_history" }),
    ]);
    expect((await memory.search("main", { query: "harbour" })).results.map(({ key }) => key)).toEqual([
      "deploy",
    ]);
    expect((await memory.myMemory("main")).categories).toEqual([
      { name: "user_facts", count: 1, recentKeys: ["deploy"] },
    ]);
    expect((await memory.listFacts("main", {})).facts.map(({ key }) => key)).toEqual(["deploy"]);
    for (const path of [
      "cache/github.list_issues/ab",
      "user_facts/posing",
      "solve/swe.solve/ab/notes",
      "plan_history/plan_history/p/1",
    ]) {
      expect(await memory.readDocument("main", { path: `helmdeck/${path}.md` })).toBeUndefined();
    }
  });
});
