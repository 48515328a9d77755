/** A second process that uses the database meanwhile. Reports how long its longest write and read took. */

import { parseKey } from "../../engine/store/master-key.ts";
import { namespaceOf } from "../../engine/store/namespace.ts";
import { betterSqliteDriver } from "../../engine/store/sqlite/better-sqlite-driver.ts";
import { openSqliteStore } from "../../engine/store/sqlite/open-sqlite.ts";
import type { Waited } from "./waiting.ts";

const [path = "", hexKey = ""] = process.argv.slice(2);
const OTHER = namespaceOf("other");
const value = Buffer.from("what somebody prefers");

let open = () => openSqliteStore({ path, key: parseKey(hexKey, "benchmark"), driver: betterSqliteDriver });
let store = await open();
let waited: Waited = { writeMs: 0, readMs: 0, writes: 0, failed: [] };
let isOver = false;

process.on("message", (message: string | { readonly key: string }) => {
  if (typeof message !== "string") {
    open = () =>
      openSqliteStore({ path, key: parseKey(message.key, "benchmark"), driver: betterSqliteDriver });
    return;
  }
  if (message === "begin") waited = { writeMs: 0, readMs: 0, writes: 0, failed: [] };
  if (message === "report") process.send?.(waited);
  if (message === "end") isOver = true;
});
process.send?.("ready");

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

for (let at = 0; !isOver; at += 1) {
  const ref = { namespace: OTHER, origin: "fact", key: `key-${at % 50}` } as const;
  try {
    const writeMs = await timed(() => store.put({ ...ref, value, category: "user_facts", tags: [] }));
    const readMs = await timed(() => store.get(ref));
    waited = {
      ...waited,
      writes: waited.writes + 1,
      writeMs: Math.max(waited.writeMs, writeMs),
      readMs: Math.max(waited.readMs, readMs),
    };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    waited = { ...waited, failed: [...waited.failed.slice(-9), code] };
    await store.close();
    store = await open();
  }
  await new Promise((resolve) => setTimeout(resolve, 5));
}
await store.close();
process.disconnect();
