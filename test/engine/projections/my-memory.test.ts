import { expect, test } from "vitest";
import { auditEntry, checkAuditRow } from "../../../engine/audit/audit-entries.ts";
import { myMemoryDocument, summariseMemory } from "../../../engine/projections/my-memory.ts";
import type { MemoryReader, MemoryStore } from "../../../engine/store/memory-store.ts";
import { namespaceOf } from "../../../engine/store/namespace.ts";
import { openStoreInMemory } from "../../../engine/store/sqlite/open-in-memory.ts";

const alice = namespaceOf("alice");
const NOW = Date.parse("2026-11-20T12:00:00Z");

async function filledStore(): Promise<MemoryStore> {
  let now = NOW;
  const store = await openStoreInMemory({ now: () => now });
  const put = async (
    origin: "fact" | "cache" | "pack" | "audit",
    key: string,
    category: string,
    expiresAt?: number,
  ) => {
    now += 1_000;
    const life = expiresAt === undefined ? {} : { expiresAt };
    await store.put({ namespace: alice, origin, key, category, tags: [], value: Buffer.from("v"), ...life });
  };
  for (let index = 1; index <= 7; index += 1) await put("fact", `fact-${index}`, "user_facts");
  await put("fact", "region/eu", "prefs");
  await put("fact", "gone", "prefs", NOW + 1_000);
  await put("cache", "github.list_issues/ab", "cache");
  await put("cache", "posing", "user_facts");
  await put("pack", "swe.solve/ab/notes", "solve");
  await put("audit", "plan_history/p/1", "plan_history");
  await store.put(
    auditEntry(alice, checkAuditRow("pack", { pack: "lint", outcome: "ok", at_unix: NOW / 1_000 }), NOW),
  );
  await store.put({
    namespace: namespaceOf("bob"),
    origin: "fact",
    key: "bobs",
    category: "user_facts",
    tags: [],
    value: Buffer.from("v"),
  });
  return store;
}

test("fault 12: my-memory counts facts and runs, and no caches, notes, plans, expired or foreign entries", async () => {
  const summary = await summariseMemory(await filledStore(), alice);
  expect(summary).toMatchObject([
    { name: "prefs", origin: "fact", count: 1, recentKeys: ["region/eu"] },
    {
      name: "user_facts",
      origin: "fact",
      count: 7,
      recentKeys: ["fact-7", "fact-6", "fact-5", "fact-4", "fact-3"],
    },
    { name: "pack_history", origin: "audit", count: 1 },
  ]);
});

test("my-memory is read without decrypting a value", async () => {
  const store = await filledStore();
  const opened: string[] = [];
  const watched: MemoryReader = new Proxy(store, {
    get: (target, name) => {
      opened.push(String(name));
      const member: unknown = Reflect.get(target, name);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
  await summariseMemory(watched, alice);
  expect(new Set(opened)).toEqual(new Set(["categories", "listMeta"]));
});

test("my-memory counts beyond one page of the store", async () => {
  const store = await openStoreInMemory({ now: () => NOW });
  const many = Array.from({ length: 2_345 }, (_, index) => ({
    namespace: alice,
    origin: "fact" as const,
    key: `k${index}`,
    category: "user_facts",
    tags: [],
    value: Buffer.from("v"),
  }));
  await store.putMany(many);
  expect((await summariseMemory(store, alice))[0]?.count).toBe(2_345);
});

test("the document names each category, its count, and the paths of its newest entries", async () => {
  const document = myMemoryDocument(await summariseMemory(await filledStore(), alice));
  expect(document.split("\n").slice(0, 11)).toEqual([
    "# What helmdeck memory holds",
    "",
    "## prefs: 1 fact",
    "",
    "All of them:",
    "",
    "- region/eu (helmdeck/prefs/region/eu.md)",
    "",
    "## user_facts: 7 facts",
    "",
    "The newest:",
  ]);
  expect(document).toContain("## pack_history: 1 recorded run");
});

test("the document of an empty memory states that it is empty", async () => {
  const store = await openStoreInMemory({ now: () => NOW });
  expect(myMemoryDocument(await summariseMemory(store, alice))).toBe(
    "# What helmdeck memory holds\n\nNothing yet.",
  );
});
