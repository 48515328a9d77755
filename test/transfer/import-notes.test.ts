/**
 * Importing notes, importing them again, and forgetting imports: people's own changes remain, other facts follow their source.
 */
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import type { OpenMemory } from "../../app/compose.ts";
import { isWideForget } from "../../app/forgetting.ts";
import { namespaceOf } from "../../engine/store/namespace.ts";
import { DAY_MS, NOW, openTestMemory, TestClock, tempPlace } from "../app/fixtures/memories.ts";
import { factsOf, importNotes, SAMPLES, sample, textFile } from "./notes.ts";

const MD = "## Deploys\n\n- Tool: Konflux\n- Day: Monday\n";
const TOOL = "notes/notes/deploys/tool";
const HOST = "notes/notes/deploys/host";
const DAY = "notes/notes/deploys/day";

const importText = (memory: OpenMemory, text: string, options = {}) =>
  importNotes(memory, "markdown", [textFile(text)], options);
const forget = (memory: OpenMemory, id: string | undefined, dryRun = false) =>
  memory.forget("main", { scope: `import:${id}`, dryRun });
const sealedIn = (path: string): readonly Buffer[] => {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    return ["entries", "history", "vectors"]
      .flatMap((table) => database.prepare(`SELECT sealed FROM ${table}`).all())
      .map(({ sealed }) => Buffer.from(sealed as Uint8Array)); // a column of bytes
  } finally {
    database.close();
  }
};

describe("a second import", () => {
  test("of the same file adds nothing, keeps tags and times, and renews lives", async () => {
    const clock = new TestClock();
    const memory = await openTestMemory({ now: clock.now });
    const first = await importText(memory, MD);
    const before = await memory.getFact("main", { key: TOOL });
    clock.pass(DAY_MS);
    const second = await importText(memory, MD);
    expect(second).toMatchObject({ stored: 0, replaced: 0, refreshed: 2, kept: 0 });
    expect(second.importId).toBeUndefined();
    expect(await memory.getFact("main", { key: TOOL })).toEqual({
      ...before,
      expiresAt: (before?.expiresAt ?? 0) + DAY_MS,
      revision: expect.any(Number),
    });
    expect(before?.tags).toEqual([`import:${first.importId}`]);
    expect(await memory.factHistory("main", { key: TOOL })).toMatchObject({ former: [] });
  });

  test("of an edited file replaces edited notes, also when they are edited back, and keeps removed ones", async () => {
    const memory = await openTestMemory();
    await importText(memory, MD);
    const edited = MD.replace("Konflux", "Argo").replace("- Day: Monday\n", "");
    expect(await importText(memory, edited, { dryRun: true })).toMatchObject({
      replaced: 1,
      refreshed: 0,
      foreseen: { gone: 1, first: [{ key: TOOL, value: "Tool: Argo", outcome: "replaced" }] },
    });
    expect(await importText(memory, edited)).toMatchObject({ replaced: 1 });
    expect(await factsOf(memory)).toEqual({ [DAY]: "Day: Monday", [TOOL]: "Tool: Argo" });
    expect(await importText(memory, MD)).toMatchObject({ replaced: 1, refreshed: 1 });
    expect(await factsOf(memory)).toEqual({ [DAY]: "Day: Monday", [TOOL]: "Tool: Konflux" });
  });

  test("does not overwrite a person's later writes, unless they request it", async () => {
    const memory = await openTestMemory();
    await importText(memory, MD);
    await memory.storeFact("main", { key: TOOL, value: "Tool: by hand" });
    expect(await importText(memory, MD)).toMatchObject({ kept: 1, refreshed: 1, replaced: 0 });
    expect((await factsOf(memory))[TOOL]).toBe("Tool: by hand");
    expect(await importText(memory, MD, { onConflict: "replace" })).toMatchObject({ replaced: 1 });
    expect((await factsOf(memory))[TOOL]).toBe("Tool: Konflux");
    expect(await importText(memory, MD.replace("Konflux", "Argo"), { onConflict: "keep" })).toMatchObject({
      kept: 1,
    });
  });

  test("keeps the category that a fact has, unless one is asked for", async () => {
    const memory = await openTestMemory();
    const categories = async () => {
      const { facts } = await memory.listFacts("main", {});
      return facts.map(({ category }) => category);
    };
    await importText(memory, MD, { category: "team" });
    expect(await categories()).toEqual(["team", "team"]);
    await importText(memory, MD);
    await importText(memory, MD.replace("Konflux", "Argo"));
    expect((await factsOf(memory))[TOOL]).toBe("Tool: Argo");
    expect(await categories()).toEqual(["team", "team"]);
    expect(await importText(memory, MD, { category: "rules" })).toMatchObject({ replaced: 1, refreshed: 1 });
    expect(await categories()).toEqual(["rules", "rules"]);
    await importText(memory, `---\ncategory: work\n---\n${MD.replace("Konflux", "Argo")}`);
    expect((await categories()).sort()).toEqual(["rules", "work"]);
  });

  test.each(["Not One", "tool_history"])("into the category %j is refused", async (category) => {
    const memory = await openTestMemory();
    await expect(importText(memory, MD, { category })).rejects.toThrow(/^category /);
    expect(await factsOf(memory)).toEqual({});
  });

  test("does not restore a fact that another has superseded since", async () => {
    const memory = await openTestMemory();
    await importText(memory, MD);
    await memory.storeFact("main", { key: "deploy/tool", value: "Argo", supersedes: [TOOL] });
    expect(await importText(memory, MD)).toMatchObject({ retired: 1, refreshed: 1, stored: 0 });
    expect(Object.keys(await factsOf(memory))).toEqual(["deploy/tool", DAY]);
  });

  test("of dated notes keeps the newer one", async () => {
    const memory = await openTestMemory();
    const daily = (text: string) => textFile(text, "memory/2026-11-18.md");
    await importNotes(memory, "openclaw", [daily("- Cache: here")]);
    expect(await importNotes(memory, "openclaw", [daily("- Cache: there")])).toMatchObject({ replaced: 1 });
    await memory.storeFact("main", { key: "daily/2026-11-18/cache", value: "by hand" });
    expect(await importNotes(memory, "openclaw", [daily("- Cache: elsewhere")])).toMatchObject({ kept: 1 });
  });
});

