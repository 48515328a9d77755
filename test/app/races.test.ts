/** Two memories over one store change only what they have seen: in one process, and in two threads over one SQLite file. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { onTestFinished } from "vitest";
import { composeMemory } from "../../app/compose.ts";
import { startWorkerMemory } from "../../app/worker/worker-client.ts";
import { openStoreInMemory } from "../../engine/store/sqlite/open-in-memory.ts";
import { describeRaces, type Racer } from "../contract/races.ts";
import { bundledScript } from "../run/bundles.ts";
import { tempPlace } from "./fixtures/memories.ts";

describeRaces("a store in memory", async () => {
  const store = await openStoreInMemory();
  const location = { databasePath: "", keyPath: "", keySource: "", driver: "" };
  const open = (): Racer =>
    composeMemory({ store, location, key: { source: "", made: false }, sweepEveryMs: 0 });
  return [open(), open()];
});

describeRaces("one SQLite file", async () => {
  const place = await tempPlace();
  const script = await bundledScript(join(import.meta.dirname, "fixtures", "memory-worker.ts"));
  const workerUrl = pathToFileURL(script);
  const open = (): Racer => {
    const memory = startWorkerMemory({ ...place, env: {}, workerUrl });
    onTestFinished(() => memory.close());
    return memory;
  };
  return [open(), open()];
});
