/** Another process on the same memory: does what its parent says, and tells when it is done. */
import { betterSqliteDriver, type FactInput, openMemory } from "../../../app/index.ts";

export interface Told {
  readonly id: number;
  readonly store?: FactInput;
  readonly forget?: string;
}

const [databasePath = "", keyPath = "", address] = process.argv.slice(2);

async function serverAt(url: string) {
  const { postgresServer } = await import("../../../app/postgres.ts");
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
