/** Moving a memory: the same rows in both directions, despite interruptions, and never open in two places. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { moveMemory, type OpenPlace, planMove, reopenMemory } from "../../app/moving/move-memory.ts";
import { placeAddress, storePlace } from "../../app/moving/store-place.ts";
import type { MovableStore } from "../../engine/store/moving/movable-store.ts";
import { namespaceOf } from "../../engine/store/namespace.ts";
import { betterSqliteDriver } from "../../engine/store/sqlite/better-sqlite-driver.ts";
import { openSqliteStore } from "../../engine/store/sqlite/open-sqlite.ts";
import { KEY, makeTempFolder, OTHER_KEY } from "../engine/store/sqlite-rig.ts";
import { makeMemory, rowsIn } from "./rows.ts";

let folder: string;
let [here, there] = ["", ""];
beforeEach(async () => {
  folder = await makeTempFolder();
  [here, there] = [join(folder, "here.sqlite"), join(folder, "there.sqlite")];
  await makeMemory(here, betterSqliteDriver);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const placeAt = (path: string, key = KEY) =>
  storePlace({ address: { kind: "sqlite", name: path }, key, driver: betterSqliteDriver });
const move = (from: string, to: string, more: { from?: OpenPlace; to?: OpenPlace } = {}) =>
  moveMemory({ from: placeAt(from), to: placeAt(to), key: KEY, now: () => 1_000_000_000_000, ...more });
const open = (path: string) => openSqliteStore({ path, key: KEY, driver: betterSqliteDriver });
const fact = (key: string) => ({
  ...{ namespace: namespaceOf("main"), origin: "fact" as const, key, category: "user_facts" },
  ...{ tags: [], value: Buffer.from(key) },
});

async function rowsAt(path: string) {
  const store = await placeAt(path)("look");
  try {
    return store && (await rowsIn(store));
  } finally {
    await store?.close();
  }
}

type Method = "replace" | "finish" | "markAway" | "begin";

/** A place with one method replaced. */
function placeWith<Name extends Method>(
  path: string,
  name: Name,
  instead: (store: MovableStore) => MovableStore[Name],
): OpenPlace {
  return async (to) => {
    const store = await placeAt(path)(to);
    if (store === undefined) return undefined;
    const other = instead(store);
    return new Proxy(store, {
      get: (target, asked) => {
        const member = asked === name ? other : Reflect.get(target, asked, target);
        return typeof member === "function" ? member.bind(target) : member;
      },
    });
  };
}

/** A place that fails at the nth call of this method, as if the process were killed there. */
function failingAt(path: string, name: Method, nth = 1): OpenPlace {
  let calls = 0;
  return placeWith(path, name, (store) => (...given: unknown[]) => {
    calls += 1;
    if (calls === nth) throw new Error("killed");
    return Reflect.apply(store[name], store, given);
  });
}

// verifies P-move-same
test("a move there and back keeps every row byte for byte, and both stores accept writes", async () => {
  const before = await rowsAt(here);
  const counts = { entries: 60, history: 12, vectors: 24, reference_vectors: 1 };
  expect(await planMove({ from: placeAt(here), to: placeAt(there), key: KEY, now: Date.now })).toMatchObject({
    rows: counts,
    resumes: false,
  });
  expect(await move(here, there)).toMatchObject({ rows: counts, copied: 97, kept: 0, removed: 0 });
  expect(await rowsAt(there)).toEqual(before);
  expect(await rowsAt(here)).toEqual(before);

  const store = await open(there);
  expect(await store.inspect({ mayBlock: true })).toMatchObject({ entries: 60, unreadable: 0 });
  expect(await store.usage(namespaceOf("main"))).toMatchObject({ entries: 40 });
  await store.put(fact("new"));
  await store.put({ ...fact("k/0\u{1f980}"), value: Buffer.from("changed") });
  await store.delete(fact("k/1\u{1f980}"));
  await store.close();

  const later = await rowsAt(there);
  expect(await move(there, here)).toMatchObject({ copied: expect.any(Number), removed: expect.any(Number) });
  expect(await rowsAt(here)).toEqual(later);
  const back = await open(here);
  expect(await back.inspect({ mayBlock: true })).toMatchObject({ unreadable: 0 });
  expect(await back.usage(namespaceOf("main"))).toMatchObject({ entries: 40 });
  await back.close();
});

