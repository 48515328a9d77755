/**
 * Damage to the database or its log: what comes back is what was stored, or an error or report that says what is wrong.
 *
 * Never another value, never a crash, and no entry is gone without a word: get, list and inspect are all asked. So it is with a
 * damaged log, as long as the log's index lies beside it. Without one, damage to the last write looks like a power cut in it, and a
 * log that was shortened like one that never had more: then the store is as it was at that earlier moment, whole.
 */
import { execFile } from "node:child_process";
import { mkdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import {
  isHelmdeckError,
  type MemoryStore,
  openSqliteStore,
  parseKey,
  type SqliteDriver,
} from "../../engine/index.ts";
import { ANA, fact, refTo, text } from "../contract/rig.ts";
import { sized } from "../run/size.ts";
import { type Damaged, type DatabaseFiles, damage, LOG_HEADER_BYTES } from "./damage.ts";
import { type Held, isSame } from "./operations.ts";
import { DRIVERS, makeQuickFolder } from "./place.ts";
import { Random } from "./random.ts";

const FILES = sized(300, 10_000) / DRIVERS.length;
const FOLDED_ENTRIES = 30;
const ENTRIES = 60;
const SEED = 20_261_122;
const AT_ONCE = 8;
const KEY = parseKey("5a".repeat(32), "test");

/** A sound database, closed or as it lies on the disk while it is open, and what it held after each write. */
interface Sound {
  readonly files: readonly [DatabaseFiles, DatabaseFiles];
  readonly history: readonly Held[];
  readonly modifiedAt: Date;
}

// verifies P-durable-damage
describe.each(DRIVERS)("with $name,", (driver) => {
  test(`of ${FILES} damaged files, none answers with another value, crashes, or keeps quiet about a loss`, async () => {
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
  await store.delete(refTo("gone")); // folds the log in
  const history = [new Map(held)];
  for (let n = FOLDED_ENTRIES - 5; n < ENTRIES; n++) history.push(new Map(held.set(...(await put(n)))));
  const copy = join(folder, "open");
  await mkdir(copy);
  // By another process: reading the files in this one would drop the store's locks.
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

/** What it may hold without a word: what was stored last, and what a crash in the last write or before it would have left. */
function heldBy({ part, files: { log, index } }: Damaged, { files, history }: Sound): readonly Held[] {
  if (part === "database") return history.slice(-1);
  if (log === undefined || log.length < LOG_HEADER_BYTES) return history;
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
    return isNamed(error) ? undefined : `not told by name: ${error}`;
  }
}

interface Seen {
  /** What each way of asking gave. */
  readonly got: Held;
  readonly listed: Held;
  /** Something of all that was asked said that something is wrong. */
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

/** Undefined for an error that says what is wrong; any other is thrown. */
async function told<T>(asked: Promise<T>): Promise<T | undefined> {
  return asked.catch((error: unknown) => {
    if (isNamed(error)) return undefined;
    throw error;
  });
}

function isNamed(error: unknown): boolean {
  return isHelmdeckError(error) && error.code !== "internal";
}
