/** Opens the store, puts one entry, and prints the error's code, if any. */
import { openSqliteStore } from "../../../../engine/store/sqlite/open-sqlite.ts";
import { CHILD_KEY, childFact, driverNamed, report } from "./sqlite-child.ts";

const [driver, path = "", key = "k"] = process.argv.slice(2);
await report(async () => {
  const options = { path, key: CHILD_KEY, driver: driverNamed(driver), busyTimeoutMs: 10_000 };
  const store = await openSqliteStore(options);
  const { entry } = await store.put(childFact(key, `value of ${key}`));
  await store.close();
  return { id: entry.id };
});
