/** No statement scans a whole large store: each uses an index. */
import { describe, expect, test } from "vitest";
import { namespaceOf } from "../../../engine/store/namespace.ts";
import { openSqliteStore } from "../../../engine/store/sqlite/open-sqlite.ts";
import type { SqliteDriver } from "../../../engine/store/sqlite/sqlite-driver.ts";
import { ANA, fact, refTo } from "../../contract/rig.ts";
import { madeOf } from "../../contract/vectors.ts";
import { DRIVERS, openSqliteRig } from "./sqlite-rig.ts";

/** These must read everything, from a covering index or row by row. */
const WHOLE_TABLE = [/GROUP BY namespace/, /seq > \? ORDER BY seq LIMIT 500$/];

/** Wraps the driver and collects every statement about entries, removals or vectors. */
function listening(driver: SqliteDriver): { readonly driver: SqliteDriver; readonly heard: Set<string> } {
  const heard = new Set<string>();
  const open: SqliteDriver["open"] = async (path, mode) => {
    const connection = await driver.open(path, mode);
    const prepare: typeof connection.prepare = (sql) => {
      if (/(FROM|INTO) (entries|removals|vectors)/.test(sql)) heard.add(sql);
      return connection.prepare(sql);
    };
    return {
      prepare,
      exec: connection.exec,
      close: connection.close,
      get inTransaction() {
        return connection.inTransaction;
      },
    };
  };
  return { driver: { ...driver, open }, heard };
}

describe.each(DRIVERS)("with $name,", (driver) => {
  test("every statement uses an index, and only a listing by prefix is sorted", async () => {
    const rig = await openSqliteRig(driver);
    const { driver: ears, heard } = listening(driver);
    const store = await openSqliteStore({ ...rig.options, driver: ears });
    try {
      await store.putMany([fact("a", "1"), fact("b", "2"), fact("a", "3")]);
      const { nextCursor = "" } = await store.list({ namespace: ANA, limit: 1 });
      await store.get(refTo("a"));
      await store.list({ namespace: ANA, cursor: nextCursor });
      await store.list({ namespace: ANA, origin: "fact", category: "user_facts", cursor: nextCursor });
      await store.list({ namespace: ANA, origin: "fact", prefix: "a" });
      await store.list({ namespace: ANA, origin: ["fact", "audit"], cursor: nextCursor });
      await store.revision(ANA);
      await store.listMeta({ namespace: ANA, category: "user_facts" });
      await store.countWhere({ namespace: ANA, origins: ["fact", "audit"], category: "user_facts" });
      await store.countWhere({ namespace: ANA, includeSessions: true });
      await store.changes({ namespace: ANA, since: 0 });
      await store.namespaces();
      await store.categories(ANA);
      const made = await madeOf(store, fact("c", "4"));
      await store.putVectors(ANA, "model", [made]);
      await store.vectors({ namespace: ANA, space: "model", ids: [made.id] });
      await store.deleteOtherVectors({ namespace: ANA, space: "other", ids: [made.id] });
      await store.delete(refTo("a"));
      await store.deleteWhere({ namespace: ANA, origins: ["fact"], prefix: "b" });
      await store.deleteWhere({ namespace: namespaceOf("nobody"), includeSessions: true });
      await store.deleteExpired();
      expect(heard.size).toBeGreaterThan(15);
      const connection = await driver.open(rig.path, "read");
      for (const sql of heard) {
        if (
          WHOLE_TABLE.some((pattern) => pattern.test(sql)) ||
          /^INSERT (OR REPLACE )?INTO (entries|vectors)/.test(sql)
        )
          continue;
        const values = Array.from(sql.matchAll(/\?/g), () => 1);
        const plan = connection.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values);
        const steps = plan.map(({ detail }) => String(detail));
        expect([sql, steps.filter((step) => /SCAN (entries|removals|vectors)/.test(step))]).toEqual([
          sql,
          [],
        ]);
        const sorted = steps.some((step) => step.includes("TEMP B-TREE FOR ORDER BY"));
        expect([sql, sorted && !sql.includes("key >= ?")]).toEqual([sql, false]);
      }
      connection.close();
    } finally {
      await store.close();
      await rig.dispose();
    }
  });
});
