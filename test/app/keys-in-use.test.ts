/** The keys of a memory are listed once, and not again after another process writes. */
import { describe, expect, test, vi } from "vitest";
import { KeysInUse } from "../../app/keys-in-use.ts";
import { createInMemoryStore } from "../../engine/store/in-memory-store.ts";
import type { MemoryStore } from "../../engine/store/memory-store.ts";
import { namespaceOf } from "../../engine/store/namespace.ts";

const MAIN = namespaceOf("main");
const LOOKS_LIKE_DEPLOY = "d\u0435ploy";

function opened() {
  const store = createInMemoryStore({});
  return { store, keys: new KeysInUse(store), listMeta: vi.spyOn(store, "listMeta") };
}

async function put(store: MemoryStore, key: string, namespace = MAIN): Promise<void> {
  const value = Buffer.from("x");
  await store.put({ namespace, origin: "fact", key, value, category: "user_facts", tags: [] });
}

describe("the keys in use", () => {
  test("follow other processes' writes without listing all keys again", async () => {
    const { store, keys, listMeta } = opened();
    await keys.refuseLookalike(MAIN, "first");
    await Promise.all(Array.from({ length: 50 }, (_, i) => put(store, `fact-${i}`)));
    await keys.refuseLookalike(MAIN, "second");
    expect(listMeta).toHaveBeenCalledTimes(1);
    await put(store, "deploy");
    await expect(keys.refuseLookalike(MAIN, LOOKS_LIKE_DEPLOY)).rejects.toThrow(
      'looks like the existing key "deploy"',
    );
  });

  // verifies P-text-lookalikes
  test("refuse a key in the store's own transaction when one that looks like it was stored since", async () => {
    const { store, keys } = opened();
    const ref = { namespace: MAIN, origin: "fact", key: "deploy" } as const;
    const keysSince = await keys.refuseLookalike(MAIN, ref.key);
    await put(store, LOOKS_LIKE_DEPLOY);
    const entry = { ...ref, value: Buffer.from("x"), category: "user_facts", tags: [] };
    await expect(store.put(entry, { keysSince })).rejects.toThrow("looks like");
    expect(await store.get(ref)).toBeUndefined();
  });

  test("are listed again when more than one page of changes was written", async () => {
    const { store, keys, listMeta } = opened();
    await keys.refuseLookalike(MAIN, "first");
    for (let i = 0; i < 1_001; i++) await put(store, `fact-${i}`);
    await put(store, "deploy");
    await expect(keys.refuseLookalike(MAIN, LOOKS_LIKE_DEPLOY)).rejects.toThrow("looks like");
    expect(listMeta.mock.calls.length).toBeGreaterThan(1);
  });

  test("of many small memories are all cached", async () => {
    const { keys, listMeta } = opened();
    const memories = Array.from({ length: 100 }, (_, i) => namespaceOf(`agent-${i}`));
    for (const memory of [...memories, ...memories]) await keys.refuseLookalike(memory, "first");
    expect(listMeta).toHaveBeenCalledTimes(memories.length);
  });
});
