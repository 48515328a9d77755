/** The plugin's worker thread: store and index on Node's built-in SQLite, so that the plugin has no dependency. */
import { nodeSqliteDriver, serveMemory } from "../app/index.ts";

serveMemory({ driver: nodeSqliteDriver });
