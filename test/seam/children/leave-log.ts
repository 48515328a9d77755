/** Stores a fact and ends without closing, like a killed process: the fact is only in the log. */

import { openMemory } from "../../../app/open-memory.ts";
import { betterSqliteDriver } from "../../../engine/store/sqlite/better-sqlite-driver.ts";

/** The same time as in the other tests. */
const NOW = Date.parse("2026-11-20T12:00:00Z");

const [databasePath = "", keyPath = ""] = process.argv.slice(2);
const memory = await openMemory({
  databasePath,
  keyPath,
  env: {},
  driver: betterSqliteDriver,
  now: () => NOW,
  sweepEveryMs: 0,
});
await memory.storeFact("main", {
  key: "projects/heron/decisions/late",
  category: "decisions",
  value: "only in the log",
});
process.kill(process.pid, "SIGKILL");
