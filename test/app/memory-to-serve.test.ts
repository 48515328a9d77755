/** The memory of a server, in each of its states. */

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { copyFile, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { Memory } from "../../app/memory.ts";
import {
  type MemoryToServe,
  type MemoryToServeOptions,
  openMemoryToServe,
} from "../../app/memory-to-serve.ts";
import { REOPEN_AFTER_MS, ROOM_AFTER_MS } from "../../app/reopening-store.ts";
import { betterSqliteDriver } from "../../engine/store/sqlite/better-sqlite-driver.ts";
import { FakeClock } from "../sidecar/fake-clock.ts";
import { NOW, openTestMemory, placeWithFact, tempPlace } from "./fixtures/memories.ts";

const KEY = "ab".repeat(32);

async function openTestServedMemory(options: Partial<MemoryToServeOptions> = {}): Promise<MemoryToServe> {
  const place = await tempPlace();
  const opened = await openMemoryToServe({
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

describe("with a database and its key", () => {
  test("is ready and has what the command line stored", async () => {
    const place = await placeWithFact();
    const { memory, state } = await openTestServedMemory(place);
    expect(state).toEqual({ state: "ready", databasePath: place.databasePath, keySource: place.keyPath });
    expect((await memory.getFact("main", { key: "k" }))?.value).toBe("v");
  });

  test("is ready with a key from the environment when nothing was stored yet", async () => {
    const { memory, state } = await openTestServedMemory({ env: { HELMDECK_MEMORY_KEY: KEY } });
    expect(state).toMatchObject({ state: "ready", keySource: "HELMDECK_MEMORY_KEY" });
    await memory.storeFact("main", { key: "k", value: "v" });
  });
});

/** False if this machine lets nobody mount. */
function mountSmallDisk(folder: string): boolean {
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=4m", "tmpfs", folder], { stdio: "ignore" });
  } catch {
    return false;
  }
  onTestFinished(() => void execFileSync("umount", ["--lazy", folder]));
  return true;
}

test("on a full disk, says so until there is room again, whether or not anybody stores", async (context) => {
  const place = await tempPlace();
  const folder = dirname(place.databasePath);
  await mkdir(folder, { mode: 0o700 });
  if (!mountSmallDisk(folder)) return context.skip("this machine lets nobody mount");
  const clock = new FakeClock();
  const told: unknown[] = [];
  const { memory } = await openTestServedMemory({
    ...{ ...place, env: { HELMDECK_MEMORY_KEY: KEY } },
    ...{ clock: () => clock.now(), timer: clock.timer, onChange: (lost) => told.push(lost) },
  });
  const isFull = async () => (await memory.gauges()).isFull;
  await memory.storeFact("main", { key: "first", value: "x" });
  expect(await isFull()).toBe(false);
  const ballast = join(folder, "ballast");
  expect(() => execFileSync("dd", ["if=/dev/zero", `of=${ballast}`, "bs=4k"], { stdio: "ignore" })).toThrow();
  const store = () => memory.storeFact("main", { key: "large", value: "x".repeat(16_000) });
  await expect(store()).rejects.toMatchObject({ code: "store_full" });
  for (let tries = 0; tries < 3; tries += 1) {
    expect(await isFull()).toBe(true);
    clock.advance(ROOM_AFTER_MS);
    await clock.alarmIn(ROOM_AFTER_MS);
  }
  await rm(ballast);
  clock.advance(ROOM_AFTER_MS);
  await vi.waitFor(async () => expect(await isFull()).toBe(false));
  expect(clock.pending).not.toContain(ROOM_AFTER_MS);
  expect([told, (await memory.callers()).callers]).toMatchObject([[], [{ subject: "main" }]]);
  await store();
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
    expect([place.databasePath, place.keyPath].map((path) => existsSync(path))).toEqual([false, false]);
  });

  // verifies P-alone-quota
  test("limits each caller as a database does", async () => {
    const { memory } = await openTestServedMemory({ env: { HELMDECK_MEMORY_MAX_ENTRIES: "2" } });
    for (const key of ["a", "b"]) await memory.storeFact("main", { key, value: "v" });
    const third = memory.storeFact("main", { key: "c", value: "v" });
    await expect(third).rejects.toMatchObject({ code: "quota_exceeded" });
    await memory.storeFact("other", { key: "c", value: "v" });
  });

  test("creates the key file once when asked to, and shares it", async () => {
    const place = await tempPlace();
    const { memory, state } = await openTestServedMemory({ ...place, withoutKey: "make" });
    expect(state).toMatchObject({ state: "ready", keySource: place.keyPath });
    await memory.storeFact("main", { key: "k", value: "v" });
    const key = await readFile(place.keyPath, "utf8");
    const again = await openTestServedMemory({ ...place, withoutKey: "make" });
    expect((await again.memory.getFact("main", { key: "k" }))?.value).toBe("v");
    expect(await readFile(place.keyPath, "utf8")).toBe(key);
  });
});

type Place = Awaited<ReturnType<typeof tempPlace>>;

interface Trouble {
  readonly options?: Partial<MemoryToServeOptions>;
  readonly mend: () => Promise<void>;
}

/** Other contents until the trouble is mended. */
async function insteadOf(path: string, text: string): Promise<Trouble> {
  const aside = `${path}.aside`;
  await rename(path, aside);
  await writeFile(path, text, { mode: 0o600 });
  return { mend: () => rename(aside, path) };
}

const TROUBLES: readonly (readonly [string, string, (place: Place) => Promise<Trouble>])[] = [
  ["a malformed key", "key_malformed", ({ keyPath }) => insteadOf(keyPath, "no key")],
  ["another key", "key_wrong", ({ keyPath }) => insteadOf(keyPath, KEY)],
  [
    "a missing key file",
    "key_missing",
    async ({ keyPath }) => {
      const named = `${keyPath}.named`;
      return {
        options: { env: { HELMDECK_MEMORY_KEY_FILE: named } },
        mend: () => copyFile(keyPath, named),
      };
    },
  ],
  [
    "data but no key",
    "key_missing",
    async ({ keyPath }) => {
      await rename(keyPath, `${keyPath}.aside`);
      return { mend: () => rename(`${keyPath}.aside`, keyPath) };
    },
  ],
  [
    "another program's file",
    "store_not_ours",
    ({ databasePath }) => insteadOf(databasePath, "notes, not a database\n".repeat(100)),
  ],
  ["an emptied file", "store_corrupt", ({ databasePath }) => insteadOf(databasePath, "")],
];

/** Each with its use, for what can fail. */
const USES: Readonly<Record<string, (memory: Memory) => Promise<unknown>>> = {
  storeFact: (memory) => memory.storeFact("main", { key: "k", value: "v" }),
  storeFacts: (memory) => memory.storeFacts("main", { facts: [{ key: "k", value: "v" }] }),
  getFact: (memory) => memory.getFact("main", { key: "k" }),
  listFacts: (memory) => memory.listFacts("main", {}),
  factHistory: (memory) => memory.factHistory("main", { key: "k" }),
  search: (memory) => memory.search("main", { query: "v" }),
  readDocument: (memory) => memory.readDocument("main", { path: "helmdeck/user_facts/k.md" }),
  forget: (memory) => memory.forget("main", { scope: "key:k" }),
  myMemory: (memory) => memory.myMemory("main"),
  defaults: (memory) => memory.defaults("main"),
  corpusPage: (memory) => memory.corpusPage("main", {}),
  ranked: (memory) => memory.corpusPage("main", { query: "v" }),
  listRuns: (memory) => memory.listRuns("main", {}),
  growth: (memory) => memory.growth("main"),
  callers: (memory) => memory.callers(),
  revision: (memory) => memory.revision("main"),
};

// verifies P-quiet-packs
describe.each(TROUBLES)("with %s", (_, code, trouble) => {
  test(`is unavailable: every use case throws ${code}, and status and doctor report it, until that is mended`, async () => {
    const place = await placeWithFact();
    const { options, mend } = await trouble(place);
    const clock = new FakeClock();
    const told: (string | undefined)[] = [];
    const { memory, state } = await openTestServedMemory({
      ...{ ...place, ...options, clock: () => clock.now(), timer: clock.timer },
      onChange: (lost) => told.push(lost?.code ?? "back"),
    });
    expect(state).toMatchObject({ state: "unavailable", error: { code } });
    for (const [name, use] of Object.entries(USES)) {
      const refusal = { code: "memory_unavailable", details: { reason: code } };
      await expect(use(memory), name).rejects.toMatchObject(refusal);
    }
    expect(await memory.status("main")).toMatchObject({ state: "failed", error: { code } });
    expect((await memory.doctor()).findings[0]).toMatchObject({
      level: "error",
      message: expect.stringContaining(code),
    });
    expect(told).toEqual([]); // the state at the start says it
    await mend();
    clock.advance(REOPEN_AFTER_MS); // nobody asks, but memory opens
    await vi.waitUntil(() => told.length > 0);
    expect(told).toEqual(["back"]);
    expect((await memory.getFact("main", { key: "k" }))?.value).toBe("v");
    expect(await memory.status("main")).toMatchObject({ state: "ready", subject: { facts: 1 } });
  });

  test("is not replaced by another key, even if a key file may be created", async () => {
    const place = await placeWithFact();
    const { options } = await trouble(place);
    const given = { ...place, ...options, withoutKey: "make" as const };
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
    { memory }: Pick<MemoryToServe, "memory">,
    work: () => Promise<unknown>,
  ): Promise<number> {
    const reading = vi.spyOn(memory.store, "changes");
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
    const memory = await openTestMemory({ clock: () => clock.now(), timer: clock.timer });
    await memory.storeFact("main", { key: "k", value: "v" });
    await memory.warm("main");
    clock.advance(100 * HALF_AN_HOUR);
    expect(await readingsOf({ memory }, () => memory.warm("main"))).toBe(0);
  });

  test("stay within their memory limit", async () => {
    const served = await openTestServedMemory({ indexes: { limitBytes: 1_000 } });
    await served.memory.storeFact("ana", { key: "k", value: "v" });
    await served.memory.warm("ana");
    await served.memory.warm("ben");
    expect(await readingsOf(served, () => served.memory.warm("ana"))).toBe(1);
  });
});
