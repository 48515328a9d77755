/** Fills a small file system completely, by stores or by a first import, forgets entries, and stores again; prints the results. */
import { statfsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isHelmdeckError } from "../../../../engine/errors.ts";
import { openSqliteStore } from "../../../../engine/store/sqlite/open-sqlite.ts";
import { importLines } from "../../../transfer/import-lines.ts";
import { CHILD_KEY, childFact, driverNamed, report } from "./sqlite-child.ts";

const [driver, folder = "", by] = process.argv.slice(2);
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

/** Facts without end, as the first thing that is written. */
async function importMuch(store: Awaited<ReturnType<typeof openSqliteStore>>): Promise<string | undefined> {
  async function* lines(): AsyncGenerator<Uint8Array> {
    for (let at = 0; ; at += 1) yield Buffer.from(`{"key":"k${at}","value":"${"x ".repeat(30_000)}"}\n`);
  }
  const importing = importLines({ memory: { store, now: Date.now }, subject: "ana", input: lines() });
  return importing.then(
    () => undefined,
    (error: unknown) => (isHelmdeckError(error) ? error.code : String(error)),
  );
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
  if (by === "stores") {
    await store.put(childFact("k0", "first"));
    await store.deleteExpired();
  }
  const full = await (by === "stores" ? fillUp(store) : importMuch(store));
  const reserve = modeOf(`${path}-reserve.tmp`);
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
