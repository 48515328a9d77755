/** Puts entries until the disk is full, frees some space, and puts one more; prints the results. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isHelmdeckError } from "../../../../engine/errors.ts";
import { openSqliteStore } from "../../../../engine/store/sqlite/open-sqlite.ts";
import { CHILD_KEY, childFact, driverNamed, report } from "./sqlite-child.ts";

const [driver, folder = ""] = process.argv.slice(2);
const options = { path: join(folder, "memory.sqlite"), key: CHILD_KEY, driver: driverNamed(driver) };
const ballast = join(folder, "ballast");

await report(async () => {
  writeFileSync(ballast, Buffer.alloc(256 * 1024, 1));
  const store = await openSqliteStore(options);
  let stored = 0;
  let code: string | undefined;
  while (code === undefined && stored < 10_000) {
    try {
      await store.put(childFact(`k${stored}`, "x".repeat(2_000)));
      stored += 1;
    } catch (error) {
      code = isHelmdeckError(error) ? error.code : String(error);
    }
  }
  const readable = await store.countWhere({ namespace: childFact("", "").namespace });
  rmSync(ballast);
  await store.put(childFact("after", "room again"));
  const { integrity, entries, unreadable } = await store.inspect();
  await store.close();
  return { stored, full: code, readable, integrity, entries, unreadable };
});
