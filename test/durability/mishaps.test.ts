/**
 * The clock jumps, the database is moved away and back, or a backup is put in its place, at random moments of a workload: what
 * was acknowledged is there in the end.
 *
 * What a backup does not have is gone once it is restored, as the person wanted; what was acknowledged after that is not. A
 * write that was refused may have happened or not.
 */
import { copyFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type OpenMemory, openMemory } from "../../app/index.ts";
import { REOPEN_AFTER_MS } from "../../app/reopening-store.ts";
import { betterSqliteDriver, type SqliteDriver } from "../../engine/index.ts";
import { sized } from "../run/size.ts";
import { DRIVERS, makeQuickFolder } from "./place.ts";
import { Random } from "./random.ts";

const WORKLOADS = sized(50, 1_000);
const STEPS = 60;
const KEYS = 8;
const START = Date.parse("2026-11-22T12:00:00Z");
const SECOND_MS = 1_000;
const DAY_MS = 24 * 3_600 * SECOND_MS;
const WRONG_DAYS = [-20_000, -400, -1, 1, 95, 800, 20_000] as const;
/** Of an opening that ends, and of one that is tried a moment later. */
const TRIES = 3;

/** What may be there under each key; nothing where it was forgotten or never stored. */
type Held = ReadonlyMap<string, ReadonlySet<string | undefined>>;

class Workload {
  readonly mishaps: string[] = [];
  acknowledged = 0;
  readonly #random: Random;
  readonly #driver: SqliteDriver;
  readonly #place: { readonly databasePath: string; readonly keyPath: string };
  #memory: OpenMemory | undefined;
  #held: Held = new Map();
  #backedUp: Held | undefined;
  #time = START;
  #wrongByMs = 0;
  #monotonicMs = 0;

  constructor(folder: string, driver: SqliteDriver, seed: number) {
    this.#random = new Random(seed);
    this.#driver = driver;
    this.#place = {
      databasePath: join(folder, "data", "memory.sqlite"),
      keyPath: join(folder, "memory.key"),
    };
  }

  async run(): Promise<void> {
    await this.#open();
    for (let step = 0; step < STEPS; step++) await this.#step(step);
    await this.#close();
  }

  /** Keys whose value is none that may be there, after a restart under the right clock. */
  async lost(): Promise<readonly string[]> {
    await this.#open();
    const found = new Map<string, string>();
    for (const { key, value } of (await this.#memory?.listFacts("main", {}))?.facts ?? [])
      found.set(key, value);
    const report = await this.#memory?.doctor();
    await this.#close();
    expect(report?.store).toMatchObject({ integrity: "ok", unreadable: 0 });
    const keys = new Set([...this.#held.keys(), ...found.keys()]);
    return [...keys].filter((key) => !(this.#held.get(key) ?? new Set([undefined])).has(found.get(key)));
  }

  async #step(step: number): Promise<void> {
    this.#time += SECOND_MS;
    const choice = this.#random.below(20);
    if (choice === 0) return this.#moveAwayAndBack();
    if (choice === 1) return this.#backUp();
    if (choice === 2) return this.#restore();
    if (choice <= 4) return this.#jumpTheClock(step);
    return this.#write(step);
  }

  async #write(step: number): Promise<void> {
    const key = `key-${this.#random.below(KEYS)}`;
    const value = this.#random.chance(0.2) ? undefined : `value ${step}`;
    const before = this.#held.get(key) ?? new Set([undefined]);
    const isDone = await this.#tried(value === undefined ? this.#forget(key) : this.#store(key, value));
    if (isDone) this.acknowledged++;
    this.#held = new Map(this.#held).set(key, new Set(isDone ? [value] : [...before, value]));
  }

  /** A wrong clock for some writes, and a sweep under it. */
  async #jumpTheClock(step: number): Promise<void> {
    this.mishaps.push("clock");
    this.#wrongByMs = this.#random.pick(WRONG_DAYS) * DAY_MS;
    for (let writes = this.#random.below(3); writes > 0; writes--) await this.#write(step);
    await this.#tried(this.#memory?.store.deleteExpired());
    this.#wrongByMs = 0;
  }

  async #moveAwayAndBack(): Promise<void> {
    this.mishaps.push("moved");
    const path = this.#place.databasePath;
    await rename(path, `${path}.away`);
    for (let tries = this.#random.below(TRIES); tries > 0; tries--) {
      await this.#write(STEPS + tries);
      this.#monotonicMs += REOPEN_AFTER_MS;
    }
    await rename(`${path}.away`, path);
    this.#monotonicMs += REOPEN_AFTER_MS;
  }

  /** A copy of the closed database, between two lives of the program. */
  async #backUp(): Promise<void> {
    await this.#close();
    await copyFile(this.#place.databasePath, this.#backup);
    this.#backedUp = this.#held;
    await this.#open();
  }

  async #restore(): Promise<void> {
    if (this.#backedUp === undefined) return;
    this.mishaps.push("restored");
    await copyFile(this.#backup, `${this.#backup}.copy`);
    await rename(`${this.#backup}.copy`, this.#place.databasePath);
    this.#held = this.#backedUp;
    for (let tries = 0; tries < TRIES; tries++) {
      await this.#write(2 * STEPS + tries);
      this.#monotonicMs += REOPEN_AFTER_MS;
    }
  }

  get #backup(): string {
    return `${this.#place.databasePath}.backup`;
  }

  #store(key: string, value: string) {
    return this.#memory?.storeFact("main", { key, value });
  }

  #forget(key: string) {
    return this.#memory?.forget("main", { scope: `key:${key}` });
  }

  async #tried(work: Promise<unknown> | undefined): Promise<boolean> {
    return work === undefined ? false : work.then(() => true, isRefused);
  }

  async #open(): Promise<void> {
    this.#memory = await openMemory({
      ...this.#place,
      env: {},
      driver: this.#driver,
      sweepEveryMs: 0,
      now: () => this.#time + this.#wrongByMs,
      clock: () => this.#monotonicMs,
    });
  }

  async #close(): Promise<void> {
    await this.#memory?.close();
  }
}

/** Said clearly, it is no loss. */
function isRefused(error: unknown): false {
  expect(error).toMatchObject({ code: "store_replaced" });
  return false;
}

// verifies P-clock-deletes-nothing, P-durable-replaced
describe(`of ${WORKLOADS} workloads under which the clock jumps and the file is moved or restored`, () => {
  test("none loses what was acknowledged", async () => {
    const mishaps = new Set<string>();
    const losses: string[] = [];
    let acknowledged = 0;
    for (let seed = 1; seed <= WORKLOADS; seed++) {
      const folder = await makeQuickFolder();
      const workload = new Workload(folder, DRIVERS.at(seed % DRIVERS.length) ?? betterSqliteDriver, seed);
      await workload.run();
      losses.push(...(await workload.lost()).map((key) => `seed ${seed}: ${key}`));
      for (const mishap of workload.mishaps) mishaps.add(mishap);
      acknowledged += workload.acknowledged;
      await rm(folder, { recursive: true });
    }
    expect(losses).toEqual([]);
    expect([...mishaps].sort()).toEqual(["clock", "moved", "restored"]);
    expect(acknowledged).toBeGreaterThan(WORKLOADS * STEPS * 0.5);
  });
});
