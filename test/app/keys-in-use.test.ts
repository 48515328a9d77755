/** The keys of a memory are listed once, and not again after another process writes. */
import { describe, expect, test, vi } from "vitest";
import { KeysInUse } from "../../app/keys-in-use.ts";
import type { MemoryStore } from "../../engine/store/memory-store.ts";
import { namespaceOf } from "../../engine/store/namespace.ts";
import { openStoreInMemory } from "../../engine/store/sqlite/open-in-memory.ts";
import { entryOf } from "./fixtures/memories.ts";

const MAIN = namespaceOf("main");
const LOOKS_LIKE_DEPLOY = "d\u0435ploy";

async function opened() {
  const store = await openStoreInMemory();
  const clock = { now: 0 };
  const keys = new KeysInUse(store, () => clock.now);
  return { store, keys, clock, listMeta: vi.spyOn(store, "listMeta"), changes: vi.spyOn(store, "changes") };
}

/** As a use case stores a fact. */
async function storeOwn(
  { store, keys }: Pick<Awaited<ReturnType<typeof opened>>, "store" | "keys">,
  key: string,
): Promise<void> {
  const { keysSince, stored } = await keys.toStore(MAIN, key);
  const { entry } = await store.put(entryOf(key, "x"), { keysSince });
  stored(entry.revision);
}

const put = (store: MemoryStore, key: string) => store.put(entryOf(key, "x"));

describe("the keys in use", () => {
  test("follow other processes' writes without listing all keys again", async () => {
    const { store, keys, listMeta } = await opened();
    await keys.refuseLookalike(MAIN, "first");
    await Promise.all(Array.from({ length: 50 }, (_, i) => put(store, `fact-${i}`)));
    await keys.refuseLookalike(MAIN, "second");
    expect(listMeta).toHaveBeenCalledTimes(1);
    await put(store, "deploy");
    await expect(keys.refuseLookalike(MAIN, LOOKS_LIKE_DEPLOY)).rejects.toThrow(
      'looks like the existing key "deploy"',
    );
  });

  test("are listed, and the feed is followed, once for all stores of one moment", async () => {
    const { listMeta, changes, clock, ...memory } = await opened();
    const storeMany = (name: string) =>
      Promise.all(Array.from({ length: 50 }, (_, i) => storeOwn(memory, `${name}-${i}`)));
    await storeMany("first");
    expect(listMeta).toHaveBeenCalledTimes(1);
    clock.now = 1_000;
    await storeMany("second");
    expect(changes).toHaveBeenCalledTimes(1);
    expect(listMeta).toHaveBeenCalledTimes(1);
    await storeOwn(memory, "later");
    await expect(storeOwn(memory, "lat\u0435r")).rejects.toThrow("looks like");
    expect(listMeta).toHaveBeenCalledTimes(2); // whether the other key is still there
  });

  // verifies P-text-lookalikes
  test("refuse a key in the store's own transaction when one that looks like it was stored since", async () => {
    const { store, keys } = await opened();
    const entry = entryOf("deploy", "x");
    const { keysSince } = await keys.toStore(MAIN, entry.key);
    await put(store, LOOKS_LIKE_DEPLOY);
    await expect(store.put(entry, { keysSince })).rejects.toThrow("looks like");
    expect(await store.get(entry)).toBeUndefined();
  });

  // verifies P-text-lookalikes
  test("of this process's own stores are known without being read, and hide none of another's", async () => {
    const { changes, ...memory } = await opened();
    await storeOwn(memory, "first");
    await put(memory.store, "deploy"); // by another process
    await storeOwn(memory, "second");
    await storeOwn(memory, "third");
    expect(changes).not.toHaveBeenCalled();
    await expect(storeOwn(memory, LOOKS_LIKE_DEPLOY)).rejects.toThrow("looks like");
    await expect(storeOwn(memory, "th\u0456rd")).rejects.toThrow("looks like");
  });

  test("follow the feed once a second, which tells of another database", async () => {
    const { changes, clock, ...memory } = await opened();
    await storeOwn(memory, "first");
    clock.now = 1_000;
    await storeOwn(memory, "second");
    await storeOwn(memory, "third");
    expect(changes).toHaveBeenCalledTimes(1);
    changes.mockResolvedValue({ kind: "start_over" });
    clock.now = 2_000;
    await storeOwn(memory, "fourth");
    expect(memory.listMeta).toHaveBeenCalledTimes(2);
  });

  test("are listed again when more than one page of changes was written", async () => {
    const { store, keys, listMeta } = await opened();
    await keys.refuseLookalike(MAIN, "first");
    for (let i = 0; i < 1_001; i++) await put(store, `fact-${i}`);
    await put(store, "deploy");
    await expect(keys.refuseLookalike(MAIN, LOOKS_LIKE_DEPLOY)).rejects.toThrow("looks like");
    expect(listMeta.mock.calls.length).toBeGreaterThan(1);
  });

  test("of many small memories are all cached", async () => {
    const { keys, listMeta } = await opened();
    const memories = Array.from({ length: 100 }, (_, i) => namespaceOf(`agent-${i}`));
    for (const memory of [...memories, ...memories]) await keys.refuseLookalike(memory, "first");
    expect(listMeta).toHaveBeenCalledTimes(memories.length);
  });
});
