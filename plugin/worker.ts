/** The plugin's worker thread: store and index on Node's built-in SQLite, so that the plugin has no dependency. */

import { serveMemory } from "../app/worker/worker-server.ts";
import { nodeSqliteDriver } from "../engine/store/sqlite/node-sqlite-driver.ts";

serveMemory(nodeSqliteDriver);
