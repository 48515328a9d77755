/**
 * A database that is moved, deleted or restored during use: memory refuses requests, reports why, and recovers without a
 * restart.
 */
import { execFile } from "node:child_process";
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import type { OpenMemory } from "../../app/compose.ts";
import { openMemory } from "../../app/open-memory.ts";
import { REOPEN_AFTER_MS } from "../../app/reopening-store.ts";
import { openingMemory } from "../../app/worker/worker-server.ts";
import { nodeSqliteDriver } from "../../engine/store/sqlite/node-sqlite-driver.ts";
import type { SqliteDriver } from "../../engine/store/sqlite/sqlite-driver.ts";
import { openTestMemory, tempPlace } from "./fixtures/memories.ts";

const copyFile = (from: string, to: string) => promisify(execFile)("cp", [from, to]);

async function opened() {
  let time = 0;
  const place = await tempPlace();
  const memory = await openTestMemory({ ...place, clock: () => time });
  await memory.storeFact("main", { key: "first", value: "We deploy through Konflux" });
  const wait = () => {
    time += REOPEN_AFTER_MS;
  };
  return { memory, place, path: place.databasePath, wait };
}

const late = (memory: OpenMemory) => memory.storeFact("main", { key: "late", value: "x" });

async function keysFound(memory: OpenMemory, query: string): Promise<readonly string[]> {
  return (await memory.search("main", { query })).results.map(({ key }) => key);
}

/** Every use case refuses, and status and doctor give the reason. */
async function expectRefused(memory: OpenMemory, code: string): Promise<void> {
  await expect(late(memory)).rejects.toMatchObject({ code });
  await expect(memory.getFact("main", { key: "first" })).rejects.toMatchObject({ code });
  await expect(memory.search("main", { query: "konflux" })).rejects.toMatchObject({ code });
  await expect(memory.forget("main", { scope: "key:first" })).rejects.toMatchObject({ code });
  expect(await memory.status("main")).toMatchObject({ state: "failed", error: { code } });
  expect((await memory.doctor()).findings[0]).toMatchObject({
    level: "error",
    message: expect.stringContaining(code),
    remedy: expect.stringMatching(/\.$/),
  });
}

// verifies P-durable-replaced
describe("a database that is", () => {
  test("deleted is re-created after a pause, and the index starts over", async () => {
    const { memory, path, wait } = await opened();
    expect(await keysFound(memory, "konflux")).toEqual(["first"]);
    for (const part of ["", "-wal", "-shm"]) await rm(`${path}${part}`);
    await expectRefused(memory, "store_replaced");
    wait();
    expect(await keysFound(memory, "konflux")).toEqual([]);
    await memory.storeFact("main", { key: "second", value: "Marta waters the plants" });
    expect(await keysFound(memory, "plants")).toEqual(["second"]);
    expect(await memory.status("main")).toMatchObject({ state: "ready", subject: { facts: 1 } });
  });

  test("moved away is retried, and is complete after it is moved back", async () => {
    const { memory, path, wait } = await opened();
    await rename(path, `${path}.away`);
    for (let tried = 0; tried < 3; tried += 1) {
      await expectRefused(memory, "store_replaced");
      wait();
    }
    await rename(`${path}.away`, path);
    expect(await keysFound(memory, "konflux")).toEqual(["first"]);
    await late(memory);
  });

  test("moved away with its folder is not re-created elsewhere", async () => {
    const { memory, path, wait } = await opened();
    const folder = dirname(path);
    await rename(folder, `${folder}.away`);
    await expectRefused(memory, "store_replaced");
    wait();
    await expectRefused(memory, "store_replaced");
    await rename(`${folder}.away`, folder);
    expect(await keysFound(memory, "konflux")).toEqual(["first"]);
  });

  test("deleted with its folder is not re-created: the folder may be a volume that is not mounted", async () => {
    const { memory, path, wait } = await opened();
    await rm(dirname(path), { recursive: true });
    wait();
    await expectRefused(memory, "store_replaced");
    wait();
    await expectRefused(memory, "store_replaced");
    await mkdir(dirname(path));
    await late(memory);
  });

  test("restored from a backup is used unchanged, and later writes are no longer found", async () => {
    const { memory, place, path } = await opened();
    await memory.close();
    await copyFile(path, `${path}.backup`);
    let time = 0;
    const live = await openTestMemory({ ...place, clock: () => time });
    await live.storeFact("main", { key: "second", value: "Marta waters the plants" });
    expect([...(await keysFound(live, "plants")), ...(await keysFound(live, "konflux"))]).toEqual([
      "second",
      "first",
    ]);
    await rename(`${path}.backup`, path);
    await expectRefused(live, "store_replaced");
    // Another process writes as often as this one had: an index that continued from its old cursor would not notice the change.
    const other = await openTestMemory(place);
    for (let i = 0; i < 3; i += 1) await late(other);
    await other.close();
    time += REOPEN_AFTER_MS;
    expect([...(await keysFound(live, "plants")), ...(await keysFound(live, "konflux"))]).toEqual(["first"]);
    await late(live);
    await live.close();
    const again = await openTestMemory(place);
    expect((await again.listFacts("main", {})).facts.map(({ key }) => key).sort()).toEqual(["first", "late"]);
    expect((await again.doctor()).store).toMatchObject({ integrity: "ok" });
  });

  test("overwritten acknowledges no more writes, however often it is called", async () => {
    const { memory, place, path } = await opened();
    await memory.close();
    await copyFile(path, `${path}.backup`);
    let time = 0;
    const live = await openTestMemory({ ...place, clock: () => time });
    for (let i = 0; i < 40; i += 1) await live.storeFact("main", { key: `k${i}`, value: "x".repeat(300) });
    await live.forget("main", { scope: "key:k0" });
    await live.storeFact("main", { key: "in the log", value: "x" });
    await copyFile(`${path}.backup`, path);
    for (let tried = 0; tried < 3; tried += 1) {
      await expectRefused(live, "store_corrupt");
      time += REOPEN_AFTER_MS;
    }
    await expect(openMemory({ ...place, env: {}, driver: nodeSqliteDriver })).rejects.toMatchObject({
      code: "store_corrupt",
    });
  });
});

