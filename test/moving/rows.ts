/** A memory with rows of each kind, and a store's raw rows for byte-for-byte comparison. */
import type { MemoryStore } from "../../engine/store/memory-store.ts";
import { type MovableStore, STORED_TABLES } from "../../engine/store/moving/movable-store.ts";
import { type Namespace, namespaceOf } from "../../engine/store/namespace.ts";
import { openSqliteStore } from "../../engine/store/sqlite/open-sqlite.ts";
import type { SqliteDriver } from "../../engine/store/sqlite/sqlite-driver.ts";
import { KEY } from "../engine/store/sqlite-rig.ts";

const ALL = 100_000;

/**
 * Stores facts with histories, vectors, notes, runs, unusual texts and expiring entries for two subjects and a session, and
 * removes some.
 */
async function fillStore(store: MemoryStore, facts = 20): Promise<void> {
  const subjects = [namespaceOf("main"), namespaceOf("anna:ö%"), namespaceOf("main", "s1")];
  for (const [n, namespace] of subjects.entries()) {
    for (let i = 0; i < facts; i += 1) await storeFact(store, namespace, { n, i });
    const run = { namespace, origin: "audit" as const, key: "pack/1", category: "pack_history", tags: [] };
    await store.put({ ...run, value: Buffer.from("{}") });
    await store.delete({ namespace, origin: "fact", key: "k/3\u{1f980}" });
  }
  const fingerprint = (await store.list({ namespace: namespaceOf("main"), limit: 1 })).entries[0]
    ?.fingerprint;
  if (fingerprint === undefined) throw new Error("nothing was stored");
  await store.putReferenceVectors("model a", {
    fingerprint,
    dimensions: 2,
    vectors: new Float32Array([1, 2]),
  });
}

/** Stores every fifth fact twice, with vectors of two models. */
async function storeFact(
  store: MemoryStore,
  namespace: Namespace,
  { n, i }: { n: number; i: number },
): Promise<void> {
  const entry = {
    ...{
      namespace,
      origin: "fact" as const,
      key: `k/${i}\u{1f980}`,
      category: i % 2 ? "user_facts" : "team",
    },
    ...{ tags: i % 3 ? [] : ["a b", "ü"], value: Buffer.from(`value ${n} ${i}`) },
    ...(i % 4 === 0 && { expiresAt: Date.now() + 1e9 + i }),
  };
  await store.put(entry);
  if (i % 5 !== 0) return;
  await store.put({ ...entry, value: Buffer.from(`a later value ${n} ${i}`) });
  const found = await store.get(entry);
  if (found === undefined) throw new Error("it was just stored");
  const made = { id: found.id, fingerprint: found.fingerprint, vectors: new Float32Array([1, i, n, 4]) };
  await store.putVectors(namespace, "model a", [{ ...made, dimensions: 4 }]);
  await store.putVectors(namespace, "model B", [{ ...made, dimensions: 2 }]);
}

export async function makeMemory(path: string, driver: SqliteDriver, facts?: number): Promise<void> {
  const store = await openSqliteStore({ path, key: KEY, driver });
  await fillStore(store, facts);
  await store.close();
}

/** All columns of all rows, with bytes in hexadecimal. */
export async function rowsIn(store: MovableStore): Promise<Readonly<Record<string, readonly string[]>>> {
  const tables = STORED_TABLES.map(async (table) => {
    const rows = await store.read(table, { after: undefined, limit: ALL });
    return [table.name, rows.map((row) => JSON.stringify(row.map(shown)))] as const;
  });
  return Object.fromEntries(await Promise.all(tables));
}

function shown(cell: unknown): unknown {
  return cell instanceof Uint8Array ? Buffer.from(cell).toString("hex") : cell;
}
