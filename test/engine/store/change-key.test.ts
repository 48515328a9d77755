/** Changing a store's key: every row can be decrypted at every moment, and afterwards no row with the former key. */
import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { SealingKeys } from "../../../engine/store/key-ring.ts";
import { parseKey } from "../../../engine/store/master-key.ts";
import type { EntryId } from "../../../engine/store/memory-store.ts";
import { openSqliteStore, openSqliteStoreToChangeKey } from "../../../engine/store/sqlite/open-sqlite.ts";
import { SqliteSession } from "../../../engine/store/sqlite/sqlite-session.ts";
import { openSealer } from "../../../engine/store/sqlite/stored-keys.ts";
import { ANA, allKeys, BEN, bytes, fact, refTo, text } from "../../contract/rig.ts";
import { DRIVERS, KEY, OTHER_KEY, openSqliteRig, type SqliteRig } from "./sqlite-rig.ts";

const SPACE = "a model";
const FORMER = new SealingKeys(KEY);
const CURRENT = new SealingKeys(OTHER_KEY);

/** The rig's two keys. */
const KEY_BYTES = ["00112233445566778899aabbccddeeff".repeat(2), "ff".repeat(32)].map((hex) =>
  Buffer.from(hex, "hex"),
);

const THIRD_KEY = parseKey("0a".repeat(32), "test");

const FEW = 40;
/** Enough for more than one slice. */
const MANY = 1_300;

