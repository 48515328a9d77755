/** The PostgreSQL store passes the contract suite. */
import { afterAll, beforeAll, describe } from "vitest";
import { describeMemoryStore } from "../../../contract/memory-store.ts";
import { type PostgresServer, startPostgres, whyWithoutPostgres } from "../../../postgres/server.ts";
import { makeRoles, openPostgresRig } from "./postgres-rig.ts";

describe.skipIf(whyWithoutPostgres() !== undefined)("on a server", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
    await makeRoles(server);
  });
  afterAll(() => server.dispose());

  describeMemoryStore({
    name: "the PostgreSQL store",
    capabilities: { persistent: true, shared: true },
    canDamage: true,
    isOnServer: true,
    modelRuns: 10,
    open: (options) => openPostgresRig(server, options),
  });
});
