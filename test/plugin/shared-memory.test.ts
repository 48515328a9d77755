import { describe, expect, test } from "vitest";
import { NO_EMBEDDINGS } from "../../app/embedding/embedding-settings.ts";
import type { Memory } from "../../app/memory.ts";
import { HelmdeckError, isHelmdeckError } from "../../engine/errors.ts";
import { makeMemoryAccess } from "../../plugin/memory-access.ts";
import { leaseMemory, type SharedMemories, type SharedPlace } from "../../plugin/shared-memory.ts";
import { fakeMemory } from "./fake-memory.ts";

const PLACE: SharedPlace = {
  ...{ build: "b1", databasePath: "/s/memory.sqlite", keyPath: "/s/key" },
  ...{ embeddings: NO_EMBEDDINGS, recall: "balanced" },
};
const SERVICE = { provider: "openai-compatible", url: "https://vectors.example/v1", model: "m" } as const;

/** Counts open memories, like file handles and workers. */
function workshop() {
  const memories: SharedMemories = { open: new Map(), closing: new Map() };
  const counts = { started: 0, open: 0, mostOpen: 0 };
  const start = (): Memory => {
    counts.started += 1;
    counts.open += 1;
    counts.mostOpen = Math.max(counts.mostOpen, counts.open);
    return fakeMemory({
      close: async () => {
        await Promise.resolve();
        counts.open -= 1;
      },
    });
  };
  const lease = (change: Partial<SharedPlace> = {}) => leaseMemory({ ...PLACE, ...change }, start, memories);
  return { counts, memories, lease };
}

describe("leases", () => {
  test("two registrations in one process share one memory, which the last release closes", async () => {
    const { lease, counts } = workshop();
    const [one, other] = await Promise.all([lease(), lease()]);
    expect(one.memory).toBe(other.memory);
    await one.release();
    expect(counts).toMatchObject({ started: 1, open: 1 });
    await other.release();
    expect(counts).toMatchObject({ started: 1, open: 0 });
  });

  test("a second release has no effect", async () => {
    const { lease, counts } = workshop();
    const [one, other] = await Promise.all([lease(), lease()]);
    await Promise.all([one.release(), one.release()]);
    await one.release();
    expect(counts.open).toBe(1);
    await other.release();
    expect(counts.open).toBe(0);
  });

  test.each([
    ["another build", { build: "b2" }],
    ["another database", { databasePath: "/other.sqlite" }],
    ["another key file", { keyPath: "/other" }],
    ["another key", { configuredKey: "ab".repeat(32) }],
    ["another setting of recall", { recall: "quiet" as const }],
  ])("%s opens another memory", async (_, change) => {
    const { lease } = workshop();
    expect((await lease(change)).memory).not.toBe((await lease()).memory);
  });

  test("no key appears in the registry's names", async () => {
    const { lease, memories } = workshop();
    await lease({ configuredKey: "ab".repeat(32) });
    await lease({ embeddings: { ...SERVICE, apiKey: "sk-abab" } });
    expect([...memories.open.keys()].join()).not.toContain("abab");
  });

  test("another embedding service opens a new memory, and the former one closes after its last release", async () => {
    const { lease, counts } = workshop();
    let [before, services] = [await lease(), 1];
    for (const change of [
      { model: "n" },
      { url: "https://other.example/v1" },
      { apiKey: "k" },
      { dimensions: 7 },
    ]) {
      const next = await lease({ embeddings: { ...SERVICE, ...change } });
      await before.release();
      before = next;
      services += 1;
      expect(counts).toMatchObject({ started: services, open: 1 });
    }
    await before.release();
    expect(counts.open).toBe(0);
  });

  test("twenty reloads never have more than one memory open, and none at the end", async () => {
    const { lease, counts, memories } = workshop();
    let before = await Promise.all([lease(), lease()]);
    for (let reload = 0; reload < 20; reload += 1) {
      const leaving = before.map((one) => one.release());
      before = await Promise.all([lease(), lease()]); // does not wait for the old leases to end, like the host
      await Promise.all(leaving);
      expect(counts.open).toBe(1);
    }
    await Promise.all(before.map((one) => one.release()));
    expect(counts).toEqual({ started: 21, open: 0, mostOpen: 1 });
    expect(memories).toEqual({ open: new Map(), closing: new Map() });
  });

  test("a memory that fails to close is still removed", async () => {
    const memories: SharedMemories = { open: new Map(), closing: new Map() };
    const broken = () => fakeMemory({ close: async () => Promise.reject(new Error("broken")) });
    const one = await leaseMemory(PLACE, broken, memories);
    await expect(one.release()).resolves.toBeUndefined();
    expect((await leaseMemory(PLACE, broken, memories)).memory).not.toBe(one.memory);
  });

  test("an error from another copy of the module is recognised as a HelmdeckError", () => {
    const foreign = Object.assign(new Error("x"), { name: "HelmdeckError", code: "key_wrong", details: {} });
    expect(isHelmdeckError(foreign, "key_wrong")).toBe(true);
    expect(isHelmdeckError(foreign, "key_missing")).toBe(false);
    expect(isHelmdeckError(Object.assign(new Error("x"), { name: "HelmdeckError", code: "rm -rf" }))).toBe(
      false,
    );
    expect(isHelmdeckError(Object.assign(new Error("x"), { code: "key_wrong" }))).toBe(false);
  });
});

describe("a registration's access", () => {
  test("leases only at the first use, and once for several uses", async () => {
    const { lease, counts } = workshop();
    const access = makeMemoryAccess(lease);
    expect(counts.started).toBe(0);
    const [one, other] = await Promise.all([access.open(), access.open()]);
    expect(one).toBe(other);
    await access.close();
    expect(counts).toMatchObject({ started: 1, open: 0 });
  });

  test("opens again after a close, because the host may restart a service", async () => {
    const { lease, counts } = workshop();
    const access = makeMemoryAccess(lease);
    await access.open();
    await access.close();
    await access.open();
    expect(counts).toMatchObject({ started: 2, open: 1 });
  });

  test("a failure is reported, and the next call retries", async () => {
    const { lease } = workshop();
    const answers = [() => Promise.reject(new HelmdeckError("key_unreadable", "x")), lease];
    const access = makeMemoryAccess(() => (answers.shift() ?? lease)());
    await expect(access.open()).rejects.toMatchObject({ code: "key_unreadable" });
    await expect(access.open()).resolves.toBeDefined();
  });

  test("nothing is opened after its disposal", async () => {
    const { lease, counts } = workshop();
    const access = makeMemoryAccess(lease);
    await access.dispose();
    await expect(access.open()).rejects.toMatchObject({ code: "memory_unavailable" });
    expect(counts.started).toBe(0);
  });

  test("a disposal during opening leaves nothing open", async () => {
    const { lease, counts } = workshop();
    const access = makeMemoryAccess(lease);
    const opening = access.open();
    await access.dispose();
    await opening;
    expect(counts).toMatchObject({ started: 1, open: 0 });
  });

  test("closing a memory that was never opened, or failed to open, is not an error", async () => {
    const access = makeMemoryAccess(() => Promise.reject(new Error("x")));
    await access.close();
    await access.open().catch(() => undefined);
    await expect(access.dispose()).resolves.toBeUndefined();
  });
});
