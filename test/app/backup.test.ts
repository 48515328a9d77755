/** Backups: consistent during use, encrypted and verified. A restore needs a database that no process has open. */
import { copyFile, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import type { OpenMemory } from "../../app/compose.ts";
import { backUp, planBackUp } from "../../app/keys/back-up.ts";
import { planRestore, restore } from "../../app/keys/restore.ts";
import { rotateKey } from "../../app/keys/rotate-key.ts";
import { readNotes } from "../../app/keys/store-notes.ts";
import { examineMemory, openMemory } from "../../app/open-memory.ts";
import type { StorageLocation } from "../../app/storage-location.ts";
import { betterSqliteDriver } from "../../engine/store/sqlite/better-sqlite-driver.ts";
import { nodeSqliteDriver } from "../../engine/store/sqlite/node-sqlite-driver.ts";
import { readStoreFacts } from "../../engine/store/sqlite/store-facts.ts";
import { nextTurn } from "../../engine/timing.ts";
import { entryOf, openTestMemory, tempFolder, tempPlace } from "./fixtures/memories.ts";

const driver = betterSqliteDriver;
const options = (place: StorageLocation) => ({ ...place, env: {}, driver });
/** Enough for a backup of more than one chunk. */
const FACTS = 60;

async function storeFacts({ store }: OpenMemory): Promise<void> {
  const facts = Array.from({ length: FACTS }, (_, i) => entryOf(`k${i}`, `value ${i} ${"x".repeat(4_000)}`));
  await store.putMany(facts);
}

async function madePlace(): Promise<StorageLocation> {
  const place = await tempPlace();
  const memory = await openTestMemory(place);
  await storeFacts(memory);
  await memory.close();
  return place;
}

async function inFolder(name = "memory.backup"): Promise<string> {
  return join(await tempFolder(), name);
}

async function keysIn(place: StorageLocation): Promise<number> {
  const memory = await openMemory({ ...options(place), sweepEveryMs: 0 });
  const report = await memory.doctor();
  await memory.close();
  expect(report.store).toMatchObject({ unreadable: 0, integrity: "ok" });
  return report.store?.entries ?? 0;
}

/** An empty home with a copy of the key. */
async function emptyHome({ keyPath }: StorageLocation): Promise<StorageLocation> {
  const place = await tempPlace();
  await copyFile(keyPath, place.keyPath);
  return place;
}

const namesIn = async (path: string) => (await readdir(dirname(path))).sort();

// verifies P-backup-whole
describe("a backup", () => {
  test("into a folder that does not exist names the folder, also before it is tried", async () => {
    const place = await madePlace();
    const asked = { ...options(place), file: join(await tempFolder(), "b", "x") };
    const refused = {
      code: "invalid_input",
      message: expect.stringMatching(/^There is no folder \S+\/b\. /),
    };
    await expect(backUp(asked)).rejects.toMatchObject(refused);
    await expect(planBackUp(asked)).rejects.toMatchObject(refused);
  });

  test.each([betterSqliteDriver, nodeSqliteDriver])(
    "through $name, restored into an empty home, contains everything",
    async (through) => {
      const place = await madePlace();
      const file = await inFolder();
      const made = await backUp({ ...options(place), driver: through, file });
      expect(made).toMatchObject({
        entries: FACTS,
        unreadable: 0,
        generation: 1,
        bytes: (await stat(file)).size,
      });
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      const home = await emptyHome(place);
      expect(await restore({ ...options(home), driver: through, file })).toMatchObject({
        entries: FACTS,
        generation: 2,
      });
      expect(await keysIn(home)).toBe(FACTS);
      expect(await namesIn(home.databasePath)).toEqual(["memory.sqlite"]);
    },
  );

  test("is a snapshot while other processes write, and blocks none of them", async () => {
    const place = await madePlace();
    const memory = await openTestMemory(place);
    const file = await inFolder();
    let isDone = false;
    const making = backUp({ ...options(place), file }).finally(() => {
      isDone = true;
    });
    let stored = 0;
    while (!isDone) {
      await memory.storeFact("main", { key: `more-${stored++}`, value: "x" });
      await nextTurn();
    }
    const { entries } = await making;
    expect(stored).toBeGreaterThan(0);
    expect(entries).toBeGreaterThanOrEqual(FACTS);
    const home = await emptyHome(place);
    await restore({ ...options(home), file });
    expect(await keysIn(home)).toBe(entries);
  });

  test("contains no value, no key and no category in any byte", async () => {
    const place = await madePlace();
    const file = await inFolder();
    await backUp({ ...options(place), file });
    const bytes = await readFile(file);
    const key = (await readFile(place.keyPath, "utf8")).trim();
    for (const canary of ["value 7", "user_facts", "SQLite format", key]) {
      expect(bytes.includes(canary)).toBe(false);
    }
    expect(bytes.includes(Buffer.from(key, "hex"))).toBe(false);
  });

  test("overwrites a file only on request, and leaves no other file", async () => {
    const place = await madePlace();
    const file = await inFolder();
    await writeFile(file, "precious");
    const refused = { code: "invalid_input", message: expect.stringContaining("--overwrite") };
    await expect(backUp({ ...options(place), file })).rejects.toMatchObject(refused);
    await expect(planBackUp({ ...options(place), file })).rejects.toMatchObject(refused);
    expect(await readFile(file, "utf8")).toBe("precious");
    await backUp({ ...options(place), file, replaces: true });
    expect((await planRestore({ ...options(place), file })).entries).toBe(FACTS);
    expect(await namesIn(file)).toEqual(["memory.backup"]);
  });

  test("that fails leaves nothing behind", async () => {
    const place = await madePlace();
    const file = await inFolder();
    const failing = backUp({
      ...{ ...options(place), file },
      onBytes: () => {
        throw new Error("the disk is gone");
      },
    });
    await expect(failing).rejects.toThrow();
    expect(await namesIn(file)).toEqual([]);
  });

  test("of a memory that was never used is refused, and creates nothing", async () => {
    const place = await tempPlace();
    const file = await inFolder();
    await expect(backUp({ ...options(place), file })).rejects.toMatchObject({ code: "store_unavailable" });
    expect([await namesIn(file), await namesIn(place.keyPath)]).toEqual([[], []]);
  });
});

// verifies P-backup-whole
describe("an incomplete backup", () => {
  let place: StorageLocation;
  let whole: Buffer;
  let other: Buffer;
  /** The offset of the first chunk. */
  let start: number;
  const CHUNK = 64 * 1_024 + 16;
  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), "helmdeck-app-"));
    place = { databasePath: join(folder, "data", "memory.sqlite"), keyPath: join(folder, "key") };
    const memory = await openMemory({ ...options(place), sweepEveryMs: 0 });
    await storeFacts(memory);
    await memory.close();
    await backUp({ ...options(place), file: join(folder, "one") });
    await backUp({ ...options(place), file: join(folder, "two") });
    whole = await readFile(join(folder, "one"));
    other = await readFile(join(folder, "two"));
    start = whole.indexOf("\n") + 1;
    return () => rm(folder, { recursive: true });
  });

  const chunk = (of: Buffer, number: number) =>
    of.subarray(start + number * CHUNK, start + (number + 1) * CHUNK);
  const changed = (position: number) => {
    const bytes = Buffer.from(whole);
    bytes[position] = (bytes[position] ?? 0) ^ 1;
    return bytes;
  };

  test.each<readonly [string, () => Buffer]>([
    ["cut in a chunk", () => whole.subarray(0, whole.length - 1)],
    ["cut after a chunk", () => whole.subarray(0, start + 2 * CHUNK)],
    ["cut after its first line", () => whole.subarray(0, start)],
    ["longer by a byte", () => Buffer.concat([whole, Buffer.of(0)])],
    ["longer by a chunk", () => Buffer.concat([whole, chunk(whole, 0)])],
    [
      "with two chunks swapped",
      () =>
        Buffer.concat([
          whole.subarray(0, start),
          chunk(whole, 1),
          chunk(whole, 0),
          whole.subarray(start + 2 * CHUNK),
        ]),
    ],
    [
      "without its first chunk",
      () => Buffer.concat([whole.subarray(0, start), whole.subarray(start + CHUNK)]),
    ],
    [
      "with a chunk of another backup",
      () => Buffer.concat([whole.subarray(0, start), chunk(other, 0), whole.subarray(start + CHUNK)]),
    ],
    [
      "with the first line of another backup",
      () => Buffer.concat([other.subarray(0, start), whole.subarray(start)]),
    ],
    [
      "with another generation in its first line",
      () => {
        const line = whole.toString("utf8", 0, start).replace('"generation":1', '"generation":7');
        return Buffer.concat([Buffer.from(line), whole.subarray(start)]);
      },
    ],
    ["with a byte changed in its middle", () => changed(start + CHUNK + 100)],
    ["with a byte changed in its last tag", () => changed(whole.length - 1)],
  ])("%s is refused, and nothing is restored", async (_, make) => {
    const home = await emptyHome(place);
    const file = await inFolder();
    await writeFile(file, make());
    await expect(restore({ ...options(home), file })).rejects.toMatchObject({
      code: "store_corrupt",
      message: expect.stringMatching(/^The backup .* is damaged or incomplete/),
    });
    expect(await namesIn(home.databasePath)).toEqual([]);
  });

  test.each([
    ["a file that is not a backup", "hello\n", "invalid_input"],
    ["an empty file", "", "invalid_input"],
    ["one of a later version", '{"format":"helmdeck-memory backup","version":2}\n', "store_newer"],
  ])("%s gets its own error", async (_, content, code) => {
    const file = await inFolder();
    await writeFile(file, content);
    await expect(restore({ ...options(await emptyHome(place)), file })).rejects.toMatchObject({ code });
  });
});