describe("an import", () => {
  test("refuses secrets, look-alike keys and too long values by file and line, and never quotes a value", async () => {
    const memory = await openTestMemory();
    await memory.storeFact("main", { key: "notes/notes/deploy", value: "v" });
    const token = `ghp_${"a1B2c3D4e5".repeat(4).slice(0, 36)}`;
    const text = `- plain\n- token: ${token}\n- dеploy\n- Long: ${"hunter2 ".repeat(9_000)}\n`;
    const { refused, stored } = await importText(memory, text);
    expect(stored).toBe(1);
    expect(refused.map(({ file, line, code }) => [file, line, code])).toEqual([
      ["notes/notes.md", 2, "secret_refused"],
      ["notes/notes.md", 3, "invalid_input"],
      ["notes/notes.md", 4, "invalid_input"],
    ]);
    expect(JSON.stringify(refused)).not.toMatch(/hunter2|ghp_/);
    expect(await importText(memory, text, { allowSecrets: true })).toMatchObject({
      stored: 1,
      refusedCount: 2,
    });
  });

  test("as a dry run counts the changes, shows the first ten, names the expiry, and writes nothing", async () => {
    const memory = await openTestMemory();
    const text = Array.from({ length: 12 }, (_none, index) => `- item ${index}\n`).join("");
    const revision = await memory.revision("main");
    const result = await importText(memory, text, { dryRun: true, ttlSeconds: 7_200 });
    expect(result).toMatchObject({ stored: 12, foreseen: { gone: 0, endsAt: NOW + 7_200_000 } });
    expect(result.foreseen?.first).toHaveLength(10);
    expect([await factsOf(memory), await memory.revision("main")]).toEqual([{}, revision]);
    await importText(memory, text, { ttlSeconds: 7_200 });
    expect((await memory.getFact("main", { key: "notes/notes/item-3" }))?.expiresAt).toBe(NOW + 7_200_000);
  });

  test("reads at most the size limit of a file", async () => {
    const memory = await openTestMemory();
    let read = 0;
    const endless = {
      name: "endless.md",
      open: async function* () {
        for (;;) {
          read += 1;
          yield Buffer.alloc(1_024 * 1_024, "a ");
        }
      },
    };
    await expect(importNotes(memory, "markdown", [endless])).rejects.toThrow(
      "endless.md is larger than the limit of 4 MiB",
    );
    expect(read).toBeLessThan(12);
  });

  test("that exceeds the quota explains how to continue, and how to undo the imported part", async () => {
    const memory = await openTestMemory({ env: { HELMDECK_MEMORY_MAX_ENTRIES: "300" } });
    const text = Array.from({ length: 600 }, (_none, index) => `- Item ${index}: x\n`).join("");
    const importing = importText(memory, text, { importId: "notes-1" });
    await expect(importing).rejects.toMatchObject({
      code: "quota_exceeded",
      message: expect.stringMatching(
        /Imported: 250\. Not imported, as far as is known: 350\. Import the same files again to continue\. .* forget import:notes-1\.$/,
      ),
    });
    expect(await forget(memory, "notes-1")).toMatchObject({ deleted: 250 });
    expect(await factsOf(memory)).toEqual({});
  });

  test("with an invalid ttl is refused once, before anything is read", async () => {
    const memory = await openTestMemory();
    await expect(importText(memory, MD, { ttlSeconds: 60 })).rejects.toThrow("ttl_seconds must be");
  });

  test("is not listed by a tag in a file that names no import", async () => {
    const memory = await openTestMemory();
    const line = JSON.stringify({ key: "a", value: "v", tags: ["import:", "import:A B", "import:notes-1"] });
    await importNotes(memory, "jsonl", [textFile(line, "facts.jsonl")]);
    expect(await memory.imports("main")).toEqual([{ id: "notes-1", facts: 1, former: 0 }]);
  });

  test("is listed until all of its facts are gone", async () => {
    const memory = await openTestMemory();
    const { importId: id } = await importText(memory, MD);
    await importNotes(memory, "mem0", SAMPLES.mem0.map(sample), { subject: "work" });
    await memory.storeFact("main", { key: TOOL, value: "by hand" });
    expect(await memory.imports("main")).toEqual([{ id, facts: 1, former: 1 }]);
    await forget(memory, id);
    expect(await memory.imports("main")).toEqual([]);
  });
});

