/** A large memory keeps its search index for the next start; what is forgotten is not found by it. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { OpenMemory } from "../../app/compose.ts";
import { copiesBeside } from "../../app/health/private-files.ts";
import { openMemory } from "../../app/open-memory.ts";
import { namespaceOf } from "../../engine/store/namespace.ts";
import { betterSqliteDriver } from "../../engine/store/sqlite/better-sqlite-driver.ts";
import { snapshotBytes, snapshotFolder } from "../../engine/store/sqlite/index-snapshots.ts";
import { entryOf, tempFolder } from "./fixtures/memories.ts";

const ANA = "ana";
const ANAS = { namespace: namespaceOf(ANA) };
const MANY = 2_000;

test("a large memory opens from the copy of its index, in the next process and after changes of others", async () => {
  const folder = await tempFolder();
  const databasePath = join(folder, "data", "memory.sqlite");
  const copies = () => readdir(snapshotFolder(databasePath)).catch(() => []);
  let rows = 0;
  const open = async (): Promise<OpenMemory> => {
    const keyPath = join(folder, "memory.key");
    const access = { databasePath, keyPath, env: {}, driver: betterSqliteDriver, embedsEntries: false };
    const memory = await openMemory({ ...access, sweepEveryMs: 0 });
    const changes = memory.store.changes.bind(memory.store);
    memory.store.changes = async (query) => {
      const answer = await changes(query);
      if (answer.kind === "changes") rows += answer.upserts.length;
      return answer;
    };
    return memory;
  };
  const found = async (memory: OpenMemory, query: string): Promise<readonly string[]> =>
    (await memory.search(ANA, { query })).results.map(({ key }) => key);
  const first = await open();
  await first.store.putMany(
    Array.from({ length: MANY }, (_, i) =>
      entryOf(`boats/${i}`, `The canoe numbered ${i} is moored at pier ${i % 7}.`, ANAS),
    ),
  );
  await first.recordToolCall(ANA, {
    ...{ tool: "varnish_boat", outcome: "ok", inputs: { boat: "7" } },
    at_unix: Math.floor(Date.now() / 1_000),
  });
  const [canoe, call] = [await found(first, "canoe numbered 1234"), await found(first, "varnish boat")];
  expect(canoe[0]).toBe("boats/1234");
  expect(await copies()).toEqual([]);
  await first.close();
  expect(await copies()).toHaveLength(1);
  expect(await copiesBeside(databasePath)).toEqual([]);
  expect(await snapshotBytes(databasePath)).toBeGreaterThan(1_000_000);

  rows = 0;
  const second = await open();
  expect(await found(second, "canoe numbered 1234")).toEqual(canoe);
  expect(await found(second, "varnish boat")).toEqual(call);
  expect(rows).toBe(0);
  const other = await open();
  await other.forget(ANA, { scope: "key:boats/1234" });
  await other.storeFact(ANA, {
    key: "boats/kayak",
    value: "The kayak is at the boathouse.",
    category: "user_facts",
  });
  await other.close();
  expect(await found(second, "canoe numbered 1234")).not.toContain("boats/1234");
  await second.close();

  const third = await open();
  rows = 0;
  expect(await found(third, "kayak boathouse")).toContain("boats/kayak");
  expect(await found(third, "canoe numbered 1234")).not.toContain("boats/1234");
  expect(rows).toBe(0);
  await third.close();
});
