/** The file no longer contains the bytes of deleted data, or the answer says that it still does. */
import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { namespaceOf } from "../../../engine/store/namespace.ts";
import { openSqliteStore } from "../../../engine/store/sqlite/open-sqlite.ts";
import { ANA, fact, HOUR_MS, KEPT_EXPIRED_MS, letPass, refTo } from "../../contract/rig.ts";
import { childPath, spawnChild } from "./processes.ts";
import { type Needle, scanFiles } from "./scanning.ts";
import { DRIVERS, openSqliteRig, type SqliteRig } from "./sqlite-rig.ts";

/** A rig for one test, cleaned up afterwards. */
async function using(rig: Promise<SqliteRig>, run: (rig: SqliteRig) => Promise<void>): Promise<void> {
  const opened = await rig;
  try {
    await run(opened);
  } finally {
    await opened.dispose();
  }
}

/** Parts of some entries' ciphertexts, short enough to fit within one page. */
async function ciphertexts(rig: SqliteRig, where: string): Promise<readonly Needle[]> {
  const connection = await rig.options.driver.open(rig.path, "read");
  const rows = connection.prepare(`SELECT key, sealed FROM entries WHERE ${where}`).all();
  connection.close();
  return rows.flatMap(({ key, sealed }) => {
    if (!(sealed instanceof Uint8Array)) throw new Error("sealed values are bytes");
    const starts = [9, Math.floor(sealed.byteLength / 2), sealed.byteLength - 16];
    return starts.map((start) => ({ name: `${key} at ${start}`, bytes: sealed.slice(start, start + 16) }));
  });
}

async function found(rig: SqliteRig, needles: readonly Needle[]): Promise<readonly string[]> {
  return (await scanFiles([rig.folder], needles)).hits;
}

