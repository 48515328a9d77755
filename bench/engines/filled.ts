/** Makes the same memory twice, with identical rows: in a SQLite file in an engine's home, and on PostgreSQL. */
import { copyFile, mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { moveMemory } from "../../app/moving/move-memory.ts";
import { placeAddress, storePlace } from "../../app/moving/store-place.ts";
import { parseKey } from "../../engine/store/master-key.ts";
import { namespaceOf } from "../../engine/store/namespace.ts";
import { betterSqliteDriver } from "../../engine/store/sqlite/better-sqlite-driver.ts";
import { openSqliteStore } from "../../engine/store/sqlite/open-sqlite.ts";
import { ENGINE_KEY, makeHome } from "../../test/engines/engine.ts";
import { type MadeFact, madeFact } from "../search/made-facts.ts";

const KEY = parseKey(ENGINE_KEY, "the benchmark");
const BATCH = 1_000;

/** The facts are spread evenly over the namespaces. */
export interface Size {
  readonly rows: number;
  readonly namespaces: number;
}

export function subjectOf(number: number): string {
  return `caller-${number}`;
}

export function factOf({ rows, namespaces }: Size, subject: number, place: number): MadeFact {
  return madeFact(subject * (rows / namespaces) + place);
}

export interface Filled {
  readonly home: string;
  readonly perSecond: number;
}

export async function fillHome(size: Size): Promise<Filled> {
  const home = await makeHome();
  await mkdir(dirname(databaseIn(home)), { recursive: true, mode: 0o700 });
  const store = await openSqliteStore({ path: databaseIn(home), key: KEY, driver: betterSqliteDriver });
  const began = performance.now();
  for (let first = 0; first < size.rows; first += BATCH) {
    const count = Math.min(BATCH, size.rows - first);
    await store.putMany(Array.from({ length: count }, (_, index) => entryOf(size, first + index)));
  }
  const perSecond = rate(size.rows, began);
  await store.close();
  return { home, perSecond };
}

/** Moves a copy as `helmdeck-memory move` does. Returns rows per second; each row is copied and compared. */
export async function moveCopy(home: string, { rows }: Size, url: string): Promise<number> {
  const copy = `${databaseIn(home)}.copy`;
  await copyFile(databaseIn(home), copy);
  const address = (typed: string) =>
    placeAddress(typed, "store", { env: {}, homeDir: home, from: "argument" });
  const place = async (typed: string) =>
    storePlace({ address: await address(typed), key: KEY, driver: betterSqliteDriver });
  const [from, to] = [await place(copy), await place(url)];
  const began = performance.now();
  await moveMemory({ from, to, key: KEY, now: Date.now });
  await rm(copy);
  return rate(rows, began);
}

function databaseIn(home: string): string {
  return join(home, ".openclaw", "helmdeck-memory", "memory.sqlite");
}

function entryOf(size: Size, number: number) {
  const each = size.rows / size.namespaces;
  const { key, value, category, tags } = madeFact(number);
  const namespace = namespaceOf(subjectOf(Math.floor(number / each)));
  return { namespace, origin: "fact" as const, key, value: Buffer.from(value), category, tags };
}

function rate(count: number, since: number): number {
  return count / ((performance.now() - since) / 1_000);
}
