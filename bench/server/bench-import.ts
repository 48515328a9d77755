/**
 * `node bench/server/bench-import.ts [FACTS]`: an export of so many facts (1,000) into a served engine on SQLite, one request for each
 * fact, and by `import`. Each into a memory of its own. Processor time is the server's.
 */
import type { Memory } from "../../app/memory.ts";
import { openEngineMemory } from "../../app/remote/engine/engine-memory.ts";
import { importByBatches } from "../../app/transfer/import-by-batches.ts";
import { buildAll } from "../../scripts/build/build.ts";
import { table } from "../measured.ts";
import { madeFact } from "../search/made-facts.ts";
import { type RunningServer, serverSubjects } from "./subjects.ts";

const count = Number(process.argv[2] ?? 1_000);
const facts = Array.from({ length: count }, (_, n) => ({ key: `moved/${n}`, value: madeFact(n).value }));
const lines = facts.map((fact) => `${JSON.stringify(fact)}\n`).join("");

/** How each imports, for the requests that it needs. */
const WAYS: Readonly<Record<string, (memory: Memory) => Promise<unknown>>> = {
  "one request for each fact": async (memory) => {
    for (const fact of facts) await memory.storeFact("bench", { ...fact, similar: false });
  },
  import: (memory) =>
    importByBatches({
      ...{ memory, subject: "bench", writer: { surface: "cli" }, now: Date.now(), onConflict: "newer" },
      files: [{ name: "facts.jsonl", open: () => bytesOf(lines) }],
    }),
};

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

async function measure(server: RunningServer, way: (memory: Memory) => Promise<unknown>) {
  const token = server.headers.authorization?.split(" ")[1] ?? "";
  const memory = openEngineMemory({
    ...{ address: { url: server.url, isPlain: true, mustBePrivate: true }, agents: ["bench"] },
    tokenOf: async () => token,
  });
  await memory.storeFact("bench", { key: "warm", value: "up" });
  const before = { at: performance.now(), processorMs: server.processorMs() };
  await way(memory);
  const seconds = (performance.now() - before.at) / 1_000;
  const processorMs = server.processorMs() - before.processorMs;
  await memory.close();
  return [seconds.toFixed(2), (processorMs / count).toFixed(2), String(await requestsTo(server))];
}

/** That change or list facts; the first one only warms up. */
async function requestsTo(server: RunningServer): Promise<number> {
  const metrics = await (await fetch(`${server.url}/metrics`, { headers: server.headers })).text();
  const counted = metrics.matchAll(/^helmdeck_http_requests_total\{.*\/api\/v1\/memory.* (\d+)$/gm);
  return [...counted].reduce((sum, [, requests]) => sum + Number(requests), -1);
}

await buildAll();
const rows: (readonly string[])[] = [];
for (const [name, way] of Object.entries(WAYS)) {
  const [ours] = serverSubjects({ onPostgres: false });
  const server = await ours?.start();
  if (server === undefined) throw new Error("There is no server to measure.");
  rows.push([name, ...(await measure(server, way))]);
  await server.stop();
}
console.log(table([`${count} facts`, "seconds", "processor ms a fact", "requests"], rows));