// verifies P-disk-forgotten
describe.each(DRIVERS)("with $name,", (driver) => {
  test("a deleted entry leaves neither ciphertext nor key, short or long", () =>
    using(openSqliteRig(driver), async (rig) => {
      const long = Buffer.alloc(100_000, "long ");
      await rig.store.putMany([
        fact("secret-key-short", "short"),
        fact("secret-key-long", "", { value: long }),
        fact("stays", "here"),
      ]);
      const needles = [
        ...(await ciphertexts(rig, "key LIKE 'secret-%'")),
        { name: "the key itself", bytes: Buffer.from("secret-key") },
      ];
      expect(new Set((await found(rig, needles)).map((hit) => hit.split(": ")[1])).size).toBe(needles.length);
      expect(await rig.store.delete(refTo("secret-key-short"))).toEqual({ deleted: 1, erased: "complete" });
      expect(await rig.store.delete(refTo("secret-key-long"))).toEqual({ deleted: 1, erased: "complete" });
      expect(await found(rig, needles)).toEqual([]);
      expect(await found(rig, await ciphertexts(rig, "key = 'stays'"))).not.toEqual([]);
    }));

  test("entries deleted by a filter leave no byte, however pages were split and merged", () =>
    using(openSqliteRig(driver), async (rig) => {
      const sizes = Array.from({ length: 1_200 }, (_, i) => (i * 7_919) % 1_500);
      const entries = sizes.map((size, i) =>
        fact(`${i % 3 === 0 ? "stays" : "goes"}/${(i * 3_571) % 1_200}`, "", { value: randomBytes(size) }),
      );
      for (let at = 0; at < entries.length; at += 100) await rig.store.putMany(entries.slice(at, at + 100));
      await rig.store.deleteWhere({ namespace: ANA, prefix: "goes/1" });
      await rig.store.putMany(entries.slice(0, 200));
      const needles = await ciphertexts(rig, "key LIKE 'goes/%'");
      expect(needles.length).toBeGreaterThan(1_000);
      const { deleted, erased } = await rig.store.deleteWhere({ namespace: ANA, prefix: "goes/" });
      expect([deleted, erased]).toEqual([needles.length / 3, "complete"]);
      expect(await found(rig, needles)).toEqual([]);
    }));

  test("expired entries leave no byte after a sweep, and neither do overwritten values", () =>
    using(openSqliteRig(driver), async (rig) => {
      await rig.store.put(fact("dies", "soon", { expiresAt: rig.clock.now + HOUR_MS }));
      await rig.store.put(fact("changes", "old value"));
      const needles = await ciphertexts(rig, "1");
      await rig.store.put(fact("changes", "new value"));
      await letPass(rig.store, rig.clock, HOUR_MS + KEPT_EXPIRED_MS);
      expect(await rig.store.inspect()).toMatchObject({ entries: 2, expired: 0 }); // one counts what ended
      expect(await found(rig, needles)).toEqual([]);
    }));

  test.each([1_000, 1])(
    "the name of a forgotten subject goes with the next sweep, %i erased at once",
    (eraseAtOnce) =>
      using(openSqliteRig(driver, { eraseAtOnce }), async (rig) => {
        const session = namespaceOf("mallory", "session-1");
        const theirs = [namespaceOf("mallory"), session].map((namespace) => fact("k", "v", { namespace }));
        await rig.store.putMany([
          ...theirs,
          ...theirs.map((one) => ({ ...one, key: "l" })),
          fact("stays", "here"),
        ]);
        await rig.store.deleteWhere({ namespace: namespaceOf("mallory"), includeSessions: true });
        await rig.store.delete(refTo("none"));
        const name = [{ name: "the name", bytes: Buffer.from("mallory") }];
        expect(await found(rig, name)).not.toEqual([]);
        await rig.store.deleteExpired();
        expect(await found(rig, name)).toEqual([]);
        expect(await rig.store.get(refTo("stays"))).toBeDefined();
      }),
  );

  test("an active reader makes the erasure pending; the next sweep completes it", () =>
    using(openSqliteRig(driver), async (rig) => {
      await rig.store.put(fact("secret", "value"));
      const needles = await ciphertexts(rig, "key = 'secret'");
      const reader = spawnChild(childPath("hold-lock.ts"), [
        driver.name,
        rig.path,
        "BEGIN",
        "SELECT count(*) FROM entries",
      ]);
      await reader.next();
      expect(await rig.store.delete(refTo("secret"))).toEqual({ deleted: 1, erased: "pending" });
      expect(await rig.store.get(refTo("secret"))).toBeUndefined();
      expect(await found(rig, needles)).not.toEqual([]);
      expect(await rig.store.deleteExpired()).toEqual({ deleted: 0, erased: "pending" });
      reader.process.stdin?.end();
      await reader.ended();
      expect(await rig.store.deleteExpired()).toEqual({ deleted: 0, erased: "complete" });
      expect(await found(rig, needles)).toEqual([]);
    }));

  test("data that an undo leaves is erased by the next delete, which reports a delay by a reader", () =>
    using(openSqliteRig(driver), async (rig) => {
      await rig.store.put(fact("changes", "first"));
      await rig.store.put(fact("changes", "second"));
      const needles = await ciphertexts(rig, "key = 'changes'");
      const reader = spawnChild(childPath("hold-lock.ts"), [
        driver.name,
        rig.path,
        "BEGIN",
        "SELECT count(*) FROM entries",
      ]);
      await reader.next();
      expect(await rig.store.undo(refTo("changes"), { erasesLater: true })).toBeDefined();
      expect(await rig.store.delete(refTo("nothing"))).toEqual({ deleted: 0, erased: "pending" });
      expect(await found(rig, needles)).not.toEqual([]);
      reader.process.stdin?.end();
      await reader.ended();
      expect(await rig.store.delete(refTo("nothing"))).toEqual({ deleted: 0, erased: "complete" });
      expect(await found(rig, needles)).toEqual([]);
    }));

  test("a delete waits for a reader only briefly", () =>
    using(openSqliteRig(driver), async (rig) => {
      await rig.store.put(fact("secret", "value"));
      const reader = spawnChild(childPath("hold-lock.ts"), [
        driver.name,
        rig.path,
        "BEGIN",
        "SELECT 1 FROM entries",
      ]);
      await reader.next();
      // Much longer than a delete takes, so that the test also passes on a busy machine.
      const busyTimeoutMs = 30_000;
      const patient = await openSqliteStore({ ...rig.options, busyTimeoutMs });
      const start = performance.now();
      await patient.delete(refTo("secret"));
      expect(performance.now() - start).toBeLessThan(busyTimeoutMs);
      reader.process.stdin?.end();
      await reader.ended();
      await patient.close();
    }));

  test("a delete that finds nothing does not change the log", () =>
    using(openSqliteRig(driver), async (rig) => {
      await rig.store.put(fact("stays", "value"));
      expect(await rig.store.delete(refTo("not there"))).toEqual({ deleted: 0, erased: "complete" });
      const { files } = await scanFiles([rig.folder], []);
      expect(files.find((file) => file.startsWith("memory.sqlite-wal"))).not.toBe("memory.sqlite-wal 0");
    }));
});
