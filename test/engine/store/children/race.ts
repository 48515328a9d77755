/** Waits for a signal, opens or creates key and database, and puts some entries. Several of these run at once. */
import { once } from "node:events";
import { loadOrMakeKey } from "../../../../engine/store/find-key.ts";
import { openSqliteStore } from "../../../../engine/store/sqlite/open-sqlite.ts";
import { say } from "./say.ts";
import { childFact, driverNamed, report } from "./sqlite-child.ts";

const [driver, path = "", keyPath = "", name = ""] = process.argv.slice(2);
say({ ready: true });
await once(process.stdin, "data");
await report(async () => {
  const { key, made } = await loadOrMakeKey({ env: {}, keyPath, databasePath: path });
  const store = await openSqliteStore({ path, key, driver: driverNamed(driver), busyTimeoutMs: 20_000 });
  for (let i = 0; i < 5; i++) await store.put(childFact(`${name}/${i}`, `value ${i} of ${name}`));
  const { settings } = await store.inspect();
  await store.close();
  return { made, settings };
});
process.stdin.destroy();