describe("an interrupted move", () => {
  // verifies P-move-one-place
  test.each([
    { at: "its beginning", from: undefined, to: "begin", source: "open", target: "empty" },
    { at: "the first rows", from: undefined, to: "replace", source: "open", target: "closed" },
    { at: "the source's end", from: "markAway", to: undefined, source: "open", target: "closed" },
    { at: "the target's opening", from: undefined, to: "finish", source: "closed", target: "closed" },
  ] as const)(
    "at $at never leaves two databases open, and can be continued",
    async ({ from, to, source, target }) => {
      const before = await rowsAt(here);
      const interrupted = move(here, there, {
        ...(from && { from: failingAt(here, from) }),
        ...(to && { to: failingAt(there, to) }),
      });
      await expect(interrupted).rejects.toThrow("killed");
      const stateOf = (path: string) =>
        open(path).then(
          async (store) => {
            const { entries } = await store.inspect({ mayBlock: true });
            await store.close();
            return entries === 0 ? "empty" : "open";
          },
          ({ code }) => (code === "store_moved" ? "closed" : code),
        );
      expect([await stateOf(here), await stateOf(there)]).toEqual([source, target]);
      await move(here, there);
      expect(await rowsAt(there)).toEqual(before);
      expect([await stateOf(here), await stateOf(there)]).toEqual(["closed", "open"]);
    },
  );

  // verifies P-move-same
  test("includes the source's later changes when it is continued", async () => {
    await expect(move(here, there, { to: failingAt(there, "replace", 2) })).rejects.toThrow("killed");
    const store = await open(here);
    await store.put({ ...fact("k/0\u{1f980}"), value: Buffer.from("changed") });
    await store.delete(fact("k/1\u{1f980}"));
    await store.close();
    const now = await rowsAt(here);
    const moved = await move(here, there);
    expect(moved).toMatchObject({ resumes: true });
    expect(moved.kept).toBeGreaterThan(50);
    expect(moved.removed).toBeGreaterThan(0);
    expect(await rowsAt(there)).toEqual(now);
  });
});

// verifies P-move-one-place
test("a move detects a row that was not copied correctly, and keeps the source open", async () => {
  const spoiling = placeWith(
    there,
    "replace",
    (store) => (table, rows) => store.replace(table, { ...rows, insert: rows.insert.slice(1) }),
  );
  await expect(move(here, there, { to: spoiling })).rejects.toMatchObject({ code: "store_corrupt" });
  await (await open(here)).close();
  await expect(open(there)).rejects.toMatchObject({ code: "store_moved" });
});

describe("a move refuses", () => {
  test("a target that holds another memory", async () => {
    await makeMemory(there, betterSqliteDriver, 1);
    const before = await rowsAt(there);
    await expect(move(here, there)).rejects.toMatchObject({ code: "store_not_ours" });
    expect(await rowsAt(there)).toEqual(before);
  });

  test("a source that another process has open, that has moved, or that another key sealed", async () => {
    const other = await open(here);
    await expect(move(here, there)).rejects.toMatchObject({ code: "store_locked" });
    await other.close();
    const asked = { from: placeAt(here), to: placeAt(there), now: Date.now };
    await expect(planMove({ ...asked, key: OTHER_KEY })).rejects.toMatchObject({ code: "key_wrong" });
    await move(here, there);
    await expect(move(here, join(folder, "third"))).rejects.toMatchObject({ code: "store_moved" });
    await expect(move(here, there)).rejects.toMatchObject({ code: "store_moved" });
  });
});

test("the old database can be reopened if the new one is lost", async () => {
  await move(here, there);
  await expect(open(here)).rejects.toThrow(/was moved to .*there\.sqlite on 2001-09-09 .* --reopen\.$/);
  expect(await reopenMemory(placeAt(here))).toMatchObject({ was: there });
  await (await open(here)).close();
  await expect(move(there, here)).rejects.toMatchObject({ code: "store_moved" }); // both databases contain new writes
  await expect(reopenMemory(placeAt(here))).rejects.toMatchObject({ code: "invalid_input" });
});

test("a connection to another machine always verifies its certificate", async () => {
  const read = (typed: string) => placeAddress(typed, "--to", { env: {}, homeDir: folder, from: "argument" });
  const far = { kind: "postgres", reached: { connection: { ssl: { rejectUnauthorized: true } } } };
  expect(await read("postgres://owner@db.example/memory")).toMatchObject(far);
  const near = { kind: "postgres", reached: { connection: { ssl: false } } };
  expect(await read("postgres://owner@localhost/memory")).toMatchObject(near);
});
