import { chmod, chown, cp, mkdir, readFile, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { remedyFor } from "../../app/health/remedies.ts";
import type { DoctorReport } from "../../app/memory.ts";
import { examineMemory, openMemory } from "../../app/open-memory.ts";
import type { StorageLocation } from "../../app/storage-location.ts";
import { ERROR_CODES } from "../../engine/errors.ts";
import { betterSqliteDriver } from "../../engine/store/sqlite/better-sqlite-driver.ts";
import { snapshotFolder } from "../../engine/store/sqlite/index-snapshots.ts";
import {
  DAY_MS,
  entryOf,
  NOW,
  openTestMemory,
  openWithClock,
  placeWithFact,
  tempPlace,
} from "./fixtures/memories.ts";

/** The folder of the key, its notes and the database, elsewhere. */
async function copied({ keyPath, databasePath }: StorageLocation): Promise<StorageLocation> {
  const to = await tempPlace();
  await cp(dirname(keyPath), dirname(to.keyPath), { recursive: true });
  return { ...to, databasePath: join(dirname(to.keyPath), relative(dirname(keyPath), databasePath)) };
}

const options = (place: StorageLocation) => ({ ...place, env: {}, driver: betterSqliteDriver });
const examine = (place: StorageLocation) => examineMemory(options(place));

/** The level and message of each finding of a check. */
function told({ findings }: DoctorReport, check: string): readonly string[] {
  return findings
    .filter((finding) => finding.check === check)
    .map(({ level, message }) => `${level}: ${message}`);
}

describe("doctor", () => {
  test("reports no problem when there is none, and recommends a copy of the key", async () => {
    const report = await examine(await placeWithFact());
    expect(report.findings.filter(({ level }) => level !== "ok")).toEqual([]);
    expect(report.findings.find(({ check }) => check === "key")?.remedy).toMatch(
      /^Keep a copy of the key in a safe place/,
    );
    expect(told(report, "entries")).toEqual(["ok: 1 entry in one memory."]);
    expect(report.store).toMatchObject({ integrity: "ok", unreadable: 0, entries: 1 });
  });

  test("warns of facts that a clock far ahead gave a late end, until they are stored or renewed again", async () => {
    const { clock, memory } = await openWithClock();
    await memory.storeFact("main", { key: "right", value: "v", ttlSeconds: 365 * 86_400 });
    clock.pass(500 * DAY_MS);
    await memory.storeFact("main", { key: "late", value: "v" });
    clock.time = NOW;
    const warned = () => memory.doctor().then((report) => told(report, "lifetime"));
    expect(await warned()).toEqual([
      "warning: 1 fact was stored after today, or would stay for more than 365 days: a clock was far ahead then, or this machine's is behind now.",
    ]);
    await memory.storeFact("main", { key: "late", value: "v", ttlSeconds: 90 * 86_400 });
    expect((await memory.getFact("main", { key: "late" }))?.expiresAt).toBe(NOW + 90 * DAY_MS);
    expect(await warned()).toEqual([]);
  });

  test("warns of a new key that is in no backup", async () => {
    const memory = await openTestMemory();
    expect(told(await memory.doctor(), "key")).toEqual([
      expect.stringMatching(/^warning: A new key was just created/),
      expect.stringMatching(/^ok: The key in use is [0-9a-f]{16}\.$/),
    ]);
  });

  test("creates nothing if there is no memory, and reports that", async () => {
    const place = await tempPlace();
    const report = await examine(place);
    expect(told(report, "memory")).toEqual([
      `warning: There is no memory at ${place.databasePath} yet. The first fact that is stored creates it.`,
    ]);
    expect(await examine(place)).toEqual(report);
  });

  test("names cause and remedy when memory does not open, and repairs nothing", async () => {
    const place = await placeWithFact();
    await rm(place.keyPath);
    const report = await examine(place);
    expect(report.findings[0]).toMatchObject({
      level: "error",
      check: "memory",
      remedy: expect.stringContaining("Restore the key file"),
    });
    expect(told(report, "memory")[0]).toMatch(/^error: The .*\(key_missing\)$/s);
    expect(told(report, "key")).toEqual([]);
    expect(told(await examine(place), "memory")[0]).toMatch(/^error: The .*\(key_missing\)$/s);
  });

  test.each([
    ["key_wrong", (place: StorageLocation) => writeFile(place.keyPath, "0".repeat(64))],
    ["key_malformed", (place: StorageLocation) => writeFile(place.keyPath, "abc")],
    ["key_unreadable", (place: StorageLocation) => chmod(place.keyPath, 0o644)],
    ["store_corrupt", (place: StorageLocation) => truncate(place.databasePath, 9_000)],
    ["store_not_ours", (place: StorageLocation) => writeFile(place.databasePath, "x".repeat(10_000))],
  ] as const)("reports %s", async (code, spoil) => {
    const place = await placeWithFact();
    await spoil(place);
    const report = await examine(place);
    expect(report.findings[0]).toMatchObject({ level: "error", remedy: remedyFor(code) });
    expect(report.findings[0]?.message).toMatch(new RegExp(`\\(${code}\\)$`));
  });

  test("names the configured key if it is the wrong one, and gives each advice once", async () => {
    const place = await placeWithFact();
    await writeFile(place.keyPath, "0".repeat(64));
    const [{ message = "", remedy = "" } = {}] = (await examine(place)).findings;
    expect(message).toMatch(/does not open with the configured key [0-9a-f]{16}: .*HELMDECK_MEMORY_KEY_FILE/);
    expect(message).not.toContain("Find the key");
    expect(remedy).toMatch(/^Find the key .*\.former-/);
    expect(remedy).not.toContain("HELMDECK_MEMORY_KEY");
  });

  test("warns of a database that others can read", async () => {
    const place = await placeWithFact();
    await chmod(place.databasePath, 0o644);
    expect(told(await examine(place), "database")).toEqual([
      expect.stringContaining("accessible to other accounts (mode 0644)"),
    ]);
  });

  test("as root, warns of a database that belongs to another account", async (context) => {
    context.skip(process.getuid?.() !== 0, "only root can give a file to another account");
    const place = await placeWithFact();
    await chown(place.databasePath, 1_234, 1_234);
    expect(told(await examine(place), "database")).toEqual([expect.stringContaining("uid 1234")]);
  });

  test("warns of a link in place of the folder of index copies", async () => {
    const place = await placeWithFact();
    await symlink(dirname(place.keyPath), snapshotFolder(place.databasePath));
    expect(told(await examine(place), "space")).toEqual([expect.stringContaining("or a link to one")]);
  });

  test("warns of copies beside the database, and of no other file", async () => {
    const place = await placeWithFact();
    const folder = dirname(place.databasePath);
    await writeFile(join(folder, "memory (1).sqlite"), "");
    await writeFile(join(folder, "memory.sqlite.bak"), "");
    await writeFile(join(folder, "notes.txt"), "");
    expect(told(await examine(place), "copies")).toEqual([
      expect.stringContaining("lie memory (1).sqlite, memory.sqlite.bak."),
    ]);
  });

  test("warns of a key in a folder that is backed up", async () => {
    const { databasePath } = await tempPlace();
    const place = { databasePath, keyPath: join(dirname(databasePath), "key") };
    await mkdir(dirname(databasePath), { recursive: true });
    await (await openMemory(options(place))).close();
    expect(told(await examine(place), "key").join()).toContain(
      "warning: The key file is in the database's folder",
    );
  });

  test("counts unreadable audit rows", async () => {
    const memory = await openTestMemory();
    const row = { origin: "audit", category: "pack_history" } as const;
    await memory.store.put(entryOf("pack_history/p/1", "{", row));
    expect(told(await memory.doctor(), "audit")).toEqual([
      expect.stringMatching(/^warning: 1 row of the run records/),
    ]);
  });

  test("does not throw if the store fails during the checks", async () => {
    const memory = await openTestMemory();
    await memory.close();
    expect(told(await memory.doctor(), "memory")).toEqual([
      expect.stringMatching(/^error: .*\(store_unavailable\)$/),
    ]);
  });

  test("never shows the key or a value", async () => {
    const env = { HELMDECK_MEMORY_KEY: "ab".repeat(32) };
    const memory = await openTestMemory({ env });
    await memory.storeFact("main", { key: "k", value: "s3cret" });
    const text = JSON.stringify([await memory.doctor(), await memory.status("main")]);
    expect(text).not.toContain("abab");
    expect(text).not.toContain("s3cret");
    expect(text).toContain("HELMDECK_MEMORY_KEY");
  });

  test("has a remedy for every code", () => {
    for (const code of ERROR_CODES) expect(remedyFor(code)).toMatch(/^[A-Z].*\.$|chmod 600\.$/);
  });
});

describe("status", () => {
  test("shows the location of memory, and the size of each subject's", async () => {
    const place = await tempPlace();
    const memory = await openTestMemory(place);
    await memory.storeFact("main", { key: "k", value: "v" });
    await memory.recordPackRun("main", { pack: "p", outcome: "ok", at_unix: 1_795_000_000 });
    expect(await memory.status("main")).toEqual({
      state: "ready",
      databasePath: place.databasePath,
      keySource: place.keyPath,
      driver: "better-sqlite3",
      mode: "keyword",
      embeddings: { provider: "none", problem: expect.stringContaining("helmdeck-memory model install") },
      subject: { name: "main", facts: 1, auditRows: 1 },
    });
    expect((await memory.status()).subject).toBeUndefined();
  });

  test("is failed, with the reason, if memory does not work", async () => {
    const memory = await openTestMemory();
    await memory.close();
    expect(await memory.status("main")).toMatchObject({
      state: "failed",
      error: { code: "store_unavailable" },
    });
    expect(await memory.status()).toMatchObject({ state: "failed" });
  });
});

describe("opening", () => {
  test.each([
    ["a missing key", "key_missing", (place: StorageLocation) => rm(place.keyPath)],
    ["a wrong key", "key_wrong", (place: StorageLocation) => writeFile(place.keyPath, "0".repeat(64))],
    ["a malformed key", "key_malformed", (place: StorageLocation) => writeFile(place.keyPath, "abc")],
    [
      "a foreign file",
      "store_not_ours",
      (place: StorageLocation) => writeFile(place.databasePath, "x".repeat(10_000)),
    ],
  ] as const)("with %s fails with %s, and works after the repair", async (_, code, spoil) => {
    const place = await placeWithFact();
    const [key, database] = await Promise.all([readFile(place.keyPath), readFile(place.databasePath)]);
    await spoil(place);
    await expect(openMemory(options(place))).rejects.toMatchObject({ name: "HelmdeckError", code });
    await rm(place.keyPath, { force: true });
    await writeFile(place.keyPath, key, { mode: 0o600 });
    await writeFile(place.databasePath, database);
    const memory = await openTestMemory(place);
    expect((await memory.getFact("main", { key: "k" }))?.value).toBe("v");
  });

  // verifies P-durable-damage
  test.each([
    ["where it was", async (place: StorageLocation) => place],
    ["where it was copied to with its key", async (place: StorageLocation) => copied(place)],
    [
      "at any other path with its key",
      async (place: StorageLocation) => ({ ...place, databasePath: `${place.databasePath}.new` }),
    ],
  ])(
    "a database that was emptied, %s, is reported, also by doctor, and not used as a new one",
    async (_, move) => {
      const place = await move(await placeWithFact());
      await writeFile(place.databasePath, "");
      await expect(openTestMemory(place)).rejects.toMatchObject({
        code: "store_corrupt",
        message: expect.stringContaining("delete the empty file"),
      });
      expect(told(await examine(place), "memory")).toEqual([expect.stringContaining("store_corrupt")]);
      await rm(place.databasePath);
      await (await openTestMemory(place)).close();
    },
  );

  test("an empty file of a process that was killed at open is a new database", async () => {
    const place = await tempPlace();
    await mkdir(dirname(place.databasePath), { recursive: true, mode: 0o700 });
    await writeFile(place.databasePath, "", { mode: 0o600 });
    const memory = await openTestMemory(place);
    await memory.storeFact("main", { key: "k", value: "v" });
    await memory.close();
  });

  test("a second close has no effect", async () => {
    const memory = await openTestMemory();
    await Promise.all([memory.close(), memory.close()]);
    await memory.close();
    await expect(memory.getFact("main", { key: "k" })).rejects.toMatchObject({ code: "store_unavailable" });
    await expect(memory.search("main", { query: "k" })).rejects.toMatchObject({ code: "store_unavailable" });
  });
});
