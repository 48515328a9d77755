/** What a person was shown is what changes, and a store keeps what it does not name. */
import { describe, expect, test } from "vitest";
import { importTag } from "../../engine/facts/import-tag.ts";
import { DAY_MS, entryOf, NOW, openTestMemory, openWithClock } from "./fixtures/memories.ts";

const CHANGED = { code: "changed_meanwhile" };
const KEY = "deploy/preference";
const WEEK_SECONDS = 7 * 86_400;

// verifies P-condition-judged
describe("a change of a fact that was shown", () => {
  test("is refused, with the present revision, when somebody stored it meanwhile", async () => {
    const memory = await openTestMemory();
    const { revision = 0 } = await memory.storeFact("main", { key: KEY, value: "Konflux" });
    const { revision: now = 0 } = await memory.storeFact("main", { key: KEY, value: "Argo" });
    const refused = { ...CHANGED, details: { revision: now } };
    const again = { key: KEY, value: "Tekton", ifRevision: revision };
    await expect(memory.storeFact("main", again)).rejects.toMatchObject(refused);
    await expect(memory.checkFact("main", again)).rejects.toMatchObject(refused);
    await expect(memory.undoFact("main", { key: KEY, ifRevision: revision })).rejects.toMatchObject(refused);
    await expect(memory.renewFact("main", { key: KEY, ifRevision: revision })).rejects.toMatchObject(refused);
    expect(await memory.getFact("main", { key: KEY })).toMatchObject({ value: "Argo", revision: now });
    await memory.undoFact("main", { key: KEY, ifRevision: now });
    expect(await memory.getFact("main", { key: KEY })).toMatchObject({ value: "Konflux" });
  });

  test("does not bring back a fact that somebody forgot meanwhile", async () => {
    const memory = await openTestMemory();
    const { revision: ifRevision = 0 } = await memory.storeFact("main", { key: KEY, value: "Konflux" });
    await memory.forget("main", { scope: KEY });
    const gone = { ...CHANGED, details: { revision: 0 } };
    await expect(memory.storeFact("main", { key: KEY, value: "Argo", ifRevision })).rejects.toMatchObject(
      gone,
    );
    await expect(memory.undoFact("main", { key: KEY, ifRevision })).rejects.toMatchObject(gone);
    await expect(memory.renewFact("main", { key: KEY, ifRevision })).rejects.toMatchObject(gone);
    expect(await memory.getFact("main", { key: KEY })).toBeUndefined();
  });

  test("as a check foresaw it: neither over a new fact, nor superseding one that changed", async () => {
    const memory = await openTestMemory();
    await memory.storeFact("main", { key: "old", value: "Jenkins" });
    const input = { key: KEY, value: "Konflux", supersedes: ["old"] };
    const { revision: ifRevision = -1, upTo = -1 } = await memory.checkFact("main", input);
    expect(ifRevision).toBe(0);
    await memory.storeFact("main", { key: "old", value: "Jenkins, still" });
    const confirmed = { ...input, ifRevision, upTo };
    await expect(memory.storeFact("main", confirmed)).rejects.toMatchObject(CHANGED);
    const seen = await memory.checkFact("main", input);
    await memory.storeFact("main", { ...confirmed, upTo: seen.upTo ?? -1 });
    await expect(memory.storeFact("main", { ...confirmed, upTo: seen.upTo ?? -1 })).rejects.toMatchObject(
      CHANGED,
    );
    expect((await memory.listFacts("main", {})).facts.map(({ key }) => key)).toEqual([KEY]);
  });
});

// verifies P-condition-judged
describe("a forget of what a dry run counted", () => {
  test("leaves what was stored or changed since, and names it", async () => {
    const memory = await openTestMemory();
    for (const key of ["a", "b", "c"]) await memory.storeFact("main", { key, value: key, category: "team" });
    const { deleted, revision: upTo = 0 } = await memory.forget("main", {
      scope: "category:team",
      dryRun: true,
    });
    expect(deleted).toBe(3);
    await memory.storeFact("main", { key: "b", value: "changed" });
    await memory.storeFact("main", { key: "d", value: "new", category: "team" });
    expect(await memory.forget("main", { scope: "category:team", upTo })).toEqual({
      ...{ scope: "category:team", deleted: 2, dryRun: false, erased: "complete" },
      newer: { count: 2, keys: ["b", "d"] },
    });
    expect((await memory.listFacts("main", {})).facts.map(({ key }) => key).sort()).toEqual(["b", "d"]);
  });

  test("deletes nothing when the shown fact was replaced, and suggests no similar keys", async () => {
    const memory = await openTestMemory();
    await memory.storeFact("main", { key: KEY, value: "Konflux" });
    const { revision: upTo = 0 } = await memory.forget("main", { scope: KEY, dryRun: true });
    await memory.storeFact("main", { key: KEY, value: "Argo" });
    expect(await memory.forget("main", { scope: KEY, upTo })).toEqual({
      ...{ scope: KEY, deleted: 0, dryRun: false, erased: "nothing" },
      newer: { count: 1, keys: [KEY] },
    });
  });

  test("of an import neither restores nor deletes what changed since", async () => {
    const memory = await openTestMemory();
    const tags = [importTag("x-1")];
    for (const key of ["a", "b"]) {
      await memory.store.put(entryOf(key, "own"));
      await memory.store.put(entryOf(key, "imported", { tags }));
    }
    const { revision: upTo = 0 } = await memory.forget("main", { scope: "import:x-1", dryRun: true });
    await memory.renewFact("main", { key: "b", ttlSeconds: WEEK_SECONDS });
    expect(await memory.forget("main", { scope: "import:x-1", upTo })).toMatchObject({
      deleted: 1,
      restored: 1,
      newer: { count: 1, keys: ["b"] },
    });
    expect(await memory.getFact("main", { key: "a" })).toMatchObject({ value: "own" });
    expect(await memory.getFact("main", { key: "b" })).toMatchObject({ value: "imported" });
    expect(await memory.factHistory("main", { key: "a" })).toMatchObject({ former: [] });
  });
});

