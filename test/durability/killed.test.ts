/** A process that is killed during a write loses no acknowledged data, and leaves no partial write. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseKey } from "../../engine/store/master-key.ts";
import type { MemoryStore } from "../../engine/store/memory-store.ts";
import { openSqliteStore } from "../../engine/store/sqlite/open-sqlite.ts";
import type { SqliteDriver } from "../../engine/store/sqlite/sqlite-driver.ts";
import { ANA, refTo, text } from "../contract/rig.ts";
import { bundledScript } from "../run/bundles.ts";
import { sized } from "../run/size.ts";
import { childOf, DRIVERS, makeQuickFolder } from "./place.ts";

const KEY_HEX = "5a".repeat(32);
const LIVES_OF_A_FILE = sized(10, 20);
const FILES_OF_A_DRIVER = sized(3, 50);
const KILLS = DRIVERS.length * FILES_OF_A_DRIVER * LIVES_OF_A_FILE;

/** All acknowledged changes to a file, from every process that had it open. */
interface Acknowledged {
  counter: string | undefined;
  readonly batches: Set<string>;
  readonly singles: Set<string>;
  readonly deleted: Set<string>;
  lives: number;
}

/** When to kill a process: some time after a number of acknowledgements. Some are killed while they open the file. */
interface Fate {
  readonly afterLines: number;
  readonly andMs: number;
}

// verifies P-durable-kill
describe("killed with SIGKILL", () => {
  test(`${KILLS} times, a store has all acknowledged data and no partial write`, async () => {
    const script = await bundledScript(childOf("live-until-killed"));
    const kills = await Promise.all(DRIVERS.map((driver) => killAndCheck(driver, script)));
    expect(kills.reduce((sum, count) => sum + count, 0)).toBe(KILLS);
  });
});

/** Starts and kills processes on one file after another; returns the number of kills. */
async function killAndCheck(driver: SqliteDriver, script: string): Promise<number> {
  const folder = await makeQuickFolder();
  let kills = 0;
  try {
    for (let file = 0; file < FILES_OF_A_DRIVER; file++) {
      const path = join(folder, `${file}`, "memory.sqlite");
      const acknowledged: Acknowledged = {
        counter: undefined,
        batches: new Set(),
        singles: new Set(),
        deleted: new Set(),
        lives: 0,
      };
      for (let life = 0; life < LIVES_OF_A_FILE; life++) {
        await liveAndDie({ script, driver, path, name: `life${life}`, fate: drawFate(), acknowledged });
        kills += 1;
        await check({ driver, path, acknowledged }, life % 5 === 4);
      }
      expect(acknowledged.singles.size).toBeGreaterThan(0);
    }
    return kills;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function drawFate(): Fate {
  const opening = Math.random() < 0.2;
  return opening
    ? { afterLines: 0, andMs: 30 + Math.random() * 100 }
    : { afterLines: 1 + Math.floor(Math.random() * 12), andMs: Math.random() * 4 };
}

interface Life {
  readonly script: string;
  readonly driver: SqliteDriver;
  readonly path: string;
  readonly name: string;
  readonly fate: Fate;
  readonly acknowledged: Acknowledged;
}

async function liveAndDie({ script, driver, path, name, fate, acknowledged }: Life): Promise<void> {
  const child = spawn(process.execPath, [script, driver.name, path, KEY_HEX, name], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  let complaint = "";
  let fated = false;
  const meetFate = (): void => {
    if (fated || output.split("\n").length - 1 < fate.afterLines) return;
    fated = true;
    setTimeout(() => child.kill("SIGKILL"), fate.andMs);
  };
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString();
    meetFate();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    complaint += chunk.toString();
  });
  meetFate();
  const [, signal] = await once(child, "close");
  expect([signal, complaint]).toEqual(["SIGKILL", ""]);
  remember(output, acknowledged);
}

/** The last line may be incomplete; then the write was not acknowledged. */
function remember(output: string, acknowledged: Acknowledged): void {
  for (const line of output.split("\n").slice(0, -1)) {
    const said: Partial<Record<string, string>> = JSON.parse(line);
    if (said.opened !== undefined) acknowledged.lives += 1;
    if (said.counter !== undefined) acknowledged.counter = said.counter;
    if (said.batch !== undefined) acknowledged.batches.add(said.batch);
    if (said.single !== undefined) acknowledged.singles.add(said.single);
    if (said.deleted !== undefined) acknowledged.deleted.add(said.deleted);
  }
}

async function check(
  { driver, path, acknowledged }: Pick<Life, "driver" | "path" | "acknowledged">,
  thorough: boolean,
): Promise<void> {
  const store = await openSqliteStore({ path, key: parseKey(KEY_HEX, "test"), driver });
  try {
    const keys = await keysOf(store);
    for (const name of acknowledged.singles) expect(keys).toContain(`single/${name}`);
    for (const name of acknowledged.deleted) expect(keys.has(`doomed/${name}`)).toBe(false);
    for (const name of acknowledged.batches) expect(keys).toContain(`batch/${name}/1`);
    for (const [batch, size] of batchesIn(keys)) expect([batch, size]).toEqual([batch, 5]);
    expect([0, 600_000]).toContain(await sizeOfCopy(store));
    const counter = text((await store.get(refTo("counter")))?.value) ?? "";
    expect(order(counter)).toBeGreaterThanOrEqual(order(acknowledged.counter ?? ""));
    if (thorough) {
      expect(await store.inspect()).toMatchObject({ integrity: "ok", unreadable: 0, entries: keys.size });
    }
  } finally {
    await store.close();
  }
}

/** Reads the change feed, to check that it agrees with list and count. */
async function keysOf(store: MemoryStore): Promise<ReadonlySet<string>> {
  const changes = await store.changes({ namespace: ANA, since: 0, limit: 10_000 });
  if (changes.kind === "start_over") throw new Error("told to start over from 0");
  return new Set(changes.upserts.map(({ key }) => key));
}

/** Of the copy of an index; 0 without one. */
async function sizeOfCopy(store: MemoryStore): Promise<number> {
  const copy = await store.snapshots?.load(ANA, "a build");
  let size = 0;
  for await (const part of copy?.parts ?? []) size += part.byteLength;
  return size;
}

function batchesIn(keys: ReadonlySet<string>): ReadonlyMap<string, number> {
  const sizes = new Map<string, number>();
  for (const key of keys) {
    if (!key.startsWith("batch/")) continue;
    const name = key.slice(0, key.lastIndexOf("/"));
    sizes.set(name, (sizes.get(name) ?? 0) + 1);
  }
  return sizes;
}

/** "life3/000012" as a number that increases with time. */
function order(name: string): number {
  const [, life, n] = /^life(\d+)\/(\d+)$/.exec(name) ?? [];
  return life === undefined ? -1 : Number(life) * 1_000_000 + Number(n);
}
