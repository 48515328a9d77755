/** Shared by child scripts that open a database: selects the driver by name, has the key, and prints answers as JSON lines. */

import { isHelmdeckError } from "../../../../engine/errors.ts";
import { parseKey } from "../../../../engine/store/master-key.ts";
import type { NewEntry } from "../../../../engine/store/memory-store.ts";
import { namespaceOf } from "../../../../engine/store/namespace.ts";
import { betterSqliteDriver } from "../../../../engine/store/sqlite/better-sqlite-driver.ts";
import { nodeSqliteDriver } from "../../../../engine/store/sqlite/node-sqlite-driver.ts";
import type { SqliteDriver } from "../../../../engine/store/sqlite/sqlite-driver.ts";
import { say } from "./say.ts";

export const CHILD_KEY = parseKey("00112233445566778899aabbccddeeff".repeat(2), "test key");

export function driverNamed(name: string | undefined): SqliteDriver {
  const driver = [betterSqliteDriver, nodeSqliteDriver].find((known) => known.name === name);
  if (driver === undefined) throw new Error(`no driver ${name}`);
  return driver;
}

/** Prints the result, or the code of an error. */
export async function report(work: () => Promise<Readonly<Record<string, unknown>>>): Promise<void> {
  try {
    say(await work());
  } catch (error) {
    say(isHelmdeckError(error) ? { code: error.code, message: error.message } : { code: String(error) });
  }
}

export function childFact(key: string, value: string): NewEntry {
  return {
    namespace: namespaceOf("ana"),
    origin: "fact",
    key,
    value: Buffer.from(value),
    category: "user_facts",
    tags: [],
  };
}