describe("forgetting an import", () => {
  test("deletes the imported facts, restores the replaced ones, and keeps a person's later writes", async () => {
    const memory = await openTestMemory();
    await memory.storeFact("main", { key: TOOL, value: "Tool: Argo", tags: ["own"] });
    await memory.storeFact("main", { key: HOST, value: "Host: first" });
    const { importId } = await importText(memory, `${MD}- Host: runner\n`);
    await memory.storeFact("main", { key: HOST, value: "Host: another" });
    const counted = { deleted: 2, restored: 1, former: 1 };
    expect(await forget(memory, importId, true)).toMatchObject({ ...counted, dryRun: true });
    expect(await forget(memory, importId)).toMatchObject({ ...counted, erased: "complete" });
    expect(await factsOf(memory)).toEqual({
      [TOOL]: "Tool: Argo",
      [HOST]: "Host: another",
    });
    expect((await memory.getFact("main", { key: TOOL }))?.tags).toEqual(["own"]);
    expect(await memory.factHistory("main", { key: TOOL })).toMatchObject({ former: [] });
    const { former = [] } = (await memory.factHistory("main", { key: HOST })) ?? {};
    expect(former.map(({ value }) => value)).toEqual(["Host: first"]);
    expect(await forget(memory, importId)).toMatchObject({ deleted: 0, erased: "nothing" });
  });

  test("keeps other imports, other facts with similar tags, and another subject's import of the same id", async () => {
    const memory = await openTestMemory();
    const { importId = "" } = await importText(memory, MD);
    await importText(memory, MD, { importId, subject: "work" });
    await importText(memory, "- Other: note\n");
    await memory.storeFact("main", { key: "mine", value: "v", tags: [`x-import:${importId}`, ","] });
    await forget(memory, importId);
    expect(Object.keys(await factsOf(memory))).toEqual(["mine", "notes/notes/other"]);
    expect(Object.keys(await factsOf(memory, "work"))).toEqual([DAY, TOOL]);
  });

  test("brings back what it superseded, unless its key is in use again", async () => {
    const memory = await openTestMemory();
    const { importId = "" } = await importText(memory, "- Other: note\n");
    for (const key of ["a", "b"])
      await memory.storeFact("main", { key, value: `${key} before`, tags: ["own"] });
    const tags = [`import:${importId}`];
    const imported = { namespace: namespaceOf("main"), origin: "fact", category: "x", tags } as const;
    const entry = { ...imported, key: "new", value: Buffer.from("imported"), expiresAt: NOW + DAY_MS };
    await memory.store.put(entry, { supersedes: ["a", "b"] });
    await memory.storeFact("main", { key: "b", value: "b again" });
    expect(await forget(memory, importId, true)).toMatchObject({ deleted: 2, restored: 1 });
    expect(await forget(memory, importId)).toMatchObject({ deleted: 2, restored: 1, erased: "complete" });
    expect(await factsOf(memory)).toEqual({ a: "a before", b: "b again" });
    expect((await memory.getFact("main", { key: "a" }))?.tags).toEqual(["own"]);
  });

  test("does not include a fact that is stored with the import's tag", async () => {
    const memory = await openTestMemory();
    const { importId } = await importText(memory, MD);
    await memory.storeFact("main", { key: "mine", value: "v", tags: [`import:${importId}`, "kept"] });
    expect((await memory.getFact("main", { key: "mine" }))?.tags).toEqual(["kept"]);
  });

  test("of a later import restores the earlier one's facts, and forgetting that deletes the rest", async () => {
    const memory = await openTestMemory();
    const first = await importText(memory, MD);
    const second = await importText(memory, MD.replace("Konflux", "Argo"));
    expect(await forget(memory, second.importId)).toMatchObject({ deleted: 1, restored: 1 });
    expect((await factsOf(memory))[TOOL]).toBe("Tool: Konflux");
    expect(await forget(memory, first.importId)).toMatchObject({ deleted: 2 });
    expect(await factsOf(memory)).toEqual({});
  });

  test("leaves no byte of keys, values, former values or vectors in any file", async () => {
    const place = await tempPlace();
    const canary = "canary-4711-clear-key";
    const memory = await openTestMemory(place);
    await memory.storeFact("main", { key: `notes/notes/${canary}-replaced`, value: "mine before" });
    const { importId } = await importText(
      memory,
      `- ${canary} alone: one\n- ${canary} replaced: two\n- ${canary} edited: three\n`,
    );
    const namespace = namespaceOf("main");
    const { entries } = await memory.store.list({ namespace });
    const made = entries.map(({ id, fingerprint }) => ({
      id,
      fingerprint,
      dimensions: 4,
      vectors: new Float32Array([1, 2, 3, 4]),
    }));
    expect(await memory.store.putVectors(namespace, "space", made)).toHaveLength(3);
    await memory.close();
    const sealed = sealedIn(place.databasePath);
    expect(sealed.length).toBe(3 + 1 + 3);

    const again = await openTestMemory(place);
    await again.storeFact("main", {
      key: "mine",
      value: "mine now",
      supersedes: [`notes/notes/${canary}-edited`],
    });
    expect(await forget(again, importId)).toMatchObject({ deleted: 2, restored: 1, former: 1 });
    await forget(again, importId);
    await again.forget("main", { scope: `notes/notes/${canary}-replaced` });
    const folder = dirname(place.databasePath);
    const bytes = () => globSync("**/*", { cwd: folder }).map((name) => readFileSync(join(folder, name)));
    await again.close();
    expect(bytes().some((file) => file.includes("mine"))).toBe(true);
    for (const file of bytes()) {
      expect(file.includes(canary)).toBe(false);
      expect(file.includes(`import:${importId}`)).toBe(false);
      for (const blob of sealed) expect(file.includes(blob)).toBe(false);
    }
  });

  test("undoes a fact only while it has the tag", async () => {
    const memory = await openTestMemory();
    await memory.storeFact("main", { key: TOOL, value: "Tool: Argo" });
    const { importId } = await importText(memory, MD);
    await memory.storeFact("main", { key: TOOL, value: "Tool: by hand" });
    const ref = { namespace: namespaceOf("main"), origin: "fact", key: TOOL } as const;
    expect(await memory.store.undo(ref, { tag: `import:${importId}` })).toBeUndefined();
    expect((await factsOf(memory))[TOOL]).toBe("Tool: by hand");
  });

  test("counts as a wide forget, and its scope must name an import", async () => {
    const memory = await openTestMemory();
    expect([isWideForget("import:x"), isWideForget("key:import:x")]).toEqual([true, false]);
    await expect(memory.forget("main", { scope: "import:" })).rejects.toThrow('"import:" has no name');
    await expect(memory.forget("main", { scope: "import:A b" })).rejects.toThrow(
      "is not the id of an import",
    );
  });
});
