/** Fills a small file system completely, forgets entries, and stores again; prints the results. */
import { statfsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isHelmdeckError, openSqliteStore } from "../../../../engine/index.ts";
import { CHILD_KEY, childFact, driverNamed, report } from "./sqlite-child.ts";

const [driver, folder = ""] = process.argv.slice(2);
const path = join(folder, "memory.sqlite");
const options = { path, key: CHILD_KEY, driver: driverNamed(driver) };
const { namespace } = childFact("", "");

function freeBytes(): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

function modeOf(file: string): string | undefined {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats && `${(stats.mode & 0o777).toString(8)} ${stats.size} ${stats.blocks * 512 >= stats.size}`;
}

/** Writes until neither the store nor a file next to it accepts more. */
async function fillUp(store: Awaited<ReturnType<typeof openSqliteStore>>): Promise<string | undefined> {
  for (let at = 0; ; at += 1) {
    try {
      await store.put(childFact(`k${at}`, "x".repeat(60_000)));
    } catch (error) {
      return isHelmdeckError(error) ? error.code : String(error);
    }
  }
}

function fillTheRest(): void {
  for (let at = 0; ; at += 1) {
    try {
      writeFileSync(join(folder, `ballast-${at}`), Buffer.alloc(at < 10 ? 65_536 : 4_096, 1));
    } catch {
      return;
    }
  }
}

await report(async () => {
  let store = await openSqliteStore(options);
  await store.put(childFact("k0", "first"));
  await store.deleteExpired();
  const reserve = modeOf(`${path}-reserve.tmp`);
  const full = await fillUp(store);
  fillTheRest();
  await store.close();
  fillTheRest();
  const freeWhenFull = freeBytes();
  store = await openSqliteStore(options);
  const few = await store.delete(childFact("k0", ""));
  const all = await store.deleteWhere({ namespace });
  const freeAfter = freeBytes();
  const stored = await store.put(childFact("after", "room again"));
  await store.deleteExpired();
  const { integrity, entries, unreadable } = await store.inspect({ mayBlock: true });
  const reserveAgain = modeOf(`${path}-reserve.tmp`);
  await store.close();
  const id = stored.entry.key;
  return {
    reserve,
    full,
    freeWhenFull,
    few,
    all,
    freeAfter,
    id,
    integrity,
    entries,
    unreadable,
    reserveAgain,
  };
});
