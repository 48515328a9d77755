/**
 * A damaged log is distinguished from a log that a crash cut short: no acknowledged data is lost silently, and a crash alone is
 * not reported as damage.
 */
import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { copyDatabase } from "../../../engine/store/sqlite/copy-database.ts";
import { openSqliteReader, openSqliteStore } from "../../../engine/store/sqlite/open-sqlite.ts";
import { repairDatabase, verifyDatabase } from "../../../engine/store/sqlite/repair.ts";
import { allKeys, fact, refTo, text } from "../../contract/rig.ts";
import { DRIVERS, openSqliteRig, type SqliteRig } from "./sqlite-rig.ts";

const HEADER_BYTES = 32;
const FRAME_BYTES = 24 + 4_096;
const FOLDED = 5;
const IN_LOG = 20;

/** Copies the three files to a separate folder while the store is open. */
async function copyOf(rig: SqliteRig, name: string, from = rig.path): Promise<string> {
  const folder = join(rig.folder, name);
  await mkdir(folder);
  // Uses another process: reading the files in this one would release the store's locks.
  await promisify(execFile)("cp", ["-p", from, `${from}-wal`, `${from}-shm`, folder]);
  return join(folder, "memory.sqlite");
}

// verifies P-durable-damage
describe.each(DRIVERS)("with $name,", (driver) => {
  let rig: SqliteRig;
  beforeEach(async () => {
    rig = await openSqliteRig(driver);
    for (let n = 0; n < FOLDED; n++) await rig.store.put(fact(`key-${n}`, `value ${n}`));
    await rig.store.put(fact("gone", "forgotten"));
    await rig.store.delete(refTo("gone")); // checkpoints the log
    for (let n = 0; n < IN_LOG; n++) await rig.store.put(fact(`key-${n}`, `new ${n}`));
  });
  afterEach(() => rig.dispose());

  const optionsFor = (path: string) => ({ ...rig.options, path });

  /** Flips a byte in the middle of a frame; frames count from 0. */
  async function spoilFrame(path: string, frame: number): Promise<void> {
    const log = await readFile(`${path}-wal`);
    const at = HEADER_BYTES + frame * FRAME_BYTES + 2_000;
    log[at] = 255 - (log[at] ?? 0);
    await writeFile(`${path}-wal`, log);
  }

  async function framesIn(path: string): Promise<number> {
    return ((await readFile(`${path}-wal`)).length - HEADER_BYTES) / FRAME_BYTES;
  }

  test("no process opens the store without the data behind a damaged frame, and none changes a byte", async () => {
    const path = await copyOf(rig, "damaged");
    await writeFile(`${path}-shm`, ""); // the state after a power cut, or in a copy of the other two files
    await spoilFrame(path, 3);
    const before = await readFile(`${path}-wal`);
    const refused = { code: "store_corrupt", message: expect.stringContaining("helmdeck-memory repair") };
    await expect(openSqliteStore(optionsFor(path))).rejects.toMatchObject(refused);
    await expect(openSqliteReader(optionsFor(path))).rejects.toMatchObject(refused);
    await expect(copyDatabase(path, join(rig.folder, "copy"), driver)).rejects.toMatchObject(refused);
    expect(await readFile(`${path}-wal`)).toEqual(before);
  });

  test("a log that was cut short is detected by its index, even if only the header is left", async () => {
    const frames = await framesIn(await copyOf(rig, "whole"));
    for (const kept of [0, 1, frames - 1]) {
      const path = await copyOf(rig, `cut-to-${kept}`);
      const log = await readFile(`${path}-wal`);
      await writeFile(`${path}-wal`, log.subarray(0, HEADER_BYTES + kept * FRAME_BYTES));
      await expect(openSqliteStore(optionsFor(path))).rejects.toMatchObject({ code: "store_corrupt" });
    }
  });

  test("repair restores data behind a damaged frame, and keeps all files", async () => {
    const path = await copyOf(rig, "damaged");
    await spoilFrame(path, 3);
    const before = await readFile(`${path}-wal`);
    expect(await verifyDatabase(optionsFor(path))).toMatchObject({ log: "damaged" });
    const to = join(rig.folder, "repaired.sqlite");
    expect(await repairDatabase({ ...optionsFor(path), to })).toMatchObject({
      log: "damaged",
      entries: IN_LOG,
    });
    expect(await readFile(`${path}-wal`)).toEqual(before);
    const store = await openSqliteStore(optionsFor(to));
    expect(await allKeys(store)).toHaveLength(IN_LOG);
    expect(text((await store.get(refTo(`key-${IN_LOG - 1}`)))?.value)).toBe(`new ${IN_LOG - 1}`);
    await store.close();
  });

  test("a log with a damaged header is detected, and its content restored", async () => {
    const path = await copyOf(rig, "damaged");
    const log = await readFile(`${path}-wal`);
    log[17] = 255 - (log[17] ?? 0);
    await writeFile(`${path}-wal`, log);
    await expect(openSqliteStore(optionsFor(path))).rejects.toMatchObject({ code: "store_corrupt" });
    const to = join(rig.folder, "repaired.sqlite");
    expect(await repairDatabase({ ...optionsFor(path), to })).toMatchObject({
      log: "damaged",
      entries: IN_LOG,
    });
  });

  test("unacknowledged writes of a killed process, behind shorter ones of another, do not count as damage", async () => {
    const other = await copyOf(rig, "other");
    await rig.store.putMany(Array.from({ length: 30 }, (_, n) => fact(`more-${n}`, "x".repeat(1_000))));
    const killed = await readFile(`${await copyOf(rig, "killed")}-wal`);
    const store = await openSqliteStore(optionsFor(other));
    await store.put(fact("short", "one"));
    const path = await copyOf(rig, "both", other);
    await store.close();
    const log = await readFile(`${path}-wal`);
    expect(killed.length).toBeGreaterThan(log.length + 2 * FRAME_BYTES);
    await writeFile(`${path}-wal`, Buffer.concat([log, killed.subarray(log.length)]));
    const again = await openSqliteStore(optionsFor(path));
    expect(text((await again.get(refTo("short")))?.value)).toBe("one");
    expect(await allKeys(again)).toHaveLength(IN_LOG + 1);
    await again.close();
  });

  test("frames of a write interrupted by a power cut, some with torn headers, do not count as damage", async () => {
    const path = await copyOf(rig, "torn");
    const acknowledged = await framesIn(path);
    await rig.store.putMany(Array.from({ length: 30 }, (_, n) => fact(`more-${n}`, "x".repeat(1_000))));
    const log = await readFile(`${await copyOf(rig, "written")}-wal`);
    // The sector with their checksums was written. The sector before it still has older bytes.
    for (const frame of [acknowledged + 1, acknowledged + 3])
      log.fill(0, HEADER_BYTES + frame * FRAME_BYTES, HEADER_BYTES + frame * FRAME_BYTES + 16);
    await writeFile(`${path}-wal`, log);
    await writeFile(`${path}-shm`, "");
    const store = await openSqliteStore(optionsFor(path));
    expect(await allKeys(store)).toHaveLength(IN_LOG);
    await store.close();
  });
});