// verifies P-key-change
describe.each(DRIVERS)("with $name,", (driver) => {
  const withRows =
    (run: (rig: SqliteRig) => Promise<void>, rows = FEW) =>
    async (): Promise<void> => {
      const rig = await openSqliteRig(driver);
      try {
        await rig.store.putMany([
          ...Array.from({ length: rows }, (_, i) => fact(`key-${i}`, `value ${i}`)),
          fact("theirs", "Ben's", { namespace: BEN, writer: { surface: "cli" } }),
        ]);
        await run(rig);
      } finally {
        await rig.dispose();
      }
    };

  async function beginIn({ options }: SqliteRig, key = KEY) {
    const store = await openSqliteStoreToChangeKey({ ...options, key });
    await store.beginKeyChange(OTHER_KEY);
    return store;
  }

  async function expectWhole(rig: SqliteRig, key = KEY, rows = FEW): Promise<void> {
    const store = await openSqliteStore({ ...rig.options, key });
    expect(await store.inspect()).toMatchObject({ entries: rows + 1, unreadable: 0, integrity: "ok" });
    expect(text((await store.get(refTo("key-7")))?.value)).toBe("value 7");
    expect(await store.get(refTo("theirs", { namespace: BEN }))).toMatchObject({
      writer: { surface: "cli" },
    });
    await store.close();
  }

  /** The headers of each table's sealed columns, in the order of the tables. */
  async function headers(rig: SqliteRig): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
    const connection = await driver.open(rig.path, "read");
    try {
      const tables = connection
        .prepare(
          "SELECT m.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c WHERE c.name = 'sealed'",
        )
        .all();
      return new Map(
        tables.map(({ name }) => {
          const rows = connection
            .prepare(`SELECT DISTINCT hex(substr(sealed, 1, 9)) AS header FROM ${name}`)
            .all();
          return [`${name}`, new Set(rows.map(({ header }) => `${header}`.toLowerCase()))];
        }),
      );
    } finally {
      connection.close();
    }
  }

  test(
    "either key opens everything during a change, and afterwards only the new one",
    withRows(async (rig) => {
      const store = await beginIn(rig);
      for (const key of [KEY, OTHER_KEY]) await expectWhole(rig, key);
      await store.reseal();
      for (const key of [KEY, OTHER_KEY]) await expectWhole(rig, key);
      expect(await store.inspect()).toMatchObject({ keys: { current: CURRENT.id, former: FORMER.id } });
      expect(await store.finishKeyChange()).toEqual({
        from: FORMER.id,
        to: CURRENT.id,
        unreadable: 0,
        erased: "complete",
      });
      await store.close();
      await expectWhole(rig, OTHER_KEY);
      await expect(openSqliteStore(rig.options)).rejects.toMatchObject({ code: "key_wrong" });
    }),
  );

  test(
    "every table with sealed data is resealed, and no byte names the former key",
    withRows(async (rig) => {
      const { entry } = await rig.store.put(fact("editor", "vim"));
      const fingerprint = (await rig.store.get(refTo("editor")))?.fingerprint;
      if (fingerprint === undefined) throw new Error("it was just put");
      const made = { id: entry.id, fingerprint, dimensions: 2, vectors: new Float32Array([1, 2]) };
      await rig.store.putVectors(ANA, SPACE, [made]);
      await rig.store.putReferenceVectors(SPACE, made);
      await putHistory(rig, entry.id);
      await rig.store.close();

      const store = await beginIn(rig);
      await store.reseal();
      await store.finishKeyChange();
      expect(await store.vectors({ namespace: ANA, space: SPACE, ids: [entry.id] })).toEqual([made]);
      expect(await store.referenceVectors(SPACE)).toMatchObject({ vectors: made.vectors });
      await store.close();
      const found = await headers(rig);
      expect([...found.keys()].sort()).toEqual(["entries", "history", "reference_vectors", "vectors"]);
      for (const header of found.values()) expect([...header]).toEqual([hexOf(CURRENT.header)]);
      expect(await historyOf(rig, entry.id)).toBe("emacs");
      expect((await readFile(rig.path)).includes(Buffer.from(FORMER.id, "hex"))).toBe(false);
    }),
  );

  async function putHistory(rig: SqliteRig, entryId: EntryId): Promise<void> {
    const connection = await driver.open(rig.path, "write");
    const session = new SqliteSession(connection, rig.path);
    const columns = { number: 1, entryId, writtenAt: 5 };
    const sealed = openSealer(session, KEY).sealHistory(columns, bytes("emacs"));
    session.statement("INSERT INTO history VALUES (1, ?, 5, ?)").run(entryId, sealed);
    connection.close();
  }

  async function historyOf(rig: SqliteRig, entryId: EntryId): Promise<string | undefined> {
    const connection = await driver.open(rig.path, "read");
    const session = new SqliteSession(connection, rig.path);
    const row = session.statement("SELECT sealed FROM history").get();
    const sealer = openSealer(session, OTHER_KEY);
    const sealed = row?.sealed instanceof Uint8Array ? row.sealed : new Uint8Array();
    const content = sealer.openHistory({ number: 1, entryId, writtenAt: 5 }, sealed);
    connection.close();
    return text(content);
  }

  test(
    "a fact that is renewed during the change keeps its history",
    withRows(async (rig) => {
      for (const value of ["emacs", "vim"]) await rig.store.put(fact("editor", value));
      const store = await beginIn(rig);
      await rig.store.renew(refTo("editor"), (_, now) => ({ expiresAt: now + 1_000_000 }));
      await store.reseal();
      await store.finishKeyChange();
      expect((await store.history(refTo("editor"))).map(({ value }) => text(value))).toEqual(["emacs"]);
      await store.close();
    }),
  );

  test(
    "key files are exchanged only while their change is pending",
    withRows(async (rig) => {
      const store = await openSqliteStoreToChangeKey(rig.options);
      let exchanged = 0;
      const exchange = () =>
        store.exchangeKeys(() => {
          exchanged += 1;
        });
      await expect(exchange()).rejects.toMatchObject({ code: "invalid_input" });
      await store.beginKeyChange(OTHER_KEY);
      await exchange();
      await store.reseal();
      await store.finishKeyChange();
      await expect(exchange()).rejects.toMatchObject({ code: "invalid_input" });
      expect(exchanged).toBe(1);
      await store.close();
    }),
  );

  test(
    "a change that is interrupted after any slice can be continued, with either key",
    withRows(async (rig) => {
      const partly = new Set<number>();
      for (const key of [KEY, OTHER_KEY, KEY]) {
        const store = await beginIn(rig, key);
        const stop = new AbortController();
        const run = store.reseal({
          signal: stop.signal,
          onProgress: ({ done, total }) => {
            partly.add(done);
            if (done < total) stop.abort();
          },
        });
        await expect(run).rejects.toThrow();
        await store.close();
        await expectWhole(rig, key, MANY);
      }
      expect(partly.size).toBeGreaterThan(0);
      const store = await beginIn(rig, OTHER_KEY);
      await store.reseal();
      await store.finishKeyChange();
      await store.close();
      await expectWhole(rig, OTHER_KEY, MANY);
    }, MANY),
  );

  test(
    "a process with the store open continues, and finds the new key in the store",
    withRows(async (rig) => {
      const reader = await rig.openReader();
      const changing = await beginIn(rig);
      await rig.store.put(fact("meanwhile", "under the new key"));
      await changing.reseal();
      expect(text((await reader.get(refTo("meanwhile")))?.value)).toBe("under the new key");
      expect(await allKeys(rig.store)).toHaveLength(FEW + 1);
      await changing.finishKeyChange();
      await changing.close();
      await rig.store.put(fact("afterwards", "still"));
      expect(text((await reader.get(refTo("afterwards")))?.value)).toBe("still");
      expect((await headers(rig)).get("entries")).toEqual(new Set([hexOf(CURRENT.header)]));
    }),
  );

  test(
    "a process that detects the change too late reopens the store: nothing is written under the former key",
    withRows(async (rig) => {
      const reader = await rig.openReader();
      const changing = await beginIn(rig);
      await changing.reseal();
      await changing.finishKeyChange();
      await changing.close();
      await expect(rig.store.put(fact("late", "x"))).rejects.toMatchObject({ code: "store_replaced" });
      await expect(reader.get(refTo("key-1"))).rejects.toMatchObject({ code: "store_replaced" });
      await expect(rig.openAgain()).rejects.toMatchObject({ code: "key_wrong" });
      await expectWhole(rig, OTHER_KEY);
    }),
  );

  test(
    "neither key is in any byte of the file or its log while both open the store",
    withRows(async (rig) => {
      const store = await beginIn(rig);
      const files = await Promise.all([readFile(rig.path), readFile(`${rig.path}-wal`)]);
      for (const key of KEY_BYTES) expect(files.map((file) => file.includes(key))).toEqual([false, false]);
      await store.close();
    }),
  );

  test(
    "a row that no key opens is unchanged, and counted",
    withRows(async (rig) => {
      await rig.damage(refTo("key-3"));
      const store = await beginIn(rig);
      await store.reseal();
      expect(await store.finishKeyChange()).toMatchObject({ unreadable: 1 });
      await expect(store.get(refTo("key-3"))).rejects.toMatchObject({ code: "entry_unreadable" });
      await store.close();
    }),
  );

  test(
    "the current key is refused as a new one, and so is another change before this one ends",
    withRows(async (rig) => {
      const store = await openSqliteStoreToChangeKey(rig.options);
      await expect(store.beginKeyChange(KEY)).rejects.toMatchObject({
        code: "invalid_input",
        details: { field: "key" },
      });
      await store.beginKeyChange(OTHER_KEY);
      await store.beginKeyChange(OTHER_KEY);
      await expect(store.beginKeyChange(KEY)).rejects.toMatchObject({
        code: "invalid_input",
        message: expect.stringContaining(CURRENT.id),
      });
      await store.close();
    }),
  );

  test(
    "a late process does not finish a change that began later",
    withRows(async (rig) => {
      const late = await beginIn(rig);
      const early = await beginIn(rig);
      await early.reseal();
      await early.finishKeyChange();
      await early.beginKeyChange(THIRD_KEY);
      await expect(late.finishKeyChange()).rejects.toMatchObject({ code: "invalid_input" });
      await late.close();
      await early.close();
      await expectWhole(rig, THIRD_KEY);
      await expectWhole(rig, OTHER_KEY);
    }),
  );

  // verifies P-upgrade-opens
  test(
    "a database that a newer program upgraded meanwhile is not changed",
    withRows(async (rig) => {
      const store = await openSqliteStoreToChangeKey(rig.options);
      const begun = await beginIn(rig);
      await rig.tamper("PRAGMA user_version = 99");
      const refusal = { code: "store_newer" };
      await expect(store.beginKeyChange(OTHER_KEY)).rejects.toMatchObject(refusal);
      await expect(begun.reseal()).rejects.toMatchObject(refusal);
      await expect(begun.finishKeyChange()).rejects.toMatchObject(refusal);
      await store.close();
      await begun.close();
    }),
  );

  test(
    "the stored keys open only under each other, and only in this store",
    withRows(async (rig) => {
      const store = await beginIn(rig);
      await store.close();
      await rig.tamper("UPDATE store SET new_key = former_key");
      await expect(openSqliteStore(rig.options)).rejects.toMatchObject({ code: "key_wrong" });
      await expectWhole(rig, OTHER_KEY);
      await rig.tamper("UPDATE store SET id = randomblob(16)");
      const stranger = await openSqliteStore({ ...rig.options, key: OTHER_KEY });
      expect(await stranger.inspect()).toMatchObject({ unreadable: FEW + 1 });
      await stranger.close();
    }),
  );
});

function hexOf(header: Uint8Array): string {
  return Buffer.from(header).toString("hex");
}