// verifies P-backup-restored
describe("restore", () => {
  async function backedUp() {
    const place = await madePlace();
    const file = await inFolder();
    await backUp({ ...options(place), file });
    return { place, file };
  }

  test("over a database keeps the former file, and raises the generation above both", async () => {
    const { place, file } = await backedUp();
    for (const generation of [2, 3]) {
      const memory = await openTestMemory(place);
      await memory.storeFact("main", { key: `later-${generation}`, value: "x" });
      await memory.close();
      const { keptAs = "", ...restored } = await restore({ ...options(place), file });
      expect(restored).toMatchObject({ generation, entries: FACTS });
      expect(await keysIn(place)).toBe(FACTS);
      expect(basename(keptAs)).toMatch(/^memory\.sqlite\.before-restore-\d{8}T\d{9}Z$/);
      expect(await keysIn({ ...place, databasePath: keptAs })).toBe(FACTS + 1);
      await rm(keptAs);
    }
    expect((await readStoreFacts({ path: place.databasePath, driver })).generation).toBe(3);
  });

  test.each([betterSqliteDriver, nodeSqliteDriver])(
    "is refused while a process has the database open through $name, and changes nothing",
    async (theirs) => {
      const { place, file } = await backedUp();
      const memory = await openTestMemory({ ...place, driver: theirs });
      await memory.storeFact("main", { key: "later", value: "x" });
      const before = await namesIn(place.databasePath);
      await expect(restore({ ...options(place), driver: theirs, file })).rejects.toMatchObject({
        code: "store_locked",
        message: expect.stringContaining("Stop every process that has it open"),
      });
      expect(await namesIn(place.databasePath)).toEqual(before);
      await memory.storeFact("main", { key: "latest", value: "x" });
      expect((await memory.getFact("main", { key: "later" }))?.value).toBe("x");
    },
  );

  test("without the key it needs names that key, and changes nothing", async () => {
    const { place, file } = await backedUp();
    const { keyId } = await planBackUp({ ...options(place), file: await inFolder() });
    const empty = await tempPlace();
    await expect(restore({ ...options(empty), file })).rejects.toMatchObject({
      code: "key_missing",
      message: expect.stringContaining(keyId),
    });
    expect(await namesIn(empty.keyPath)).toEqual([]);
    const { to } = await rotateKey(options(place));
    await expect(restore({ ...options(place), file })).rejects.toMatchObject({
      code: "key_wrong",
      message: expect.stringMatching(new RegExp(`needs the key ${keyId}.* is ${to}`)),
    });
    expect(await keysIn(place)).toBe(FACTS);
    const withFormer = { ...place, keyPath: `${place.keyPath}.former-${keyId}` };
    await restore({ ...options(withFormer), file });
    expect(await keysIn(withFormer)).toBe(FACTS);
  });

  test("refuses to replace a damaged database or another program's", async () => {
    const { place, file } = await backedUp();
    const bytes = await readFile(place.databasePath);
    await writeFile(place.databasePath, bytes.fill(7, 4_096, 40_000));
    await expect(restore({ ...options(place), file })).rejects.toMatchObject({ code: "store_corrupt" });
    await writeFile(place.databasePath, "x".repeat(9_000));
    await expect(restore({ ...options(place), file })).rejects.toMatchObject({ code: "store_not_ours" });
    expect(await readFile(place.databasePath, "utf8")).toBe("x".repeat(9_000));
  });

  test("as a dry run describes its steps, and creates nothing", async () => {
    const { place, file } = await backedUp();
    expect(await planRestore({ ...options(place), file })).toMatchObject({
      entries: FACTS,
      replaces: { generation: 1 },
    });
    const home = await emptyHome(place);
    expect(await planRestore({ ...options(home), file })).not.toHaveProperty("replaces");
    expect(await namesIn(home.keyPath)).toEqual(["helmdeck-memory.key"]);
  });
});

