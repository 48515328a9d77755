/** The SQLite store passes the contract suite, with each driver. */
import { describeMemoryStore } from "../../contract/memory-store.ts";
import { DRIVERS, openSqliteRig } from "./sqlite-rig.ts";

for (const driver of DRIVERS) {
  describeMemoryStore({
    name: `the SQLite store on ${driver.name}`,
    capabilities: { persistent: true, shared: true },
    canDamage: true,
    modelRuns: 30,
    open: (options) => openSqliteRig(driver, options),
  });
}
