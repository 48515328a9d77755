/** The packs for memory: helmdeck's shapes over the use cases, only for their own caller, and without records in the history. */
import { describe, expect, it } from "vitest";
import { memoryPack } from "../../../packs/shipped/memory-packs.ts";
import { NOW } from "../../app/fixtures/memories.ts";
import { openPackRig } from "../engine/rig.ts";

const NINETY_DAYS_MS = 7_776_000_000;

async function rig() {
  const packRig = await openPackRig([]);
  const { memory } = packRig;
  const engine = packRig.another([
    memoryPack("store", memory),
    memoryPack("forget", memory),
    memoryPack("corpus", memory),
  ]);
  const run = async (pack: string, input: unknown, caller = "ana") =>
    (await engine.run({ pack: `helmdeck.${pack}`, input, caller, authenticated: false })).output;
  return { packRig, memory, engine, run };
}

describe("helmdeck.memory_store", () => {
  it("stores a fact and answers in helmdeck's format", async () => {
    const { run, memory } = await rig();
    const input = { key: " deploy ", value: "via Konflux", tags: ["ci"], ttl_seconds: 0 };
    expect(await run("memory_store", input)).toEqual({
      key: "deploy",
      category: "user_facts",
      expires_at: new Date(NOW + NINETY_DAYS_MS).toISOString(),
      revision: 1,
      path: "helmdeck/user_facts/deploy.md",
    });
    expect(await memory.getFact("ana", { key: "deploy" })).toMatchObject({
      value: "via Konflux",
      tags: ["ci"],
    });
    expect(await memory.getFact("ben", { key: "deploy" })).toBeUndefined();
  });

  it("reports what it replaced", async () => {
    const { run, packRig } = await rig();
    await run("memory_store", { key: "k", value: "old" });
    packRig.clock.pass(1_000);
    expect(await run("memory_store", { key: "k", value: "new" })).toMatchObject({
      replaced: { updated_at: new Date(NOW).toISOString(), refreshed: false },
    });
  });

  it("treats null in an optional field as absent", async () => {
    const { run } = await rig();
    const input = { key: "k", value: "v", category: null, tags: null, ttl_seconds: null };
    expect(await run("memory_store", input)).toMatchObject({ category: "user_facts" });
  });

  it.each([
    {},
    { key: "k" },
    { key: "k", value: 1 },
    { key: "", value: "v" },
    { key: "k", value: "v", category: "pack_history" },
    { key: "k", value: "v", ttl_seconds: 59 },
    { key: "k", value: "v", ttl_seconds: 1e30 },
    { key: "k", value: "v", ttlSeconds: 7_200 },
    { key: "x".repeat(513), value: "v" },
    { key: "k", value: "x".repeat(65_537) },
  ])("refuses %j", async (input) => {
    const { run, memory } = await rig();
    await expect(run("memory_store", input)).rejects.toMatchObject({ code: "invalid_input" });
    expect((await memory.listFacts("ana", {})).facts).toEqual([]);
  });
});

describe("helmdeck.memory_forget", () => {
  it("counts in a dry run, then deletes, for its own caller only", async () => {
    const { run, memory } = await rig();
    for (const caller of ["ana", "ben"]) await run("memory_store", { key: "k", value: "v" }, caller);
    expect(await run("memory_forget", { scope: "key:k", dry_run: true })).toMatchObject({
      scope: "key:k",
      deleted: 1,
      dry_run: true,
    });
    expect(await memory.getFact("ana", { key: "k" })).toBeDefined();
    expect(await run("memory_forget", { scope: "key:k" })).toEqual({
      scope: "key:k",
      deleted: 1,
      dry_run: false,
      erased: "complete",
    });
    expect(await memory.getFact("ana", { key: "k" })).toBeUndefined();
    expect(await memory.getFact("ben", { key: "k" })).toBeDefined();
  });

  it.each([{}, { scope: "" }, { scope: "all", dryRun: true }, { scope: "all", dry_run: "yes" }])(
    "deletes nothing for %j",
    async (input) => {
      const { run, memory } = await rig();
      await run("memory_store", { key: "k", value: "v" });
      await expect(run("memory_forget", input)).rejects.toMatchObject({ code: "invalid_input" });
      expect(await memory.getFact("ana", { key: "k" })).toBeDefined();
    },
  );
});

describe("helmdeck.memory_corpus", () => {
  it("returns the best results for a query, or everything in pages", async () => {
    const { run, packRig } = await rig();
    await run("memory_store", { key: "deploy", value: "Deploys go through Konflux." });
    packRig.clock.pass(1_000);
    await run("memory_store", { key: "coffee", value: "Black, no sugar." });
    expect(await run("memory_corpus", { query: "deploying" })).toMatchObject({
      chunks: [{ docid: "user_facts/deploy", content: expect.stringContaining("Konflux") }],
      mode: "keyword",
    });
    expect(await run("memory_corpus", { query: "how much sugar does the bakery need" })).toMatchObject({
      chunks: [{ docid: "user_facts/coffee", metadata: { possible: true } }],
      note: "Nothing answers this for certain. These are only possibly related.",
    });
    const first = await run("memory_corpus", { limit: 1 });
    expect(first).toMatchObject({
      chunks: [{ docid: "user_facts/coffee" }],
      next_cursor: expect.any(String),
    });
    const { next_cursor: cursor } = first as { next_cursor: string }; // checked above
    expect(await run("memory_corpus", { limit: 1, cursor })).toMatchObject({
      chunks: [{ docid: "user_facts/deploy" }],
    });
    expect(await run("memory_corpus", {}, "ben")).toEqual({
      chunks: [],
      note: "Nothing has been stored yet.",
    });
  });

  it.each([{ limit: 0 }, { limit: 101 }, { limit: "5" }, { query: 1 }])("refuses %j", async (input) => {
    const { run } = await rig();
    await expect(run("memory_corpus", input)).rejects.toMatchObject({ code: "invalid_input" });
  });
});

describe("all three", () => {
  it("leave no audit row, whether they succeed or not", async () => {
    const { run, packRig } = await rig();
    await run("memory_store", { key: "k", value: "v" });
    await run("memory_corpus", {});
    await run("memory_forget", { scope: "key:k" });
    await run("memory_forget", { scope: "" }).catch(() => {});
    expect(await packRig.entries("audit")).toEqual([]);
  });

  it("describe in their schemas what memory is for, and what it is not for", async () => {
    const { engine } = await rig();
    const store = engine.list().find(({ name }) => name === "helmdeck.memory_store");
    expect(store?.description).toMatch(/Not for passwords, tokens/);
    for (const { inputSchema } of engine.list()) {
      const fields = Object.values(inputSchema.properties as Record<string, { description?: string }>);
      for (const { description } of fields) expect(description).toBeTruthy();
    }
  });
});
