/**
 * Damage to the database or its log: reads return the stored values, or an error or report explains the damage.
 *
 * No read returns another value, no process crashes, and no entry disappears silently: the test calls get, list and inspect.
 * With a damaged log this requires the log's index. Without the index, damage to the last write looks like a power cut during
 * that write, and a shortened log looks complete: the store then has exactly its state at an earlier moment.
 */
import { execFile } from "node:child_process";
import { mkdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { isHelmdeckError } from "../../engine/errors.ts";
import { parseKey } from "../../engine/store/master-key.ts";
import type { MemoryStore } from "../../engine/store/memory-store.ts";
import { openSqliteStore } from "../../engine/store/sqlite/open-sqlite.ts";
import type { SqliteDriver } from "../../engine/store/sqlite/sqlite-driver.ts";
import { ANA, fact, refTo, text } from "../contract/rig.ts";
import { sized } from "../run/size.ts";
import { type Damaged, type DatabaseFiles, damage, WAL_HEADER_BYTES } from "./damage.ts";
import { type Held, isSame } from "./operations.ts";
import { DRIVERS, makeQuickFolder } from "./place.ts";
import { Random } from "./random.ts";

const FILES = sized(200, 10_000) / DRIVERS.length;
const FOLDED_ENTRIES = 30;
const ENTRIES = 60;
const SEED = 20_261_122;
const AT_ONCE = 8;
const KEY = parseKey("5a".repeat(32), "test");

/** An undamaged database, closed or as on disk while it is open, and its contents after each write. */
interface Sound {
  readonly files: readonly [DatabaseFiles, DatabaseFiles];
  readonly history: readonly Held[];
  readonly modifiedAt: Date;
}

// verifies P-durable-damage
describe.each(DRIVERS)("with $name,", (driver) => {
  test(`none of ${FILES} damaged files gives another value, a crash, or an unreported loss`, async () => {
    const folder = await makeQuickFolder();
    try {
      const sound = await makeSound(driver, join(folder, "sound"));
      expect(await faultsOf(sound, driver, folder)).toEqual([]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

async function makeSound(driver: SqliteDriver, folder: string): Promise<Sound> {
  const random = new Random(SEED);
  const path = join(folder, "memory.sqlite");
  const store = await openSqliteStore({ path, key: KEY, driver });
  const put = async (n: number): Promise<readonly [string, string]> => {
    const value = `value ${n} ${"x".repeat(random.below(random.chance(0.2) ? 9_000 : 600))}`;
    await store.put(fact(`key/${n}`, value));
    return [`key/${n}`, value];
  };
  const held = new Map<string, string>();
  for (let n = 0; n < FOLDED_ENTRIES; n++) held.set(...(await put(n)));
  await store.put(fact("gone", "forgotten"));
  await store.delete(refTo("gone")); // checkpoints the log
  const history = [new Map(held)];
  for (let n = FOLDED_ENTRIES - 5; n < ENTRIES; n++) history.push(new Map(held.set(...(await put(n)))));
  const copy = join(folder, "open");
  await mkdir(copy);
  // Uses another process: reading the files in this one would release the store's locks.
  await promisify(execFile)("cp", [path, `${path}-wal`, `${path}-shm`, copy]);
  await store.close();
  const files = [await filesAt(path), await filesAt(join(copy, "memory.sqlite"))] as const;
  return { files, history, modifiedAt: (await stat(path)).mtime };
}

async function filesAt(path: string): Promise<DatabaseFiles> {
  const beside = ["-wal", "-shm"].map((ending) => readFile(`${path}${ending}`).catch(() => undefined));
  const [database, log, index] = await Promise.all([readFile(path), ...beside]);
  return { database, log, index };
}

async function faultsOf(sound: Sound, driver: SqliteDriver, folder: string): Promise<readonly string[]> {
  const faults: string[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let n = next++; n < FILES; n = next++) {
      const random = new Random(SEED + n);
      const files = random.chance(0.4) ? sound.files[0] : sound.files[1];
      const damaged = damage(random.chance(0.5) ? files : { ...files, index: undefined }, random);
      const path = join(folder, `${n}`, "memory.sqlite");
      await place(path, damaged.files, random.chance(0.5) ? sound.modifiedAt : undefined);
      const fault = await faultOf(path, driver, heldBy(damaged, sound));
      if (fault !== undefined) faults.push(`file ${n}, ${damaged.name}: ${fault}`);
      await rm(join(path, ".."), { recursive: true });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return faults;
}

/**
 * The contents that may appear without a report: the last state, or a state that a crash during or before the last write could
 * leave.
 */
function heldBy({ part, files: { log, index } }: Damaged, { files, history }: Sound): readonly Held[] {
  if (part === "database") return history.slice(-1);
  if (log === undefined || log.length < WAL_HEADER_BYTES) return history;
  if (index !== undefined) return history.slice(-1);
  return files[1].log?.subarray(0, log.length).equals(log) ? history : history.slice(-2);
}

async function place(
  path: string,
  { database, log, index }: DatabaseFiles,
  modifiedAt: Date | undefined,
): Promise<void> {
  await mkdir(join(path, ".."), { mode: 0o700 });
  await writeFile(path, database, { mode: 0o600 });
  if (log !== undefined) await writeFile(`${path}-wal`, log, { mode: 0o600 });
  if (index !== undefined) await writeFile(`${path}-shm`, index, { mode: 0o600 });
  if (modifiedAt !== undefined) await utimes(path, modifiedAt, modifiedAt);
}

async function faultOf(
  path: string,
  driver: SqliteDriver,
  possible: readonly Held[],
): Promise<string | undefined> {
  try {
    const store = await openSqliteStore({ path, key: KEY, driver });
    try {
      const seen = await look(store, possible.at(-1) ?? new Map());
      await told(store.put(fact("new", "value")));
      return faultIn(seen, possible);
    } finally {
      await store.close();
    }
  } catch (error) {
    return isNamed(error) ? undefined : `not a named error: ${error}`;
  }
}

interface Seen {
  /** The values that each kind of read returned. */
  readonly got: Held;
  readonly listed: Held;
  /** Whether any read reported damage. */
  readonly isTold: boolean;
}

async function look(store: MemoryStore, held: Held): Promise<Seen> {
  const list = await told(store.list({ namespace: ANA, limit: 1_000 }));
  const got = new Map<string, string>();
  let isTold = list === undefined || list.unreadable.length > 0;
  for (const key of held.keys()) {
    const entry = await told(store.get(refTo(key)).then((found) => ({ value: text(found?.value) })));
    isTold ||= entry === undefined;
    if (entry?.value !== undefined) got.set(key, entry.value);
  }
  const report = await told(store.inspect());
  isTold ||= report === undefined || report.integrity !== "ok" || report.unreadable > 0;
  const listed = list?.entries.map(({ key, value }) => [key, text(value) ?? ""] as const);
  return { got, listed: new Map(listed ?? got), isTold };
}

function faultIn({ got, listed, isTold }: Seen, possible: readonly Held[]): string | undefined {
  if (possible.some((held) => isSame(got, held) && isSame(listed, held))) return undefined;
  if (!isTold)
    return `gone without a word: ${got.size} got, ${listed.size} listed, of ${possible.at(-1)?.size}`;
  const isOther = ([key, value]: readonly [string, string]): boolean =>
    !possible.some((held) => held.get(key) === value);
  const other = [...got, ...listed].find(isOther);
  return other && `another value of ${other[0]}`;
}

/** Undefined for an error that reports damage; rethrows other errors. */
async function told<T>(asked: Promise<T>): Promise<T | undefined> {
  return asked.catch((error: unknown) => {
    if (isNamed(error)) return undefined;
    throw error;
  });
}

function isNamed(error: unknown): boolean {
  return isHelmdeckError(error) && error.code !== "internal";
}
