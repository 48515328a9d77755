/** Writes until it is killed, and reports each acknowledged write. */
import { writeSync } from "node:fs";
import { parseKey } from "../../../engine/store/master-key.ts";
import type { NewEntry } from "../../../engine/store/memory-store.ts";
import { namespaceOf } from "../../../engine/store/namespace.ts";
import { openSqliteStore } from "../../../engine/store/sqlite/open-sqlite.ts";
import { driverNamed } from "../place.ts";

const [driverName, path = "", keyHex = "", life = ""] = process.argv.slice(2);
const driver = driverNamed(driverName);

/** Writes directly to the pipe, so that nothing remains in a buffer of this process. */
function acknowledge(line: Readonly<Record<string, string>>): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}

function entry(key: string, value: string): NewEntry {
  return {
    namespace: namespaceOf("ana"),
    origin: "fact",
    key,
    value: Buffer.from(value),
    category: "user_facts",
    tags: [life],
  };
}

const store = await openSqliteStore({ path, key: parseKey(keyHex, "argument"), driver });
acknowledge({ opened: life });
for (let n = 0; ; n++) {
  const name = `${life}/${String(n).padStart(6, "0")}`;
  await store.put(entry("counter", name));
  acknowledge({ counter: name });
  await store.putMany([1, 2, 3, 4, 5].map((i) => entry(`batch/${name}/${i}`, "x".repeat(i * 700))));
  acknowledge({ batch: name });
  await store.put(entry(`single/${name}`, `value of ${name}`));
  acknowledge({ single: name });
  const together = [1, 2, 3].map(async (i) => {
    await store.put(entry(`single/${name}-${i}`, "x".repeat(i * 300)));
    acknowledge({ single: `${name}-${i}` });
  });
  await Promise.all(together);
  await store.put(entry(`doomed/${name}`, "to be deleted"));
  await store.delete({ ...entry(`doomed/${name}`, "") });
  acknowledge({ deleted: name });
  const read = { build: "a build", cursor: await store.revision(entry("", "").namespace) };
  await store.snapshots?.save(
    entry("", "").namespace,
    read,
    [1, 2, 3].map((i) => Buffer.alloc(i * 100_000, i)),
  );
}