// verifies P-store-keeps
describe("storing again under a key", () => {
  const given = { category: "preference", tags: ["ci", "team"], ttlSeconds: 365 * 86_400 };
  const kept = { category: "preference", tags: ["ci", "team"], expiresAt: NOW + 365 * DAY_MS };

  test("keeps category, tags and a chosen end that the store does not name", async () => {
    const { clock, memory } = await openWithClock();
    await memory.storeFact("main", { key: KEY, value: "Konflux", ...given });
    clock.pass(30 * DAY_MS);
    const again = { key: KEY, value: "Argo" };
    expect(await memory.checkFact("main", again)).toMatchObject(kept);
    const { tags: _, ...told } = kept;
    expect(await memory.storeFact("main", again)).toMatchObject({
      ...told,
      path: `helmdeck/preference/${KEY}.md`,
    });
    expect(await memory.getFact("main", { key: KEY })).toMatchObject({ ...kept, value: "Argo" });
    // as hosts and models send what is left out
    const blank = { category: "", tags: null as never, ttlSeconds: 0 };
    await memory.storeFact("main", { key: KEY, value: "Tekton", ...blank });
    expect(await memory.getFact("main", { key: KEY })).toMatchObject({ ...kept, value: "Tekton" });
  });

  test("drops and changes what it names", async () => {
    const memory = await openTestMemory();
    await memory.storeFact("main", { key: KEY, value: "Konflux", ...given });
    await memory.storeFact("main", { key: KEY, value: "Argo", category: "user_facts", tags: [] });
    expect(await memory.getFact("main", { key: KEY })).toMatchObject({
      ...kept,
      category: "user_facts",
      tags: [],
    });
    await memory.storeFact("main", { key: KEY, value: "Argo", ttlSeconds: WEEK_SECONDS });
    expect(await memory.getFact("main", { key: KEY })).toMatchObject({ expiresAt: NOW + 7 * DAY_MS });
    await memory.storeFact("main", { key: KEY, value: "Konflux" });
    expect(await memory.getFact("main", { key: KEY })).toMatchObject({ expiresAt: NOW + 7 * DAY_MS });
  });

  test("gives the default life again to a fact that has it, also when it was renewed", async () => {
    const { clock, memory } = await openWithClock();
    await memory.storeFact("main", { key: KEY, value: "Konflux" });
    clock.pass(80 * DAY_MS);
    await memory.storeFact("main", { key: KEY, value: "Argo" });
    expect(await memory.getFact("main", { key: KEY })).toMatchObject({ expiresAt: NOW + 170 * DAY_MS });
    clock.pass(80 * DAY_MS);
    await memory.renewFact("main", { key: KEY });
    clock.pass(80 * DAY_MS);
    await memory.storeFact("main", { key: KEY, value: "Tekton" });
    expect(await memory.getFact("main", { key: KEY })).toMatchObject({ expiresAt: NOW + 330 * DAY_MS });
  });

  test("takes a forgotten or expired fact for a new one", async () => {
    const { clock, memory } = await openWithClock();
    await memory.storeFact("main", { key: KEY, value: "Konflux", ...given, ttlSeconds: 3_600 });
    clock.pass(3_600_000);
    await memory.storeFact("main", { key: KEY, value: "Argo" });
    const anew = { category: "user_facts", tags: [], expiresAt: NOW + 3_600_000 + 90 * DAY_MS };
    expect(await memory.getFact("main", { key: KEY })).toMatchObject(anew);
  });

  test("detaches a fact from its import", async () => {
    const memory = await openTestMemory();
    const imported = { category: "notes", tags: ["ci", importTag("x-1")] };
    await memory.store.put(entryOf(KEY, "Konflux", imported));
    await memory.storeFact("main", { key: KEY, value: "Argo" });
    expect(await memory.getFact("main", { key: KEY })).toMatchObject({ category: "notes", tags: ["ci"] });
  });
});