describe("the status file beside the key", () => {
  const told = async (place: StorageLocation) =>
    (await examineMemory(options(place))).findings
      .filter(({ level }) => level === "warning")
      .map(({ message }) => message);

  // verifies P-backup-restored
  test("lets doctor detect that a person restored an old copy by hand", async () => {
    const place = await madePlace();
    const file = await inFolder();
    await backUp({ ...options(place), file });
    const { keptAs = "" } = await restore({ ...options(place), file });
    expect((await told(place)).join()).not.toContain("old copy");
    await rename(keptAs, place.databasePath);
    expect(await told(place)).toContainEqual(
      expect.stringMatching(
        /^This may be an old copy of the database: it has generation 1, and 2 was in use/,
      ),
    );
    expect((await told(place)).join()).toContain("old copy"); // reading the status does not clear the finding
    await backUp({ ...options(place), file, replaces: true });
    await rm((await restore({ ...options(place), file })).keptAs ?? "");
    expect(await told(place)).toEqual([]);
  });

  test("lets doctor say where else a memory is whose backup was restored elsewhere", async () => {
    const place = await madePlace();
    const file = await inFolder();
    await backUp({ ...options(place), file });
    const twin = { ...place, databasePath: await inFolder() };
    await restore({ ...options(twin), file });
    for (const _ of [1, 2])
      expect(await told(place)).toEqual([
        `This memory is also in ${twin.databasePath}, restored from a backup or moved. What is stored, corrected or forgotten in one is not in the other.`,
      ]);
    expect(await told(twin)).toEqual([]);
    expect((await told(place)).join()).toContain(twin.databasePath);
    await rm(twin.databasePath);
    expect(await told(place)).toEqual([]);
    expect((await examineMemory(options(place))).findings).toContainEqual({
      level: "ok",
      check: "database",
      message: `A backup of this memory was restored to ${twin.databasePath}, and is no longer there.`,
    });
  });

  test("contains no secret, is private, and counts as empty if it is malformed", async () => {
    const place = await madePlace();
    const path = `${place.keyPath}.stores.json`;
    const text = await readFile(path, "utf8");
    expect(text).not.toContain((await readFile(place.keyPath, "utf8")).trim());
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    for (const content of ["", "{", '{"version":1}', "[]"]) {
      await writeFile(path, content);
      expect(await readNotes(place.keyPath)).toEqual({ version: 1, stores: {}, saved_keys: {} });
      expect(await keysIn(place)).toBe(FACTS);
    }
    expect(Object.values((await readNotes(place.keyPath)).stores)).toEqual([
      { generation: 1, path: place.databasePath },
    ]);
  });
});
