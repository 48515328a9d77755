/** Two memories over one store change only what they have seen: in one process, and in two threads over one SQLite file. */
import { onTestFinished } from "vitest";
import { composeMemory } from "../../app/compose.ts";
import { startWorkerMemory } from "../../app/worker/worker-client.ts";
import { createInMemoryStore } from "../../engine/store/in-memory-store.ts";
import { describeRaces, type Racer } from "../contract/races.ts";
import { tempPlace } from "./fixtures/memories.ts";

describeRaces("a store in memory", async () => {
  const store = createInMemoryStore();
  const location = { databasePath: "", keyPath: "", keySource: "", driver: "" };
  const open = (): Racer =>
    composeMemory({ store, location, key: { source: "", made: false }, sweepEveryMs: 0 });
  return [open(), open()];
});

describeRaces("one SQLite file", async () => {
  const place = await tempPlace();
  const open = (): Racer => {
    const workerUrl = new URL("./fixtures/memory-worker.ts", import.meta.url);
    const memory = startWorkerMemory({ ...place, env: {}, workerUrl });
    onTestFinished(() => memory.close());
    return memory;
  };
  return [open(), open()];
});
