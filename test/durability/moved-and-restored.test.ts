/**
 * The clock jumps and the file is moved, deleted or restored at random moments of a workload: all acknowledged data remains.
 *
 * After a restore, this means the data acknowledged before the copy, and the data acknowledged after reopening.
 */
import { execFile } from "node:child_process";
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { mayOpenFile, REOPEN_AFTER_MS, ReopeningStore } from "../../app/reopening-store.ts";
import { isHelmdeckError } from "../../engine/errors.ts";
import { parseKey } from "../../engine/store/master-key.ts";
import type { MemoryStore } from "../../engine/store/memory-store.ts";
import { openSqliteStore } from "../../engine/store/sqlite/open-sqlite.ts";
import type { SqliteDriver } from "../../engine/store/sqlite/sqlite-driver.ts";
import { DAY_MS, START } from "../contract/rig.ts";
import { sized } from "../run/size.ts";
import { carryOut, type Held, heldAfter, heldIn, isSame, operationsOf } from "./operations.ts";
import { DRIVERS, makeQuickFolder } from "./place.ts";
import { Random } from "./random.ts";

const WORKLOADS = sized(30, 1_000) / DRIVERS.length;
const OPERATIONS = 40;
const SEED = 20_261_122;
const KEY = parseKey("5a".repeat(32), "test");
const LIFE_MS = 90 * DAY_MS;
const PARTS = ["", "-wal", "-shm"];

// verifies P-durable-replaced, P-clock-deletes-nothing
describe.each(DRIVERS)("with $name,", (driver) => {
  test(`${WORKLOADS} workloads with these faults lose no acknowledged data`, async () => {
    const folder = await makeQuickFolder();
    const faults: string[] = [];
    try {
      for (let n = 0; n < WORKLOADS; n++) {
        const life = new Life(driver, join(folder, `${n}`), SEED + n);
        const fault = await life.run();
        if (fault !== undefined) faults.push(`workload ${SEED + n}: ${fault}`);
      }
      expect(faults).toEqual([]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

/** One store and the faults that happen to it. */
class Life {
  readonly #driver: SqliteDriver;
  readonly #path: string;
  readonly #random: Random;
  readonly #seed: number;
  /** The difference between the system's clock and the true time, which always advances. */
  #offBy = 0;
  #passed = 0;
  #held: Held = new Map();
  #backup: Held | undefined;
  readonly #log: string[] = [];

  constructor(driver: SqliteDriver, folder: string, seed: number) {
    this.#driver = driver;
    this.#path = join(folder, "memory.sqlite");
    this.#random = new Random(seed);
    this.#seed = seed;
  }

  async run(): Promise<string | undefined> {
    const store = await ReopeningStore.open({
      open: (beginnings) => this.#open(beginnings),
      mayOpen: (cause) => mayOpenFile(this.#path, cause),
      clock: () => this.#passed,
    });
    try {
      for (const operation of operationsOf(this.#seed, OPERATIONS)) {
        if (this.#random.chance(0.3)) await this.#befall(store);
        this.#passed += this.#random.below(60_000);
        if (await this.#isDone(() => carryOut(store, operation, LIFE_MS)))
          this.#held = heldAfter(this.#held, operation);
      }
      this.#offBy = 0;
      await store.deleteExpired();
      return await this.#faultIn(store);
    } catch (error) {
      return `${error} after ${this.#log.join(", ")}`;
    } finally {
      await store.close();
    }
  }

  #open(beginnings: number): Promise<MemoryStore> {
    const now = (): number => START + this.#passed + this.#offBy;
    return openSqliteStore({ path: this.#path, key: KEY, driver: this.#driver, now, beginnings });
  }

  async #faultIn(store: MemoryStore): Promise<string | undefined> {
    const found = await heldIn(store);
    const { integrity } = await store.inspect();
    if (integrity === "ok" && isSame(found, this.#held)) return undefined;
    return `${integrity}, ${found.size} of ${this.#held.size} after ${this.#log.join(", ")}`;
  }

  async #befall(store: MemoryStore): Promise<void> {
    const mishap = this.#random.pick([
      { name: "the clock jumps", do: () => this.#jump(store) },
      { name: "moved away and back", do: () => this.#moveAway(store, [""]) },
      { name: "moved away with its log, and back", do: () => this.#moveAway(store, PARTS) },
      { name: "the folder moved away and back", do: () => this.#moveFolderAway(store) },
      { name: "the log taken away", do: () => this.#takeLogAway(store) },
      { name: "copied", do: () => this.#copy(store) },
      { name: "restored", do: () => this.#restore(store, [""]) },
      { name: "restored without the log", do: () => this.#restore(store, PARTS) },
    ]);
    this.#log.push(mishap.name);
    await mishap.do();
  }

  /** Sets the clock wrong by up to two years in either direction, or back to the correct time. */
  async #jump(store: MemoryStore): Promise<void> {
    this.#offBy = this.#random.chance(0.4) ? 0 : Math.trunc((this.#random.next() - 0.5) * 4 * 365 * DAY_MS);
    if (this.#random.chance(0.5)) await store.deleteExpired();
  }

  async #moveAway(store: MemoryStore, parts: readonly string[]): Promise<void> {
    for (const part of parts) await rename(`${this.#path}${part}`, `${this.#path}.away${part}`);
    await this.#expectRefusal(store);
    for (const part of parts) await rename(`${this.#path}.away${part}`, `${this.#path}${part}`);
    await this.#reopened(store);
  }

  async #moveFolderAway(store: MemoryStore): Promise<void> {
    const folder = dirname(this.#path);
    await rename(folder, `${folder}.away`);
    await this.#expectRefusal(store);
    await rename(`${folder}.away`, folder);
    await this.#reopened(store);
  }

  async #takeLogAway(store: MemoryStore): Promise<void> {
    for (const part of ["-wal", "-shm"]) await rm(`${this.#path}${part}`, { force: true });
    await this.#expectRefusal(store);
    await this.#reopened(store);
  }

  /** Copies database and log, then opens and closes the copy, so that it is a single file. */
  async #copy(store: MemoryStore): Promise<void> {
    await store.inspect();
    const folder = `${this.#path}.copy`;
    const copy = join(folder, "memory.sqlite");
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder);
    // Uses another process: reading the files in this one would release the store's locks.
    await promisify(execFile)("cp", [this.#path, `${this.#path}-wal`, folder]);
    const copied = await openSqliteStore({ path: copy, key: KEY, driver: this.#driver });
    this.#backup = await heldIn(copied);
    await copied.close();
    if (!isSame(this.#backup, this.#held)) throw new Error("the copy does not hold what was acknowledged");
  }

  async #restore(store: MemoryStore, parts: readonly string[]): Promise<void> {
    if (this.#backup === undefined) return;
    for (const part of parts) await rm(`${this.#path}${part}`, { force: true });
    await rename(join(`${this.#path}.copy`, "memory.sqlite"), this.#path);
    await this.#expectRefusal(store);
    this.#held = this.#backup;
    this.#backup = undefined;
    await this.#reopened(store);
  }

  async #expectRefusal(store: MemoryStore): Promise<void> {
    const operation = { do: "put", facts: [{ key: "late", value: "x" }] } as const;
    if (await this.#isDone(() => carryOut(store, operation)))
      throw new Error("acknowledged into a file that is gone");
  }

  async #reopened(store: MemoryStore): Promise<void> {
    this.#passed += REOPEN_AFTER_MS;
    await store.inspect();
  }

  async #isDone(work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      if (!isHelmdeckError(error, "store_replaced")) throw error;
      return false;
    }
  }
}
