/** Copies of search indexes beside the database: they open only as they were saved, and for nobody after a value was deleted. */
import {
  chmod,
  cp,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { MemoryStore } from "../../../engine/store/memory-store.ts";
import { copyDatabase } from "../../../engine/store/sqlite/copy-database.ts";
import { snapshotFolder } from "../../../engine/store/sqlite/index-snapshots.ts";
import {
  openSqliteStore,
  openSqliteStoreToChangeKey,
  openSqliteStoreToRead,
} from "../../../engine/store/sqlite/open-sqlite.ts";
import {
  ANA,
  BEN,
  bytes,
  fact,
  HOUR_MS,
  KEPT_EXPIRED_MS,
  letPass,
  refTo,
  START,
} from "../../contract/rig.ts";
import { formsOf, scanFiles } from "./scanning.ts";
import { DRIVERS, OTHER_KEY, openSqliteRig, type SqliteRig } from "./sqlite-rig.ts";

const BUILD = "a build";
const CANARY = "canary-of-a-value-in-a-copy";
const PARTS = [bytes(`one ${CANARY}`), bytes(""), bytes("three".repeat(1_000))];

async function save(store: MemoryStore, namespace = ANA): Promise<boolean | undefined> {
  const changes = await store.changes({ namespace, since: 0, limit: 1_000 });
  if (changes.kind === "start_over") throw new Error("nothing was read before");
  return store.snapshots?.save(namespace, { build: BUILD, cursor: changes.cursor }, PARTS);
}

/** The parts as text; undefined when there is no copy or it does not open. */
async function load(store: MemoryStore, build = BUILD, namespace = ANA): Promise<string | undefined> {
  try {
    const copy = await store.snapshots?.load(namespace, build);
    if (copy === undefined) return undefined;
    let all = "";
    for await (const part of copy.parts) all += `${Buffer.from(part).toString()}|`;
    return all;
  } catch {
    return undefined;
  }
}

const WHOLE = PARTS.map((part) => `${Buffer.from(part).toString()}|`).join("");

describe.each(DRIVERS)("with $name, the copy of an index", (driver) => {
  const withCopy = (run: (rig: SqliteRig, file: string) => Promise<void>) => async (): Promise<void> => {
    const rig = await openSqliteRig(driver, { eraseAtOnce: 4 });
    try {
      await rig.store.put(fact("first", "value", { expiresAt: START + HOUR_MS }));
      await rig.store.putMany(Array.from({ length: 20 }, (_, i) => fact(`many/${i}`, `value ${i}`)));
      await rig.store.put(fact("changed", "before"));
      await rig.store.put(fact("changed", "after"));
      await rig.store.put(fact("theirs", "Ben's", { namespace: BEN }));
      expect(await save(rig.store)).toBe(true);
      const [name = ""] = await readdir(folderOf(rig));
      await run(rig, join(folderOf(rig), name));
    } finally {
      await rig.dispose();
    }
  };
  const folderOf = ({ path }: SqliteRig): string => snapshotFolder(path);

  async function keyRows(rig: SqliteRig): Promise<readonly Uint8Array[]> {
    const connection = await driver.open(rig.path, "read");
    const rows = connection.prepare("SELECT sealed FROM index_snapshots").all();
    connection.close();
    return rows.flatMap(({ sealed }) => (sealed instanceof Uint8Array ? [sealed] : []));
  }

  test(
    "opens as it was saved, in another process, with a reader, and beside changes that delete nothing",
    withCopy(async (rig, file) => {
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      expect((await stat(folderOf(rig))).mode & 0o777).toBe(0o700);
      await rig.store.put(fact("second", "new"));
      await rig.store.put(fact("changed", "after", { tags: ["same value"] }));
      await rig.store.renew(refTo("first"), () => ({ expiresAt: START + 2 * HOUR_MS }));
      await rig.store.delete(refTo("theirs", { namespace: BEN }));
      const other = await rig.openAgain();
      expect(await load(other)).toBe(WHOLE);
      expect(await load(await openSqliteStoreToRead(rig.options))).toBe(WHOLE);
      expect(await load(other, "another build")).toBeUndefined();
      expect(await load(other, BUILD, BEN)).toBeUndefined();
    }),
  );

  // verifies P-disk-copied-index
  test(
    "is not readable without the key, and is not saved by a read-only store",
    withCopy(async (rig) => {
      expect((await scanFiles([rig.folder], formsOf(CANARY))).hits).toEqual([]);
      const reader = await openSqliteStoreToRead(rig.options);
      await expect(save(reader)).rejects.toMatchObject({ code: "store_readonly" });
      await reader.close();
      expect(await readdir(folderOf(rig))).toHaveLength(1);
    }),
  );

  const ENDINGS: Readonly<Record<string, (rig: SqliteRig) => Promise<unknown>>> = {
    "a forget": ({ store }) => store.delete(refTo("first")),
    "a large forget, in slices": ({ store }) => store.deleteWhere({ namespace: ANA, prefix: "many/" }),
    "a replaced value": ({ store }) => store.put(fact("first", "another")),
    "a replaced value in an import": ({ store }) => store.putMany([fact("first", "another")]),
    "a superseded fact": ({ store }) => store.put(fact("second", "x"), { supersedes: ["first"] }),
    "an undo": ({ store }) => store.undo(refTo("changed")),
    "a sweep": ({ store, clock }) => letPass(store, clock, HOUR_MS + KEPT_EXPIRED_MS),
    "SQL that knows nothing of it": ({ tamper }) => tamper("DELETE FROM entries WHERE key = ?", "first"),
    "a change of keys": async ({ options }) => {
      const store = await openSqliteStoreToChangeKey(options);
      await store.beginKeyChange(OTHER_KEY);
      await store.reseal();
      await store.finishKeyChange();
      await store.close();
    },
  };

  // verifies P-disk-copied-index
  test.each(Object.entries(ENDINGS))("opens for nobody after %s", (name, end) =>
    withCopy(async (rig) => {
      const [key = new Uint8Array()] = await keyRows(rig);
      await end(rig);
      expect(await keyRows(rig)).toEqual([]);
      expect(await load(rig.store)).toBeUndefined();
      if (name.startsWith("SQL")) return; // what somebody else deletes is not overwritten
      await rig.store.deleteWhere({ namespace: ANA }).catch(() => undefined); // erases a replaced row, too
      expect(
        (await scanFiles([rig.folder], [{ name: "its key, sealed", bytes: key.slice(-32) }])).hits,
      ).toEqual([]);
    })(),
  );

  // verifies P-disk-copied-index
  test(
    "is not kept when a value was deleted while it was written",
    withCopy(async ({ store, ...rig }) => {
      const { cursor } = await store.changes({ namespace: ANA, since: 0, limit: 1_000 }).then((changes) => {
        if (changes.kind === "start_over") throw new Error("nothing was read before");
        return changes;
      });
      await store.delete(refTo("first"));
      expect(await store.snapshots?.save(ANA, { build: BUILD, cursor }, PARTS)).toBe(false);
      expect(await load(store)).toBeUndefined();
      expect(await readdir(folderOf({ store, ...rig }))).toHaveLength(1); // the former file, which opens for nobody
    }),
  );

  test(
    "is deleted by a later sweep when it opens for nobody",
    withCopy(async (rig, file) => {
      await rig.store.delete(refTo("first"));
      await rig.store.deleteExpired();
      expect(await readdir(folderOf(rig))).toHaveLength(1); // another process may be writing it
      await utimes(file, 0, 0);
      await rig.store.deleteExpired();
      expect(await readdir(folderOf(rig))).toEqual([]);
    }),
  );

  // verifies P-disk-own-names
  test(
    "is all that is deleted, whatever else is in its folder",
    withCopy(async (rig, file) => {
      const hex = "0123456789abcdef".repeat(2);
      const foreign = ["notes.md", "notes.tmp", `${hex}.tmp.bak`, `${hex}0.tmp`, `${hex.toUpperCase()}.tmp`];
      for (const name of foreign) await writeFile(join(folderOf(rig), name), "theirs");
      await mkdir(join(folderOf(rig), "0".repeat(32)));
      await mkdir(join(folderOf(rig), `${"1".repeat(32)}.tmp`));
      await symlink(join(rig.folder, "nowhere"), join(folderOf(rig), `${"2".repeat(32)}.tmp`));
      const before = await readdir(folderOf(rig));
      for (const name of before.filter((one) => !one.startsWith("22")))
        await utimes(join(folderOf(rig), name), 0, 0);
      await rig.store.delete(refTo("first"));
      await rig.store.deleteExpired();
      expect(await readdir(folderOf(rig))).toEqual(before.filter((name) => !file.endsWith(name)));
    }),
  );

  // verifies P-disk-own-names
  test(
    "is neither read, written nor deleted through a link in place of its folder",
    withCopy(async (rig, file) => {
      const elsewhere = join(rig.folder, "elsewhere");
      await rename(folderOf(rig), elsewhere);
      await symlink(elsewhere, folderOf(rig));
      expect(await load(rig.store)).toBeUndefined();
      await expect(save(rig.store)).rejects.toMatchObject({ code: "store_unavailable" });
      await rig.store.delete(refTo("first"));
      await utimes(file, 0, 0);
      await rig.store.deleteExpired();
      expect(await readdir(elsewhere)).toHaveLength(1);
    }),
  );

  test(
    "does not open when any part of it is damaged, missing, or cut off",
    withCopy(async (rig, file) => {
      const whole = await readFile(file);
      const places = [0, 4, 20, 60, whole.length >> 1, whole.length - 20, whole.length - 1];
      for (const place of places) {
        const damaged = Buffer.from(whole);
        damaged[place] = (damaged[place] ?? 0) ^ 1;
        await writeFile(file, damaged);
        expect(await load(rig.store), `byte ${place}`).toBeUndefined();
      }
      for (const length of [0, 3, 40, whole.length - 20, whole.length - 1]) {
        await writeFile(file, whole.subarray(0, length));
        expect(await load(rig.store), `${length} bytes`).toBeUndefined();
      }
      await writeFile(file, whole);
      expect(await load(rig.store)).toBe(WHOLE);
      await rm(file);
      expect(await load(rig.store)).toBeUndefined();
    }),
  );

  test(
    "does not open when its row was changed, or while the clock shows an earlier time",
    withCopy(async (rig) => {
      for (const [column, other] of [
        ["build", "'another build'"],
        ["cursor", "cursor - 1"],
        ["made_at", "made_at - 1"],
        ["namespace", `'${BEN}'`],
      ] as const) {
        await rig.tamper(`UPDATE index_snapshots SET ${column} = ${other}`);
        const [build, owner] = [
          column === "build" ? "another build" : BUILD,
          column === "namespace" ? BEN : ANA,
        ];
        expect(await load(rig.store, build, owner), column).toBeUndefined();
        await save(rig.store);
      }
      expect(await load(rig.store)).toBe(WHOLE);
      rig.clock.now -= 1;
      expect(await load(await rig.openAgain())).toBeUndefined();
    }),
  );

  test(
    "is not part of a backup, and belongs to its own database",
    withCopy(async (rig) => {
      const [copy, other] = [join(rig.folder, "copy.sqlite"), join(rig.folder, "other.sqlite")];
      await copyDatabase(rig.path, copy, driver);
      const connection = await driver.open(copy, "read");
      expect(connection.prepare("SELECT * FROM index_snapshots").all()).toEqual([]);
      connection.close();
      await cp(folderOf(rig), snapshotFolder(other), { recursive: true });
      const another = await openSqliteStore({ ...rig.options, path: other });
      await another.put(fact("first", "value"));
      await save(another);
      const row = (await keyRows(rig))[0] ?? new Uint8Array();
      await another.close();
      const [name = ""] = (await readdir(folderOf(rig))).slice(0, 1);
      const stolen = await driver.open(other, "write");
      stolen.prepare("UPDATE index_snapshots SET name = ?, sealed = ?").run(name, row);
      stolen.close();
      const opened = await openSqliteStore({ ...rig.options, path: other });
      expect(await load(opened)).toBeUndefined();
      await opened.close();
    }),
  );

  test(
    "fails alone when its folder cannot be written",
    withCopy(async (rig) => {
      await rm(folderOf(rig), { recursive: true });
      await writeFile(folderOf(rig), "");
      await chmod(folderOf(rig), 0o400);
      await expect(save(rig.store)).rejects.toThrow();
      await rig.store.put(fact("second", "stored"));
      expect(await load(rig.store)).toBeUndefined();
      await rig.store.deleteExpired();
    }),
  );
});
