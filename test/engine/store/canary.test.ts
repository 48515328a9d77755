/** No byte of our files reveals a value or key: while open, after closing, and after forgetting. */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { loadOrMakeKey } from "../../../engine/store/find-key.ts";
import type { MemoryStore } from "../../../engine/store/memory-store.ts";
import { openSqliteStore } from "../../../engine/store/sqlite/open-sqlite.ts";
import type { SqliteDriver } from "../../../engine/store/sqlite/sqlite-driver.ts";
import { ANA, fact, HOUR_MS, KEPT_EXPIRED_MS, letPass, refTo, START } from "../../contract/rig.ts";
import { formsOf, scanFiles } from "./scanning.ts";
import { DRIVERS, KEY, makeTempFolder } from "./sqlite-rig.ts";

const CANARY = "canary-Zwölf-Boxkämpfer-4711-plaintext-of-a-value";
const FORMS = formsOf(CANARY);

/** Stores the secret in every way that the store accepts values. */
async function writeCanaries(store: MemoryStore, clock: { now: number }): Promise<void> {
  await store.put(fact("alone", CANARY));
  await store.put(fact("inside", `before ${CANARY} after`));
  await store.put(fact("long", `${"x".repeat(20_000)}${CANARY}${"y".repeat(20_000)}`));
  await store.putMany(
    Array.from({ length: 200 }, (_, i) => fact(`many${i}`, `${i} ${CANARY}`, { expiresAt: START + HOUR_MS })),
  );
  await store.put(fact("alone", `${CANARY} again`));
  await store.put(fact("refreshed", CANARY));
  await store.put(fact("refreshed", CANARY));
  await store.putMany([fact("refused", CANARY), fact("", CANARY)]).catch(() => undefined);
  await store.put(fact("wide", "", { value: Buffer.from(CANARY, "utf16le") }));
  await store.list({ namespace: ANA, limit: 1_000 });
  await store.delete(refTo("inside"));
  await store.put(fact("inside", CANARY));
  clock.now += 1;
}

async function withPlaces(
  driver: SqliteDriver,
  run: (places: {
    readonly folders: readonly [string, string];
    readonly clock: { now: number };
    open(): Promise<MemoryStore>;
  }) => Promise<void>,
): Promise<void> {
  const root = await makeTempFolder();
  const folders = [join(root, "data"), join(root, "keys")] as const;
  const clock = { now: START };
  try {
    await run({
      folders,
      clock,
      open: async () => {
        const path = join(folders[0], "memory.sqlite");
        const keyPath = join(folders[1], "memory.key");
        const { key } = await loadOrMakeKey({ env: {}, keyPath, databasePath: path });
        return openSqliteStore({ path, key, driver, now: () => clock.now });
      },
    });
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

describe.each(DRIVERS)("with $name,", (driver) => {
  // verifies P-disk-no-plaintext
  test("no value is in any byte of database, log, index or key folder, at any time", async () => {
    await withPlaces(driver, async ({ folders, clock, open }) => {
      const store = await open();
      await writeCanaries(store, clock);
      const whileOpen = await scanFiles(folders, FORMS);
      expect(whileOpen.hits).toEqual([]);
      expect(whileOpen.files.map((file) => file.split(" ")[0]).sort()).toEqual([
        "memory.key",
        "memory.sqlite",
        "memory.sqlite-shm",
        "memory.sqlite-wal",
      ]);
      await store.deleteWhere({ namespace: ANA, prefix: "many1" });
      await store.put(fact("later", CANARY));
      expect((await scanFiles(folders, FORMS)).hits).toEqual([]);
      await letPass(store, clock, HOUR_MS + KEPT_EXPIRED_MS);
      expect((await scanFiles(folders, FORMS)).hits).toEqual([]);
      await store.close();
      const closed = await scanFiles(folders, FORMS);
      expect(closed.hits).toEqual([]);
      expect(closed.files.length).toBeGreaterThanOrEqual(2);
    });
  });

  // verifies P-disk-key-apart
  test("the key is in no byte of the data folder", async () => {
    await withPlaces(driver, async ({ folders, clock, open }) => {
      const keyPath = join(folders[1], "memory.key");
      const hex = "0f1e2d3c4b5a69788796a5b4c3d2e1f0".repeat(2);
      await mkdir(folders[1], { mode: 0o700 });
      await writeFile(keyPath, hex, { mode: 0o600 });
      const store = await open();
      await writeCanaries(store, clock);
      const needles = [{ name: "raw key", bytes: Buffer.from(hex, "hex").subarray(0, 16) }, ...formsOf(hex)];
      expect((await scanFiles([folders[0]], needles)).hits).toEqual([]);
      expect((await scanFiles([folders[1]], needles)).hits).toContain("memory.key: utf8");
      await store.close();
    });
  });

  test("control: a canary that is present is found, in log and database, in each form", async () => {
    const root = await makeTempFolder();
    try {
      const path = join(root, "memory.sqlite");
      const store = await openSqliteStore({ path, key: KEY, driver });
      const planted = await driver.open(path, "write");
      for (const { name, bytes } of FORMS) {
        await store.put(fact(name, "v"));
        planted.prepare("UPDATE entries SET sealed = ? WHERE key = ?").run(bytes, name);
      }
      const names = FORMS.map(({ name }) => name);
      const found = async (file: string) =>
        (await scanFiles([root], FORMS)).hits.filter((hit) => hit.startsWith(file));
      expect(await found("memory.sqlite-wal")).toEqual(names.map((name) => `memory.sqlite-wal: ${name}`));
      planted.close();
      await store.close();
      expect(await found("memory.sqlite:")).toEqual(names.map((name) => `memory.sqlite: ${name}`));
    } finally {
      await rm(root, { recursive: true, force: true });
    }
  });

  test("control: keys, categories and tags are clear columns, and found", async () => {
    await withPlaces(driver, async ({ folders, open }) => {
      const store = await open();
      await store.put(fact("clear-key-4711", "v", { category: "clear-category", tags: ["clear-tag"] }));
      await store.close();
      const needles = ["clear-key-4711", "clear-category", "clear-tag"].map((name) => ({
        name,
        bytes: Buffer.from(name),
      }));
      expect((await scanFiles(folders, needles)).hits).toHaveLength(3);
    });
  });
});

test("control: the base64 forms are found at every offset", () => {
  const forms = FORMS.filter(({ name }) => name.startsWith("base64"));
  for (const before of ["", "a", "ab", "abc", "some text "]) {
    const encoded = Buffer.from(Buffer.from(`${before}${CANARY} and more`).toString("base64"));
    expect(forms.filter(({ bytes }) => encoded.includes(Buffer.from(bytes)))).toHaveLength(1);
  }
});
