/** Vectors in the file: sealed, bound to entry, owner, value and model, and erased with their entry. Also: older files. */
import { copyFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { EntryVectors, MemoryStore, NewEntry } from "../../../engine/store/memory-store.ts";
import { openSqliteReader, openSqliteStore } from "../../../engine/store/sqlite/open-sqlite.ts";
import type { SqliteDriver } from "../../../engine/store/sqlite/sqlite-driver.ts";
import {
  ANA,
  allKeys,
  BEN,
  fact,
  HOUR_MS,
  KEPT_EXPIRED_MS,
  letPass,
  refTo,
  START,
  text,
} from "../../contract/rig.ts";
import { madeOf, references } from "../../contract/vectors.ts";
import { childPath, spawnChild } from "./processes.ts";
import { formsOf, type Needle, scanFiles } from "./scanning.ts";
import { DRIVERS, KEY, makeTempFolder, openSqliteRig, type SqliteRig } from "./sqlite-rig.ts";

const SPACE = "small-model";
const OTHER_SPACE = "large-model";
/** A database of schema 1: two facts of Ana's, one of Ben's, an audit row, and a removal. */
const SCHEMA_1 = join(import.meta.dirname, "../../data/memory-schema-1.sqlite");

async function kept(store: MemoryStore, made: EntryVectors, space = SPACE, namespace = ANA) {
  return store.vectors({ namespace, space, ids: [made.id] });
}

/** Puts an entry and its vectors. */
async function embedded(store: MemoryStore, entry: NewEntry, numbers?: readonly number[]) {
  const made = await madeOf(store, entry, numbers);
  expect(await store.putVectors(entry.namespace, SPACE, [made])).toEqual([made.id]);
  return made;
}

describe.each(DRIVERS)("with $name,", (driver) => {
  const using = (run: (rig: SqliteRig) => Promise<void>) => async (): Promise<void> => {
    const rig = await openSqliteRig(driver);
    try {
      await run(rig);
    } finally {
      await rig.dispose();
    }
  };

  describe("a row of vectors", () => {
    test(
      "moved to another entry is refused, and the other entry's own is returned",
      using(async ({ store, tamper }) => {
        const first = await embedded(store, fact("first", "same"));
        const second = await madeOf(store, fact("second", "same"));
        const third = await embedded(store, fact("third", "3"));
        await tamper("UPDATE vectors SET entry_id = ? WHERE entry_id = ?", second.id, first.id);
        expect([await kept(store, first), await kept(store, second)]).toEqual([[], []]);
        expect(await kept(store, third)).toEqual([third]);
      }),
    );

    test(
      "moved to another entry together with its digest is refused",
      using(async ({ store, tamper }) => {
        const first = await embedded(store, fact("first", "1"));
        const second = await madeOf(store, fact("second", "2"));
        await tamper("UPDATE vectors SET entry_id = ?", second.id);
        const digest = "(SELECT digest FROM entries WHERE id = ?)";
        await tamper(`UPDATE entries SET digest = ${digest} WHERE id = ?`, first.id, second.id);
        expect(await kept(store, second)).toEqual([]);
      }),
    );

    test(
      "is refused when its entry is claimed for another namespace",
      using(async ({ store, tamper }) => {
        const made = await embedded(store, fact("first", "1"));
        await tamper(`UPDATE entries SET namespace = '${BEN}' WHERE id = ?`, made.id);
        expect(await kept(store, made, SPACE, BEN)).toEqual([]);
      }),
    );

    test(
      "assigned to another model is refused",
      using(async ({ store, tamper }) => {
        const made = await embedded(store, fact("first", "1"));
        await tamper("UPDATE vector_spaces SET name = ?", OTHER_SPACE);
        expect(await kept(store, made, OTHER_SPACE)).toEqual([]);
      }),
    );

    test(
      "is refused with other dimensions",
      using(async ({ store, tamper }) => {
        const made = await embedded(store, fact("first", "1"), [1, 0, 0, 1]);
        await tamper("UPDATE vectors SET dimensions = 4");
        expect(await kept(store, made)).toEqual([]);
      }),
    );

    test(
      "of a former value is refused when it is restored beside the new one",
      using(async ({ store, tamper }) => {
        const made = await embedded(store, fact("first", "old"));
        await tamper("CREATE TABLE stolen AS SELECT * FROM vectors");
        await store.put(fact("first", "new"));
        await tamper("INSERT INTO vectors SELECT * FROM stolen");
        expect(await kept(store, made)).toEqual([]);
      }),
    );

    const oddities = [
      "sealed = zeroblob(length(sealed))",
      "sealed = x''",
      "sealed = substr(sealed, 1, length(sealed) - 1)",
      "dimensions = 0",
      "dimensions = 9223372036854775807",
    ];
    for (const oddity of oddities) {
      test(
        `with ${oddity} is omitted, has no other effect, and is repaired by writing again`,
        using(async ({ store, tamper }) => {
          const made = await embedded(store, fact("first", "1"));
          const other = await embedded(store, fact("other", "2"));
          await tamper(`UPDATE vectors SET ${oddity} WHERE entry_id = ?`, made.id);
          const ids = [made.id, other.id];
          expect(await store.vectors({ namespace: ANA, space: SPACE, ids })).toEqual([other]);
          expect(text((await store.get(refTo("first")))?.value)).toBe("1");
          expect(await store.putVectors(ANA, SPACE, [made])).toEqual([made.id]);
          expect(await kept(store, made)).toEqual([made]);
        }),
      );
    }

    test(
      "is not stored for an entry that does not open",
      using(async ({ store, damage }) => {
        const made = await madeOf(store, fact("first", "1"));
        await damage(refTo("first"));
        expect(await store.putVectors(ANA, SPACE, [made])).toEqual([]);
      }),
    );
  });

  describe("a row of reference vectors", () => {
    const made = references([1, 0, 0, 1], 2);

    test(
      "assigned to another model is refused, and the other model's own is returned",
      using(async ({ store, tamper }) => {
        await store.putReferenceVectors(SPACE, made);
        await tamper("UPDATE reference_vectors SET space = ?", OTHER_SPACE);
        expect(await store.referenceVectors(OTHER_SPACE)).toBeUndefined();
        await store.putReferenceVectors(OTHER_SPACE, made);
        expect(await store.referenceVectors(OTHER_SPACE)).toEqual(made);
      }),
    );

    test(
      "copied from another store with the same key is refused",
      using(async ({ store, tamper }) => {
        const other = await openSqliteRig(driver);
        try {
          await other.store.putReferenceVectors(SPACE, made);
          await store.putReferenceVectors(SPACE, made);
          const connection = await driver.open(other.path, "read");
          const stolen = connection.prepare("SELECT hex(sealed) AS bytes FROM reference_vectors").get();
          connection.close();
          await tamper("UPDATE reference_vectors SET sealed = unhex(?)", `${stolen?.bytes}`);
          expect(await store.referenceVectors(SPACE)).toBeUndefined();
        } finally {
          await other.dispose();
        }
      }),
    );

    const oddities = [
      "sealed = zeroblob(length(sealed))",
      "sealed = x''",
      "sealed = substr(sealed, 1, length(sealed) - 1)",
      "dimensions = 4",
      "dimensions = 0",
      "dimensions = 9223372036854775807",
      "number = 9223372036854775807",
    ];
    for (const oddity of oddities) {
      test(
        `with ${oddity} has no other effect, and is repaired by writing again`,
        using(async ({ store, tamper }) => {
          const entry = await embedded(store, fact("first", "1"));
          await store.putReferenceVectors(SPACE, made);
          await tamper(`UPDATE reference_vectors SET ${oddity}`);
          if (!oddity.startsWith("number")) expect(await store.referenceVectors(SPACE)).toBeUndefined();
          expect(await kept(store, entry)).toEqual([entry]);
          await store.putReferenceVectors(SPACE, made);
          expect(await store.referenceVectors(SPACE)).toEqual(made);
        }),
      );
    }

    test(
      "is not written in a store without its id, which does not open again",
      using(async ({ store, tamper, openAgain }) => {
        await store.putReferenceVectors(SPACE, made);
        await tamper("UPDATE store SET id = NULL");
        await expect(store.putReferenceVectors(OTHER_SPACE, made)).rejects.toMatchObject({
          code: "store_corrupt",
        });
        await expect(openAgain()).rejects.toMatchObject({ code: "store_corrupt" });
      }),
    );
  });

  // verifies P-disk-no-plaintext
  describe("the file", () => {
    /** The bytes of the vector's numbers spell this text. */
    const CANARY = "canary-of-a-meaning-that-nobody-may-read";
    const numbers = [...new Float32Array(new TextEncoder().encode(CANARY).buffer)];

    test(
      "never contains a vector's numbers in any byte",
      using(async ({ store, folder, tamper }) => {
        const forms = formsOf(CANARY);
        await embedded(store, fact("first", "1"), numbers);
        expect((await scanFiles([folder], forms)).hits).toEqual([]);
        await store.put(fact("first", "2"));
        await embedded(store, fact("second", "1"), numbers);
        await store.delete(refTo("second"));
        await store.putReferenceVectors(SPACE, references(numbers, numbers.length));
        expect((await scanFiles([folder], forms)).hits).toEqual([]);
        await embedded(store, fact("third", "1"), numbers);
        await tamper("UPDATE vectors SET sealed = CAST(? AS BLOB)", CANARY); // control: the scan finds a value that is in the file
        expect((await scanFiles([folder], forms)).hits).toContain("memory.sqlite-wal: utf8");
      }),
    );

    const endings: Readonly<Record<string, (rig: SqliteRig) => Promise<unknown>>> = {
      "a delete": ({ store }) => store.delete(refTo("dies")),
      "a filter": ({ store }) => store.deleteWhere({ namespace: ANA, key: "dies" }),
      "a sweep": ({ store, clock }) => letPass(store, clock, HOUR_MS + KEPT_EXPIRED_MS),
      "a new value and a sweep": async ({ store }) => {
        await store.put(fact("dies", "2"));
        await store.deleteExpired();
      },
    };
    for (const [ending, end] of Object.entries(endings)) {
      test(
        `keeps no byte of sealed vectors after ${ending}`,
        using(async (rig) => {
          const many = Array.from({ length: 768 * 3 }, (_, i) => Math.sin(i));
          await embedded(rig.store, fact("dies", "1", { expiresAt: START + HOUR_MS }), many);
          const needles = await sealedPieces(rig, driver);
          await embedded(rig.store, fact("stays", "1"), many);
          expect((await scanFiles([rig.folder], needles)).hits.length).toBeGreaterThanOrEqual(needles.length);
          await end(rig);
          expect((await scanFiles([rig.folder], needles)).hits).toEqual([]);
        }),
      );
    }

    test(
      "loses vectors with their entry, also if an older program without vectors deletes it",
      using(async ({ store, tamper, path }) => {
        await embedded(store, fact("first", "1"));
        await embedded(store, fact("second", "1"));
        await tamper("DELETE FROM entries WHERE key = 'first'");
        expect(await countRows(path, driver)).toBe(1);
        await store.deleteWhere({ namespace: ANA });
        expect(await countRows(path, driver)).toBe(0);
      }),
    );
  });

  test(
    "writing vectors never waits long for another writer: store_locked at once",
    using(async ({ store, path, options }) => {
      const patient = await openSqliteStore({ ...options, busyTimeoutMs: 10_000 });
      const made = await madeOf(store, fact("first", "1"));
      const child = spawnChild(childPath("hold-lock.ts"), [driver.name, path, "BEGIN IMMEDIATE"]);
      await child.next();
      const start = performance.now();
      await expect(patient.putVectors(ANA, SPACE, [made])).rejects.toMatchObject({ code: "store_locked" });
      const others = { namespace: ANA, space: SPACE, ids: [made.id] };
      await expect(patient.deleteOtherVectors(others)).rejects.toMatchObject({ code: "store_locked" });
      expect(performance.now() - start).toBeLessThan(5_000); // about 100 ms on an idle machine
      child.process.stdin?.end();
      await child.ended();
      expect(await patient.putVectors(ANA, SPACE, [made])).toEqual([made.id]);
      await patient.close();
    }),
  );

  // verifies P-upgrade-opens
  describe("a file of schema 1", () => {
    const withOldFile = (run: (path: string) => Promise<void>) => async (): Promise<void> => {
      const folder = await makeTempFolder();
      try {
        const path = join(folder, "memory.sqlite");
        await copyFile(SCHEMA_1, path);
        await run(path);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    };
    const optionsFor = (path: string) => ({ path, key: KEY, driver, now: () => START });

    test(
      "is migrated with everything in it, and then accepts vectors",
      withOldFile(async (path) => {
        const store = await openSqliteStore(optionsFor(path));
        expect(await store.inspect()).toMatchObject({ schemaVersion: 5, entries: 4, unreadable: 0 });
        expect(await allKeys(store, { namespace: ANA })).toHaveLength(3);
        expect(text((await store.get(refTo("deploy/preference")))?.value)).toBe(
          "I always deploy via Konflux",
        );
        expect(text((await store.get(refTo("editor", { namespace: BEN })))?.value)).toBe("emacs");
        const changes = await store.changes({ namespace: ANA, since: 0 });
        expect(changes).toMatchObject({ removed: [expect.any(String)], more: false });
        const made = await embedded(store, fact("editor", "vim"));
        await store.close();
        const again = await openSqliteStore(optionsFor(path));
        expect(await kept(again, made)).toEqual([made]);
        await again.delete(refTo("editor"));
        expect(await countRows(path, driver)).toBe(0);
        await again.close();
      }),
    );

    test(
      "migrated by two processes at once is migrated once",
      withOldFile(async (path) => {
        const stores = await Promise.all([1, 2, 3].map(() => openSqliteStore(optionsFor(path))));
        for (const store of stores) expect(await store.inspect()).toMatchObject({ schemaVersion: 5 });
        for (const store of stores) await store.close();
      }),
    );

    test(
      "is read unchanged by a reader, before and after its migration",
      withOldFile(async (path) => {
        const reader = await openSqliteReader(optionsFor(path));
        expect(await reader.inspect()).toMatchObject({ schemaVersion: 1, entries: 4, unreadable: 0 });
        expect(await reader.referenceVectors(SPACE)).toBeUndefined();
        const store = await openSqliteStore(optionsFor(path));
        await store.putReferenceVectors(SPACE, references([1]));
        expect(await reader.referenceVectors(SPACE)).toEqual(references([1]));
        await store.put(fact("later", "1"));
        expect(text((await reader.get(refTo("later")))?.value)).toBe("1");
        await store.close();
        await reader.close();
      }),
    );

    test(
      "keeps its schema when a migration fails halfway",
      withOldFile(async (path) => {
        const blocker = await driver.open(path, "write");
        blocker.exec("CREATE TABLE vectors (in_the_way TEXT)");
        blocker.close();
        await expect(openSqliteStore(optionsFor(path))).rejects.toMatchObject({ code: "store_corrupt" });
        const reader = await openSqliteReader(optionsFor(path));
        expect(await reader.inspect()).toMatchObject({ schemaVersion: 1, entries: 4, integrity: "ok" });
        await reader.close();
      }),
    );
  });
});

async function countRows(path: string, driver: SqliteDriver): Promise<number> {
  const connection = await driver.open(path, "read");
  const counted = connection.prepare("SELECT count(*) AS n FROM vectors").get();
  connection.close();
  return Number(counted?.n);
}

/** Short parts of all sealed vectors, so that a page boundary rarely splits one. */
async function sealedPieces({ path }: SqliteRig, driver: SqliteDriver): Promise<readonly Needle[]> {
  const connection = await driver.open(path, "read");
  const rows = connection.prepare("SELECT sealed FROM vectors").all();
  connection.close();
  return rows.flatMap(({ sealed }) => {
    if (!(sealed instanceof Uint8Array)) throw new Error("sealed vectors are bytes");
    const starts = Array.from({ length: Math.floor(sealed.byteLength / 1_000) }, (_, i) => 100 + i * 1_000);
    return starts.map((start) => ({ name: `byte ${start}`, bytes: sealed.slice(start, start + 16) }));
  });
}
