/** Several processes and libraries with one file: they create it once, share it, and see changes in the same order. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { loadOrMakeKey } from "../../../engine/store/find-key.ts";
import { betterSqliteDriver } from "../../../engine/store/sqlite/better-sqlite-driver.ts";
import { nodeSqliteDriver } from "../../../engine/store/sqlite/node-sqlite-driver.ts";
import { openSqliteStore } from "../../../engine/store/sqlite/open-sqlite.ts";
import { ANA, allKeys, fact, refTo, text } from "../../contract/rig.ts";
import { sized } from "../../run/size.ts";
import { childPath, spawnChild } from "./processes.ts";
import { DRIVERS, KEY, makeTempFolder } from "./sqlite-rig.ts";

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await makeTempFolder();
  path = join(folder, "data", "memory.sqlite");
});

afterEach(() => rm(folder, { recursive: true, force: true }));

// verifies P-durable-cold-start
describe("a cold database", () => {
  test.each(Array.from({ length: sized(1, 10) }, (_, i) => i + 1))(
    "opened by eight processes at once is created once, with one key, and loses nothing (round %i)",
    async () => {
      const keyPath = join(folder, "memory.key");
      const names = Array.from({ length: 8 }, (_, i) => `p${i}`);
      const children = names.map((name, i) => {
        const driver = DRIVERS[i % 2]?.name ?? "";
        return spawnChild(childPath("race.ts"), [driver, path, keyPath, name]);
      });
      for (const child of children) expect(await child.next()).toEqual({ ready: true });
      for (const child of children) child.say("go\n");
      const results = await Promise.all(children.map((child) => child.next()));
      await Promise.all(children.map((child) => child.ended()));
      expect(results.filter((result) => result.code !== undefined)).toEqual([]);
      expect(results.filter((result) => result.made === true)).toHaveLength(1);
      for (const { settings } of results)
        expect(settings).toMatchObject({ journalMode: "wal", synchronous: 2 });

      const { key } = await loadOrMakeKey({ env: {}, keyPath, databasePath: path });
      const store = await openSqliteStore({ path, key, driver: nodeSqliteDriver });
      expect(await store.inspect()).toMatchObject({ entries: 40, unreadable: 0, integrity: "ok" });
      const keys = [...(await allKeys(store))].sort();
      expect(keys).toEqual(names.flatMap((name) => [0, 1, 2, 3, 4].map((i) => `${name}/${i}`)).sort());
      await store.close();
    },
  );
});

describe.each([
  [betterSqliteDriver, nodeSqliteDriver],
  [nodeSqliteDriver, betterSqliteDriver],
])("two processes, this one with $name", (here, there) => {
  test("share one file: each reads and changes the other's writes, and the feed reports both", async () => {
    const store = await openSqliteStore({ path, key: KEY, driver: here });
    try {
      await store.put(fact("mine", "value of mine"));
      await store.put(fact("both", "mine first"));
      const before = await store.changes({ namespace: ANA, since: 0 });
      for (const key of ["theirs", "both"]) {
        const child = spawnChild(childPath("open-and-put.ts"), [there.name, path, key]);
        expect(await child.result()).toEqual({ id: expect.stringMatching(/^mem_/) });
      }
      expect(text((await store.get(refTo("theirs")))?.value)).toBe("value of theirs");
      const cursor = before.kind === "changes" ? before.cursor : -1;
      const after = await store.changes({ namespace: ANA, since: cursor });
      expect(after).toMatchObject({
        upserts: [{ key: "theirs" }, { key: "both" }],
        removed: [],
        unreadable: [],
      });
      await store.put(fact("both", "mine again"));
      expect(await store.inspect()).toMatchObject({ entries: 3, unreadable: 0, integrity: "ok" });
    } finally {
      await store.close();
    }
  });

  test("write at the same time and wait for each other", async () => {
    const store = await openSqliteStore({ path, key: KEY, driver: here, busyTimeoutMs: 20_000 });
    try {
      const children = [1, 2, 3].map((i) =>
        spawnChild(childPath("open-and-put.ts"), [i === 2 ? here.name : there.name, path, `child${i}`]),
      );
      const results = Promise.all(children.map((child) => child.result()));
      for (let i = 0; i < 50; i++) {
        await store.put(fact(`mine${i}`, "v"));
        await new Promise(setImmediate);
      }
      for (const result of await results) expect(result).toEqual({ id: expect.any(String) });
      expect(await store.inspect()).toMatchObject({ entries: 53, unreadable: 0, integrity: "ok" });
    } finally {
      await store.close();
    }
  });
});