test("a failed sync closes the store: nothing is acknowledged until it is reopened after a pause", async () => {
  let [time, isFailing] = [0, false];
  const failing: SqliteDriver = {
    ...nodeSqliteDriver,
    open: async (path, mode) => {
      const connection = await nodeSqliteDriver.open(path, mode);
      const prepare = (sql: string) => {
        const statement = connection.prepare(sql);
        const run: typeof statement.run = (...values) => {
          if (isFailing && sql === "COMMIT")
            throw Object.assign(new Error("disk I/O error"), { errcode: 1_034 });
          statement.run(...values);
        };
        return { ...statement, run };
      };
      return Object.assign(Object.create(connection), { prepare });
    },
  };
  const memory = await openTestMemory({ ...(await tempPlace()), driver: failing, clock: () => time });
  await memory.storeFact("main", { key: "first", value: "We deploy through Konflux" });
  isFailing = true;
  await expect(late(memory)).rejects.toMatchObject({ code: "store_unavailable" });
  isFailing = false;
  await expectRefused(memory, "store_unavailable");
  time += REOPEN_AFTER_MS;
  await late(memory);
  expect(await keysFound(memory, "konflux")).toEqual(["first"]);
});

test("the worker's memory recovers in the same way", async () => {
  let time = 0;
  const place = await tempPlace();
  const options = { ...place, env: {}, driver: nodeSqliteDriver, sweepEveryMs: 0, clock: () => time };
  const call = openingMemory(options);
  const store = (key: string) => call("storeFact", ["main", { key, value: "v" }]);
  expect(await store("first")).toMatchObject({ ok: true });
  for (const part of ["", "-wal", "-shm"]) await rm(`${place.databasePath}${part}`);
  expect(await store("late")).toMatchObject({ ok: false, error: { code: "store_replaced" } });
  expect(await call("status", ["main"])).toMatchObject({ value: { state: "failed" } });
  time += REOPEN_AFTER_MS;
  expect(await store("second")).toMatchObject({ ok: true });
  expect(await call("status", ["main"])).toMatchObject({ value: { subject: { facts: 1 } } });
  await call("close", []);
});

// verifies P-clock-deletes-nothing
test("facts that a wrong clock made expire are found again after it is corrected", async () => {
  const wrong = 800 * 24 * 3_600 * 1_000;
  let now = Date.parse("2026-11-20T12:00:00Z");
  const memory = await openTestMemory({ now: () => now });
  await memory.storeFact("main", { key: "first", value: "We deploy through Konflux" });
  now += wrong;
  expect(await keysFound(memory, "konflux")).toEqual([]);
  expect((await memory.myMemory("main")).categories).toEqual([]);
  await memory.sweep();
  now += 14_000 - wrong;
  expect(await keysFound(memory, "konflux")).toEqual(["first"]);
  expect((await memory.myMemory("main")).categories).toMatchObject([{ count: 1 }]);
  expect(await memory.readDocument("main", { path: "helmdeck/user_facts/first.md" })).toBeDefined();
});

test("a fact that is stored before the clock is set keeps its full lifetime", async () => {
  let now = 20_000;
  const place = await tempPlace();
  const memory = await openTestMemory({ ...place, now: () => now });
  const { expiresAt } = await memory.storeFact("main", { key: "first", value: "v", ttlSeconds: 3_600 });
  expect(expiresAt).toBeGreaterThan(Date.parse("2026-01-01T00:00:00Z"));
  expect((await memory.doctor()).findings).toContainEqual(
    expect.objectContaining({
      level: "warning",
      check: "clock",
      message: expect.stringContaining("days behind"),
    }),
  );
  await memory.close();
  now = Date.parse("2027-06-20T12:00:00Z");
  const later = await openTestMemory({ ...place, now: () => now });
  expect((await later.getFact("main", { key: "first" }))?.expiresAt).toBeGreaterThan(now);
  now += 3_600_000;
  expect(await later.getFact("main", { key: "first" })).toBeUndefined();
});

test("a key that a restored backup requires is loaded when its database is reopened", async () => {
  const { memory, path, place, wait } = await opened();
  const other = await tempPlace();
  const theirs = await openTestMemory(other);
  await theirs.storeFact("main", { key: "theirs", value: "x" });
  await theirs.close();
  await rename(other.databasePath, path);
  await rename(other.keyPath, place.keyPath);
  await expectRefused(memory, "store_replaced");
  wait();
  expect((await memory.listFacts("main", {})).facts.map(({ key }) => key)).toEqual(["theirs"]);
});
