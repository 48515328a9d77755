/** Changes the key of a database in a file or on a server, and kills its own process directly after the given step. */

import { rotateKey } from "../../../app/keys/rotate-key.ts";
import { betterSqliteDriver } from "../../../engine/store/sqlite/better-sqlite-driver.ts";

const [databasePath = "", keyPath = "", until, store] = process.argv.slice(2);

function endAt(step: string): void {
  if (step === until) process.kill(process.pid, "SIGKILL");
}

async function serverAt(address: string) {
  const { postgresServer } = await import("../../../app/database-server/postgres-server.ts");
  return postgresServer(address, { env: {}, homeDir: "", from: "argument" });
}

await rotateKey({
  ...{ databasePath, keyPath, env: {}, driver: betterSqliteDriver },
  ...(store !== undefined && { server: await serverAt(store) }),
  onStep: endAt,
  onProgress: ({ done, total }) => {
    if (done < total) endAt("sealing");
  },
});
