/** The memory of a server, in each of its states. */
import { access, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { betterSqliteDriver, type Memory } from "../../app/index.ts";
import { openServedMemory, type ServedMemory, type ServedMemoryOptions } from "../../app/served-memory.ts";
import { FakeClock } from "../sidecar/fake-clock.ts";
import { NOW, openTestMemory, tempPlace } from "./fixtures/memories.ts";

const KEY = "ab".repeat(32);

async function openTestServedMemory(options: Partial<ServedMemoryOptions> = {}): Promise<ServedMemory> {
  const place = await tempPlace();
  const opened = await openServedMemory({
    ...place,
    env: {},
    driver: betterSqliteDriver,
    now: () => NOW,
    sweepEveryMs: 0,
    withoutKey: "ephemeral",
    ...options,
  });
  onTestFinished(() => opened.memory.close());
  return opened;
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

/** A storage location with a fact and its key. */
async function placeWithData() {
  const place = await tempPlace();
  const memory = await openTestMemory(place);
  await memory.storeFact("main", { key: "k", value: "v" });
  await memory.close();
  return place;
}

describe("with a database and its key", () => {
  test("is ready and has what the command line stored", async () => {
    const place = await placeWithData();
    const { memory, state } = await openTestServedMemory(place);
    expect(state).toEqual({ state: "ready", databasePath: place.databasePath, keySource: place.keyPath });
    expect((await memory.getFact("main", "k"))?.value).toBe("v");
  });

  test("is ready with a key from the environment when nothing was stored yet", async () => {
    const { memory, state } = await openTestServedMemory({ env: { HELMDECK_MEMORY_KEY: KEY } });
    expect(state).toMatchObject({ state: "ready", keySource: "HELMDECK_MEMORY_KEY" });
    await memory.storeFact("main", { key: "k", value: "v" });
  });
});

describe("without a key and without data", () => {
  test("exists in this process only, warns, and leaves nothing on disk", async () => {
    const place = await tempPlace();
    const { memory, state } = await openTestServedMemory(place);
    expect(state).toMatchObject({ state: "ephemeral", warning: expect.stringContaining(place.keyPath) });
    await memory.storeFact("main", { key: "deploy", value: "We deploy through Konflux" });
    expect((await memory.search("main", { query: "konflux" })).results).toHaveLength(1);
    expect(await memory.status("main")).toMatchObject({ state: "ready", subject: { facts: 1 } });
    expect((await memory.doctor()).findings).toMatchObject([{ level: "warning", check: "memory" }]);
    await memory.close();
    expect([await exists(place.databasePath), await exists(place.keyPath)]).toEqual([false, false]);
  });

  test("creates the key file once when asked to, and shares it", async () => {
    const place = await tempPlace();
    const { memory, state } = await openTestServedMemory({ ...place, withoutKey: "make" });
    expect(state).toMatchObject({ state: "ready", keySource: place.keyPath });
    await memory.storeFact("main", { key: "k", value: "v" });
    const key = await readFile(place.keyPath, "utf8");
    const again = await openTestServedMemory({ ...place, withoutKey: "make" });
    expect((await again.memory.getFact("main", "k"))?.value).toBe("v");
    expect(await readFile(place.keyPath, "utf8")).toBe(key);
  });
});

type Trouble = (place: { databasePath: string; keyPath: string }) => Promise<Partial<ServedMemoryOptions>>;

const TROUBLES: readonly (readonly [string, string, Trouble])[] = [
  ["a malformed key", "key_malformed", async () => ({ env: { HELMDECK_MEMORY_KEY: "no key" } })],
  ["another key", "key_wrong", async () => ({ env: { HELMDECK_MEMORY_KEY: KEY } })],
  [
    "a missing key file",
    "key_missing",
    async () => ({ env: { HELMDECK_MEMORY_KEY_FILE: "/nonexistent/key" } }),
  ],
  [
    "data but no key",
    "key_missing",
    async ({ databasePath }) => ({ databasePath, ...(await tempKeyPath()) }),
  ],
  [
    "another program's file",
    "store_not_ours",
    async ({ databasePath }) => {
      await mkdir(dirname(databasePath), { recursive: true });
      await writeFile(databasePath, "notes, not a database\n".repeat(100));
      return {};
    },
  ],
];

async function tempKeyPath() {
  const { keyPath } = await tempPlace();
  return { keyPath };
}

// verifies P-quiet-packs
describe.each(TROUBLES)("with %s", (_, code, trouble) => {
  test(`is unavailable: every use case throws ${code}, and status and doctor report it`, async () => {
    const place = await placeWithData();
    const { memory, state, open } = await openTestServedMemory({ ...place, ...(await trouble(place)) });
    expect(state).toMatchObject({ state: "unavailable", error: { code } });
    expect(open).toBeUndefined();
    for (const [name, useCase] of Object.entries(useCasesOf(memory))) {
      const refusal = { code: "memory_unavailable", details: { reason: code } };
      await expect(useCase(), name).rejects.toMatchObject(refusal);
    }
    expect(await memory.status("main")).toMatchObject({ state: "failed", error: { code } });
    expect((await memory.doctor()).findings[0]).toMatchObject({
      level: "error",
      message: expect.stringContaining(code),
    });
  });

  test("is not replaced by another key, even if a key file may be created", async () => {
    const place = await placeWithData();
    const given = { ...place, ...(await trouble(place)), withoutKey: "make" as const };
    expect((await openTestServedMemory(given)).state).toMatchObject({
      state: "unavailable",
      error: { code },
    });
  });
});

describe("the indexes of a server", () => {
  const HALF_AN_HOUR = 30 * 60_000;

  /** How often `work` reads a memory from the beginning. */
  async function readingsOf(
    { open }: Pick<ServedMemory, "open">,
    work: () => Promise<unknown>,
  ): Promise<number> {
    if (open === undefined) throw new Error("memory is open");
    const reading = vi.spyOn(open.store, "changes");
    await work();
    const count = reading.mock.calls.filter(([{ since }]) => since === 0).length;
    reading.mockRestore();
    return count;
  }

  test("are dropped after half an hour without use", async () => {
    const clock = new FakeClock();
    const served = await openTestServedMemory({ clock: () => clock.now(), timer: clock.timer });
    await served.memory.storeFact("main", { key: "k", value: "v" });
    const ask = () => served.memory.warm("main");
    expect(await readingsOf(served, ask)).toBe(1);
    clock.advance(HALF_AN_HOUR - 1);
    expect(await readingsOf(served, ask)).toBe(0);
    clock.advance(HALF_AN_HOUR);
    expect(await readingsOf(served, ask)).toBe(1);
  });

  test("are kept in the plugin's memory, whoever uses them", async () => {
    const clock = new FakeClock();
    const open = await openTestMemory({ clock: () => clock.now(), timer: clock.timer });
    await open.storeFact("main", { key: "k", value: "v" });
    await open.warm("main");
    clock.advance(100 * HALF_AN_HOUR);
    expect(await readingsOf({ open }, () => open.warm("main"))).toBe(0);
  });

  test("stay within their memory limit", async () => {
    const served = await openTestServedMemory({ indexes: { limitBytes: 20_000 } });
    await served.memory.storeFact("ana", { key: "k", value: "v" });
    await served.memory.warm("ana");
    await served.memory.warm("ben");
    expect(await readingsOf(served, () => served.memory.warm("ana"))).toBe(1);
  });
});

/** The use cases that can fail. */
function useCasesOf(memory: Memory): Readonly<Record<string, () => Promise<unknown>>> {
  const { status: _, doctor: __, close: ___, ...rest } = memory;
  return Object.fromEntries(
    Object.entries(rest).map(([name, useCase]) => [name, useCase as () => Promise<unknown>]), // arguments do not matter
  );
}
