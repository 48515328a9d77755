/** A damaged page only affects its own rows: all others are listed, found, and copied to a new database. */
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openSqliteStore } from "../../../engine/store/sqlite/open-sqlite.ts";
import { repairDatabase, type UnreadableRow, verifyDatabase } from "../../../engine/store/sqlite/repair.ts";
import { follow } from "../../contract/feed.ts";
import { ANA, allKeys, fact, HOUR_MS, refTo, text } from "../../contract/rig.ts";
import { madeOf } from "../../contract/vectors.ts";
import { DRIVERS, openSqliteRig, type SqliteRig } from "./sqlite-rig.ts";

const PAGE_BYTES = 4_096;
const ROWS = 200;
/** Makes an index a partial one; without these bytes it is complete, but its rows are missing. */
const ONLY_SOME = " WHERE namespace IS NULL";

// verifies P-durable-damage
describe.each(DRIVERS)("with $name,", (driver) => {
  /** Prepares a closed database without a log, so that one file contains everything. */
  const withRows = (run: (rig: SqliteRig) => Promise<void>) => async (): Promise<void> => {
    const rig = await openSqliteRig(driver);
    try {
      await rig.store.putMany(
        Array.from({ length: ROWS }, (_, i) =>
          fact(`key-${i}`, `value ${i}`, { tags: ["t"], createdAt: i, expiresAt: rig.clock.now + HOUR_MS }),
        ),
      );
      const made = await madeOf(rig.store, fact("with vectors", "v"));
      await rig.store.putVectors(ANA, "model", [made]);
      await rig.store.close();
      await run(rig);
    } finally {
      await rig.dispose();
    }
  };

  async function valueIn(rig: SqliteRig, sql: string): Promise<Uint8Array> {
    const connection = await driver.open(rig.path, "read");
    const [value] = Object.values(connection.prepare(sql).get() ?? {});
    connection.close();
    if (!(value instanceof Uint8Array)) throw new Error("a blob was asked for");
    return value;
  }

  /** Damages the beginning of the page that contains these bytes, or more of it. */
  async function spoilPage(rig: SqliteRig, bytes: Uint8Array, length = 64): Promise<void> {
    const file = await readFile(rig.path);
    const at = file.indexOf(bytes);
    expect(at).toBeGreaterThan(PAGE_BYTES);
    const page = at - (at % PAGE_BYTES);
    file.fill(0xff, page, page + length);
    await writeFile(rig.path, file);
  }

  const aRow = (rig: SqliteRig) => valueIn(rig, "SELECT sealed FROM entries WHERE key = 'key-77'");
  const placeOf = ({ options: { path, key } }: SqliteRig) => ({ path, key, driver });

  async function verified(rig: SqliteRig) {
    const rows: UnreadableRow[] = [];
    const onUnreadable = (row: UnreadableRow): void => void rows.push(row);
    return { ...(await verifyDatabase({ ...placeOf(rig), onUnreadable })), rows };
  }

  test(
    "a list and the change feed return everything on other pages, and report unreadable rows by key",
    withRows(async (rig) => {
      await spoilPage(rig, await aRow(rig));
      const store = await rig.openReader();
      const { entries, unreadable } = await store.list({ namespace: ANA, limit: 1_000 });
      expect(unreadable.map(({ key }) => key)).toContain("key-77");
      expect(unreadable.length).toBeLessThan(ROWS / 4);
      expect(entries.length + unreadable.length).toBe(ROWS + 1);
      const changes = await store.changes({ namespace: ANA, since: 0, limit: 1_000 });
      if (changes.kind !== "changes") throw new Error("read from the beginning");
      expect(changes.upserts).toHaveLength(entries.length);
      expect(changes.unreadable.map(({ key }) => key).sort()).toEqual(
        unreadable.map(({ key }) => key).sort(),
      );
      expect((await follow(store, 0, 7)).size).toBe(entries.length);
      expect(await store.get(refTo("key-0"))).toBeDefined();
      await store.close();
    }),
  );

  test(
    "a listing with a prefix or of names only, a get and the counts return entries on other pages, and report the rest",
    withRows(async (rig) => {
      await spoilPage(rig, await aRow(rig));
      const store = await rig.openReader();
      const { entries, unreadable } = await store.list({ namespace: ANA, limit: 1_000 });
      const lost = new Set(unreadable.map(({ key }) => key));
      const seven = (keys: Iterable<string>) => [...keys].filter((key) => key.startsWith("key-7")).sort();
      const listed: string[] = [];
      const told: string[] = [];
      for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
        const page = await store.list({
          namespace: ANA,
          prefix: "key-7",
          limit: 3,
          ...(cursor && { cursor }),
        });
        expect(page.entries.length + page.unreadable.length).toBeLessThanOrEqual(3);
        listed.push(...page.entries.map(({ key }) => key));
        told.push(...page.unreadable.map(({ key }) => key));
        cursor = page.nextCursor;
      }
      expect(listed.sort()).toEqual(seven(entries.map(({ key }) => key)));
      expect(told.sort()).toEqual(seven(lost));
      const names = await store.listMeta({ namespace: ANA, limit: 1_000 });
      expect(names.entries).toHaveLength(ROWS + 1);
      expect(names.entries.find(({ key }) => key === "key-77")).toMatchObject({ tags: [] });
      for (const key of lost)
        await expect(store.get(refTo(key))).rejects.toMatchObject({ code: "entry_unreadable" });
      expect(text((await store.get(refTo("key-0")))?.value)).toBe("value 0");
      expect(await store.countWhere({ namespace: ANA })).toBe(ROWS + 1);
      expect(await store.categories(ANA)).toMatchObject([{ count: ROWS + 1 }]);
      expect(await store.namespaces()).toEqual([{ namespace: ANA, count: ROWS + 1 }]);
      await store.close();
    }),
  );

  test(
    "an entry is found if the index of keys is damaged; if it may have been on a damaged page, that is reported",
    withRows(async (rig) => {
      const file = await readFile(rig.path);
      const connection = await driver.open(rig.path, "read");
      const pages = connection
        .prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_autoindex_entries_2'")
        .all();
      connection.close();
      const at = (Number(pages[0]?.rootpage) - 1) * PAGE_BYTES;
      await writeFile(rig.path, file.fill(0xff, at, at + 64));
      const store = await rig.openReader();
      expect(text((await store.get(refTo("key-77")))?.value)).toBe("value 77");
      await expect(store.get(refTo("no such key"))).rejects.toMatchObject({ code: "store_corrupt" });
      await store.close();
    }),
  );

  test(
    "an index without its rows is reported, although every row can be read",
    withRows(async (rig) => {
      await rig.tamper("DROP INDEX entries_by_change");
      await rig.tamper(`CREATE INDEX entries_by_change ON entries (namespace)${ONLY_SOME}`);
      const partial = await rig.openReader();
      expect(await partial.inspect()).toMatchObject({ entries: ROWS + 1, unreadable: 0, integrity: "ok" });
      await partial.close();
      const file = await readFile(rig.path);
      await writeFile(
        rig.path,
        file.fill(" ", file.indexOf(ONLY_SOME), file.indexOf(ONLY_SOME) + ONLY_SOME.length),
      );
      const reader = await rig.openReader();
      expect(await reader.inspect()).toMatchObject({
        entries: ROWS + 1,
        unreadable: 0,
        integrity: "damaged",
      });
    }),
  );

  test(
    "verify accepts a sound database, and names an edited row",
    withRows(async (rig) => {
      expect(await verified(rig)).toEqual({
        entries: ROWS + 1,
        vectors: 1,
        history: 0,
        unreadable: 0,
        log: "whole",
        rows: [],
      });
      await rig.tamper("UPDATE entries SET expires_at = 1 WHERE key = 'key-5'");
      expect(await verified(rig)).toMatchObject({
        entries: ROWS,
        unreadable: 1,
        rows: [{ table: "entries", key: "key-5", namespace: "ana" }],
      });
    }),
  );

  test(
    "repair writes everything that opens into a new database, with times and vectors, and keeps the old one",
    withRows(async (rig) => {
      await spoilPage(rig, await aRow(rig));
      const hash = async () =>
        createHash("sha256")
          .update(await readFile(rig.path))
          .digest("hex");
      const before = await hash();
      const { entries, unreadable } = await verified(rig);
      expect(entries + unreadable).toBe(ROWS + 1);
      const to = join(rig.folder, "new.sqlite");
      expect(await repairDatabase({ ...placeOf(rig), to })).toMatchObject({
        entries,
        vectors: 1,
        unreadable,
      });
      expect(await hash()).toBe(before);
      const store = await openSqliteStore({ ...rig.options, path: to });
      expect(await store.inspect()).toMatchObject({ entries, unreadable: 0, integrity: "ok" });
      expect(await store.get(refTo("key-0"))).toMatchObject({
        createdAt: 0,
        tags: ["t"],
        expiresAt: rig.clock.now + HOUR_MS,
      });
      const id = (await store.get(refTo("with vectors")))?.id;
      expect(await store.vectors({ namespace: ANA, space: "model", ids: id ? [id] : [] })).toHaveLength(1);
      await store.put(fact("key-77", "again"));
      expect(text((await store.get(refTo("key-77")))?.value)).toBe("again");
      expect(await allKeys(store)).toHaveLength(entries + 1);
      await store.close();
      await expect(repairDatabase({ ...placeOf(rig), to })).rejects.toMatchObject({ code: "invalid_input" });
    }),
  );

  test(
    "when the store's own row is damaged, its id is found on that page",
    withRows(async (rig) => {
      await spoilPage(rig, await valueIn(rig, "SELECT id FROM store"));
      await expect(openSqliteStore(rig.options)).rejects.toMatchObject({ code: "store_corrupt" });
      const to = join(rig.folder, "new.sqlite");
      expect(await repairDatabase({ ...placeOf(rig), to })).toMatchObject({
        entries: ROWS + 1,
        vectors: 1,
        unreadable: 0,
      });
    }),
  );

  test(
    "when that page is lost, the store's id is found elsewhere",
    withRows(async (rig) => {
      const id = await valueIn(rig, "SELECT id FROM store");
      await spoilPage(rig, id, PAGE_BYTES);
      await expect(openSqliteStore(rig.options)).rejects.toMatchObject({ code: "store_corrupt" });
      const to = join(rig.folder, "new.sqlite");
      await expect(repairDatabase({ ...placeOf(rig), to })).rejects.toMatchObject({ code: "store_corrupt" });
      const storeIds = ["00".repeat(16), Buffer.from(id).toString("hex")];
      expect(await repairDatabase({ ...placeOf(rig), to, storeIds })).toMatchObject({
        entries: ROWS + 1,
        vectors: 1,
        unreadable: 0,
      });
      const store = await openSqliteStore({ ...rig.options, path: to });
      expect(await allKeys(store)).toHaveLength(ROWS + 1);
      await store.close();
    }),
  );
});
