/** Puts of the same moment share one transaction; each still keeps or fails alone. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parseKey } from "../../../engine/store/master-key.ts";
import type { MemoryStore } from "../../../engine/store/memory-store.ts";
import { openSqliteStore } from "../../../engine/store/sqlite/open-sqlite.ts";
import type { SqliteDriver } from "../../../engine/store/sqlite/sqlite-driver.ts";
import { ANA, fact, type RigOptions, refTo, text } from "../../contract/rig.ts";
import { DRIVERS, makeQuickFolder } from "../../durability/place.ts";

const KEY = parseKey("5a".repeat(32), "test");
const KEYS = Array.from({ length: 8 }, (_, n) => `fact-${n}`);

/** What a driver runs; `fails` makes a statement fail. */
interface Watched {
  readonly ran: string[];
  fails: (sql: string) => boolean;
}

async function openWatched(driver: SqliteDriver, more: RigOptions = {}) {
  const watched: Watched = { ran: [], fails: () => false };
  const watching: SqliteDriver = {
    ...driver,
    open: async (...place) => {
      const connection = await driver.open(...place);
      return {
        exec: (sql) => connection.exec(sql),
        prepare: (sql) => {
          const statement = connection.prepare(sql);
          return {
            ...statement,
            run: (...values) => {
              watched.ran.push(sql);
              if (watched.fails(sql)) throw new Error("disk I/O error");
              statement.run(...values);
            },
          };
        },
        get inTransaction() {
          return connection.inTransaction;
        },
        close: () => connection.close(),
      };
    },
  };
  const folder = await makeQuickFolder();
  const path = join(folder, "memory.sqlite");
  const store = await openSqliteStore({ path, key: KEY, driver: watching, ...more });
  const again = () => openSqliteStore({ path, key: KEY, driver });
  onTestFinished(async () => {
    await store.close();
    await rm(folder, { recursive: true, force: true });
  });
  return { store, watched, again };
}

async function keysIn(store: MemoryStore): Promise<readonly string[]> {
  const { entries } = await store.listMeta({ namespace: ANA });
  return entries.map(({ key }) => key).sort();
}

test.each(DRIVERS)(
  "$name: puts of one moment share one commit, and each has its own number",
  async (driver) => {
    const { store, watched } = await openWatched(driver);
    await store.put(fact("before", "x"));
    watched.ran.length = 0;
    const put = await Promise.all(KEYS.map((key) => store.put(fact(key, `value of ${key}`))));
    expect(watched.ran.filter((sql) => sql === "COMMIT")).toHaveLength(1);
    const revisions = put.map(({ entry }) => entry.revision);
    const first = revisions[0] ?? 0;
    expect(revisions).toEqual(KEYS.map((_, n) => first + n));
    for (const key of KEYS) expect(text((await store.get(refTo(key)))?.value)).toBe(`value of ${key}`);
  },
);

// verifies P-condition-judged
test.each(DRIVERS)("$name: a refused put takes none of its neighbours, and no number", async (driver) => {
  const { store } = await openWatched(driver);
  const since = await store.put(fact("before", "x"));
  const [one, refused, other] = await Promise.allSettled([
    store.put(fact("one", "x")),
    store.put(fact("refused", "x"), { supersedes: ["before"], upTo: 0 }),
    store.put(fact("other", "x")),
  ]);
  expect([one.status, refused.status, other.status]).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(await keysIn(store)).toEqual(["before", "one", "other"]);
  const changes = await store.changes({ namespace: ANA, since: since.entry.revision });
  expect(changes.kind === "changes" && changes.upserts.map(({ revision }) => revision)).toEqual([
    since.entry.revision + 1,
    since.entry.revision + 2,
  ]);
  expect(await store.revision(ANA)).toBe(since.entry.revision + 2);
});

// verifies P-alone-quota
test.each(DRIVERS)("$name: what a refused put had written is undone with its number", async (driver) => {
  const { store } = await openWatched(driver, { quota: { entries: 3 } });
  await store.put(fact("before", "x"));
  const all = await Promise.allSettled([
    store.put(fact("one", "x")),
    store.put(fact("two", "x")),
    store.put(fact("one", "y")),
    store.put(fact("too many", "x")),
  ]);
  expect(all.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "fulfilled", "rejected"]);
  expect(await keysIn(store)).toEqual(["before", "one", "two"]);
  expect(text((await store.get(refTo("one")))?.value)).toBe("y");
  const changes = await store.changes({ namespace: ANA, since: 0 });
  expect(changes.kind === "changes" && changes.upserts.map(({ revision }) => revision)).toEqual([1, 3, 4]);
  expect((await store.put(fact("two", "y"))).entry.revision).toBe(5);
});

// verifies P-durable-disk-fails, P-durable-sync
test.each(DRIVERS)("$name: when the commit fails, no put of the group is acknowledged", async (driver) => {
  const { store, watched, again } = await openWatched(driver);
  await store.put(fact("before", "x"));
  watched.fails = (sql) => sql === "COMMIT";
  const failed = await Promise.allSettled(KEYS.map((key) => store.put(fact(key, "x"))));
  watched.fails = () => false;
  expect(new Set(failed.map(({ status }) => status))).toEqual(new Set(["rejected"]));
  const other = await again();
  expect(await keysIn(other)).toEqual(["before"]);
  await other.close();
  await store.put(fact("after", "x"));
  expect(await keysIn(store)).toEqual(["after", "before"]);
});

// verifies P-durable-sync
test.each(DRIVERS)("$name: a put is acknowledged only after the commit of its group", async (driver) => {
  const { store, watched } = await openWatched(driver);
  const order: string[] = [];
  watched.fails = (sql) => {
    if (sql === "COMMIT") order.push("commit");
    return false;
  };
  await Promise.all(KEYS.map((key) => store.put(fact(key, "x")).then(() => order.push("acknowledged"))));
  expect(order).toEqual(["commit", ...KEYS.map(() => "acknowledged")]);
});

// verifies P-durable-damage
test.each(DRIVERS)("$name: a put that cannot be carried out fails alone", async (driver) => {
  const { store, watched } = await openWatched(driver);
  await store.put(fact("before", "x"));
  // In the group, and alone.
  const fails = [false, true, false, true, false];
  watched.fails = (sql) => sql.startsWith("INSERT INTO entries") && fails.shift() === true;
  const [one, two, three] = await Promise.allSettled(
    ["one", "two", "three"].map((key) => store.put(fact(key, "x"))),
  );
  expect([one?.status, two?.status, three?.status]).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(await keysIn(store)).toEqual(["before", "one", "three"]);
});

// verifies P-text-lookalikes
test.each(DRIVERS)(
  "$name: of two keys that look alike, stored at one moment, one is refused",
  async (driver) => {
    const { store } = await openWatched(driver);
    const { entry } = await store.put(fact("before", "x"));
    const judged: (readonly string[])[] = [];
    const keysSince = {
      revision: entry.revision,
      judge: (keys: readonly string[]) => void judged.push(keys),
    };
    await Promise.all([
      store.put(fact("one", "x"), { keysSince }),
      store.put(fact("two", "x"), { keysSince }),
    ]);
    expect(judged).toEqual([["one"]]);
  },
);

test.each(DRIVERS)("$name: what is asked for after a put comes after it", async (driver) => {
  const { store } = await openWatched(driver);
  const [, erased] = await Promise.all([store.put(fact("one", "x")), store.delete(refTo("one"))]);
  expect(erased.deleted).toBe(1);
  const put = store.put(fact("two", "x"));
  await Promise.all([put, store.close()]);
});
