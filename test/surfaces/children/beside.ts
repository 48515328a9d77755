/** Another process on the same memory: does what its parent says, and tells when it is done. */

import type { FactInput } from "../../../app/memory.ts";
import { openMemory } from "../../../app/open-memory.ts";
import { betterSqliteDriver } from "../../../engine/store/sqlite/better-sqlite-driver.ts";

export interface Told {
  readonly id: number;
  readonly store?: FactInput;
  readonly forget?: string;
}

const [databasePath = "", keyPath = "", address] = process.argv.slice(2);

async function serverAt(url: string) {
  const { postgresServer } = await import("../../../app/database-server/postgres-server.ts");
  return postgresServer(url, { env: {}, homeDir: "", from: "argument" });
}

const memory = await openMemory({
  ...{ databasePath, keyPath, env: {}, driver: betterSqliteDriver, sweepEveryMs: 0 },
  ...(address !== undefined && { server: await serverAt(address) }),
});
process.on("message", async ({ id, store, forget }: Told) => {
  if (store !== undefined) await memory.storeFact("main", store);
  if (forget !== undefined) await memory.forget("main", { scope: forget });
  process.send?.({ id });
});
process.on("disconnect", () => memory.close());
process.send?.({ id: 0 });
