/** Known faults of helmdeck's store that this store must not have. Numbers: docs/explanation/helmdeck-faults.md. */
import { describe, expect, test } from "vitest";
import type { MemoryStore } from "../../../engine/store/memory-store.ts";
import { namespaceOf } from "../../../engine/store/namespace.ts";
import { openSqliteStore } from "../../../engine/store/sqlite/open-sqlite.ts";
import {
  ANA,
  allKeys,
  BEN,
  fact,
  HOUR_MS,
  KEPT_EXPIRED_MS,
  letPass,
  refTo,
  text,
} from "../../contract/rig.ts";
import { scanFiles } from "./scanning.ts";
import { DRIVERS, OTHER_KEY, openSqliteRig, type SqliteRig } from "./sqlite-rig.ts";

describe.each(DRIVERS)("with $name,", (driver) => {
  const withRig = (run: (rig: SqliteRig) => Promise<void>) => async (): Promise<void> => {
    const rig = await openSqliteRig(driver);
    try {
      await run(rig);
    } finally {
      await rig.dispose();
    }
  };

  test(
    "fault 3: one row that cannot be decrypted does not make a list fail; it is named, and the others are returned",
    withRig(async ({ store, damage }) => {
      await store.putMany([fact("a", "1"), fact("broken", "2"), fact("c", "3")]);
      await damage(refTo("broken"));
      const page = await store.list({ namespace: ANA });
      expect(page.entries.map(({ key }) => key).sort()).toEqual(["a", "c"]);
      expect(page.unreadable.map(({ key }) => key)).toEqual(["broken"]);
      const changes = await store.changes({ namespace: ANA, since: 0 });
      expect(changes).toMatchObject({
        upserts: [{ key: "a" }, { key: "c" }],
        unreadable: [{ key: "broken" }],
      });
    }),
  );

  test(
    "fault 4: expired rows are really deleted, from the table and from the file's bytes",
    withRig(async ({ store, clock, folder }) => {
      await store.put(fact("expired-key-4711", "v", { expiresAt: clock.now + HOUR_MS }));
      const needle = [{ name: "key", bytes: Buffer.from("expired-key-4711") }];
      expect((await scanFiles([folder], needle)).hits).not.toEqual([]);
      await letPass(store, clock, HOUR_MS + KEPT_EXPIRED_MS);
      expect(await store.inspect()).toMatchObject({ entries: 1, expired: 0 }); // how many ended
      expect((await scanFiles([folder], needle)).hits).toEqual([]);
    }),
  );

  test(
    "fault 5: a prefix has no wildcards and is case-sensitive",
    withRig(async ({ store }) => {
      await store.putMany(["a_b/1", "axb/2", "A_B/3", "100%/4", "100x/5"].map((key) => fact(key, "v")));
      expect(await allKeys(store, { prefix: "a_b/" })).toEqual(["a_b/1"]);
      expect(await allKeys(store, { prefix: "100%" })).toEqual(["100%/4"]);
      expect(await allKeys(store, { prefix: "%" })).toEqual([]);
      expect(await store.deleteWhere({ namespace: ANA, prefix: "a_b" })).toMatchObject({ deleted: 1 });
    }),
  );

  test(
    "fault 6: deleting a key deletes only that key: no longer key, no other case, no other origin",
    withRig(async ({ store }) => {
      await store.putMany([
        ...["deploy", "deployment", "Deploy"].map((key) => fact(key, "v")),
        fact("deploy", "v", { origin: "audit", category: "pack_history" }),
      ]);
      expect(await store.deleteWhere({ namespace: ANA, origins: ["fact"], key: "deploy" })).toMatchObject({
        deleted: 1,
      });
      expect([...(await allKeys(store))].sort()).toEqual(["Deploy", "deploy", "deployment"]);
      expect(await store.get(refTo("deploy", { origin: "audit" }))).toBeDefined();
    }),
  );

  test(
    "fault 7: a fact whose key looks like an audit or cache row affects neither",
    withRig(async ({ store }) => {
      const key = "pack_history/deploy/00000000000000000001";
      await store.put(fact(key, "the real row", { origin: "audit", category: "pack_history" }));
      await store.put(fact(key, "forged by a fact"));
      const audit = await store.list({ namespace: ANA, origin: "audit" });
      expect(audit.entries.map(({ value }) => text(value))).toEqual(["the real row"]);
      await store.deleteWhere({ namespace: ANA, origins: ["fact"] });
      expect(text((await store.get(refTo(key, { origin: "audit" })))?.value)).toBe("the real row");
    }),
  );

  test(
    "fault 14: a sealed value moved to another row does not open there",
    withRig(async (rig) => {
      await rig.store.putMany([fact("mine", "my value"), fact("theirs", "their value", { namespace: BEN })]);
      await rig.tamper(
        "UPDATE entries SET sealed = (SELECT sealed FROM entries WHERE key = 'theirs') WHERE key = 'mine'",
      );
      await expect(rig.store.get(refTo("mine"))).rejects.toMatchObject({ code: "entry_unreadable" });
    }),
  );

  test(
    "fault 14: a wrong key is reported as such, does not silently disable memory, and nothing is written under it",
    withRig(async ({ store, options }) => {
      await store.put(fact("editor", "vim"));
      const opening = openSqliteStore({ ...options, key: OTHER_KEY });
      await expect(opening).rejects.toMatchObject({ code: "key_wrong" });
      expect(await store.inspect()).toMatchObject({ entries: 1, unreadable: 0 });
    }),
  );

  test(
    "fault 14: each sealed value names its key and its format, so that keys can be changed later",
    withRig(async ({ store, path }) => {
      await store.putMany([fact("a", "1"), fact("b", "2")]);
      const connection = await driver.open(path, "read");
      const heads = connection.prepare("SELECT hex(substr(sealed, 1, 9)) AS head FROM entries").all();
      connection.close();
      expect(new Set(heads.map(({ head }) => head)).size).toBe(1);
      expect(heads[0]?.head).toMatch(/^02[0-9A-F]{16}$/);
    }),
  );

  test(
    "fault 15: a subject with a colon and a subject's session are two namespaces, for reading, counting and deleting",
    withRig(async ({ store }) => {
      const subject = namespaceOf("ana:s1");
      const session = namespaceOf("ana", "s1");
      await store.put(fact("k", "of the subject", { namespace: subject }));
      await store.put(fact("k", "of the session", { namespace: session }));
      await expectValue(store, subject, "of the subject");
      await expectValue(store, session, "of the session");
      expect(await store.countWhere({ namespace: ANA, includeSessions: true })).toBe(1);
      await store.deleteWhere({ namespace: ANA, includeSessions: true });
      await expectValue(store, subject, "of the subject");
      await expectValue(store, session, undefined);
    }),
  );
});

async function expectValue(
  store: MemoryStore,
  namespace: ReturnType<typeof namespaceOf>,
  value: string | undefined,
): Promise<void> {
  expect(text((await store.get(refTo("k", { namespace })))?.value)).toBe(value);
}
