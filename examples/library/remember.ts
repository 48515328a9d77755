/** The memory as a library: your own program stores, searches and forgets in its own process. */
import { isHelmdeckError, openMemory } from "helmdeck-memory";

const memory = await openMemory({ databasePath: "./example/memory.sqlite", keyPath: "./example.key" });
try {
  await memory.storeFact("ada", { key: "deploy/target", value: "We always deploy via Konflux" });
  const { results } = await memory.search("ada", { query: "how do we deploy" });
  for (const { key, score } of results) console.log(`found ${key}, ${score > 0.5 ? "surely" : "possibly"}`);
  await memory.storeFact("ada", { key: "", value: "A fact without a key" });
} catch (error) {
  if (!isHelmdeckError(error)) throw error;
  console.log(`refused with ${error.code}`);
} finally {
  await memory.forget("ada", { scope: "everything" });
  await memory.close();
}
