/** A store in this process's memory passes the contract suite, and has no files. */
import { expect, test } from "vitest";
import { openStoreInMemory } from "../../../engine/store/sqlite/open-in-memory.ts";
import { describeMemoryStore } from "../../contract/memory-store.ts";
import { fact, type OpenRig, refTo, START } from "../../contract/rig.ts";

const open: OpenRig = async (options = {}) => {
  const clock = { now: START };
  const store = await openStoreInMemory({ now: () => clock.now, ...options });
  return { store, clock, dispose: () => store.close() };
};

describeMemoryStore({
  name: "the in-memory store",
  capabilities: { persistent: false, shared: false },
  canDamage: false,
  modelRuns: 30,
  open,
});

test("keeps neither a file nor an identity, and shares nothing with another one", async () => {
  const [{ store }, other] = await Promise.all([open(), open()]);
  await store.put(fact("a", "1"));
  await store.deleteExpired();
  expect(await other.store.get(refTo("a"))).toBeUndefined();
  const { backend, settings } = await store.inspect();
  expect({ backend, journalMode: settings.journalMode }).toEqual({
    backend: "sqlite (node:sqlite, in memory)",
    journalMode: "memory",
  });
  expect([store.identity, store.snapshots]).toEqual([undefined, undefined]);
  await Promise.all([store.close(), other.dispose()]);
});
