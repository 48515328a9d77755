/** The plugin's worker thread: store and index, on Node's own SQLite, so that the plugin needs no dependency. */
import { nodeSqliteDriver, serveMemory } from "../app/index.ts";

serveMemory({ driver: nodeSqliteDriver });
