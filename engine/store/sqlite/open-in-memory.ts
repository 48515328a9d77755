/** Opens a SQLite store that lives in this process's memory: for tests, caches, and a memory that must leave nothing on disk. */
import { randomBytes } from "node:crypto";
import { SealingKeys } from "../key-ring.ts";
import { MasterKey } from "../master-key.ts";
import type { MemoryStore } from "../memory-store.ts";
import { FileWatch } from "./file-watch.ts";
import { nodeSqliteDriver } from "./node-sqlite-driver.ts";
import { limitsOf, partsOf, type SqliteStoreOptions, withSession } from "./open-sqlite.ts";
import { migrate, tablesIn } from "./schema.ts";
import type { SqliteDriver } from "./sqlite-driver.ts";
import { SqliteStore } from "./sqlite-store.ts";
import { openSealer } from "./stored-keys.ts";
import { enableIncrementalVacuum } from "./vacuum.ts";

export type InMemoryStoreOptions = Pick<SqliteStoreOptions, "now" | "keepRemovals" | "eraseAtOnce" | "quota">;

/** No file can be there: what a store does to its files then finds none, and creates none. */
const NOWHERE = "/dev/null/in-memory";

const driver: SqliteDriver = {
  ...nodeSqliteDriver,
  name: `${nodeSqliteDriver.name}, in memory`,
  open: () => nodeSqliteDriver.open(":memory:", "write"),
};

/** As the migrations leave them, which take four times as long. */
let tables: string | undefined;

/** Its key is random, and ends with the store. */
export function openStoreInMemory(given: InMemoryStoreOptions = {}): Promise<MemoryStore> {
  const key = new MasterKey(randomBytes(32));
  const options = { ...given, path: NOWHERE, key, driver };
  return withSession({ path: NOWHERE, options, mode: "write" }, async (session) => {
    enableIncrementalVacuum(session);
    migrate(session, new SealingKeys(key), tables);
    tables ??= tablesIn(session);
    const opened = {
      session,
      sealer: openSealer(session, key),
      watch: new FileWatch(NOWHERE, NOWHERE),
      options,
    };
    return new SqliteStore({ ...partsOf(opened), ...limitsOf(options), isReadOnly: false, isInMemory: true });
  });
}
