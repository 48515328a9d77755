/** Two engines' memories over PostgreSQL change only what they have seen. */
import { afterAll, beforeAll, describe, onTestFinished } from "vitest";
import { composeMemory } from "../../../app/compose.ts";
import { describeRaces } from "../../contract/races.ts";
import { makeRoles, openPostgresRig } from "../../engine/store/postgres/postgres-rig.ts";
import { type PostgresServer, startPostgres, whyWithoutPostgres } from "../../postgres/server.ts";

describe.skipIf(whyWithoutPostgres() !== undefined)("on a server", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
    await makeRoles(server);
  });
  afterAll(() => server.dispose());

  describeRaces("PostgreSQL", async () => {
    const rig = await openPostgresRig(server);
    onTestFinished(() => rig.dispose());
    const location = { databasePath: "", keyPath: "", keySource: "", driver: "" };
    const [one, other] = [rig.store, await rig.openAgain()].map((store) =>
      composeMemory({ store, location, key: { source: "", made: false }, sweepEveryMs: 0 }),
    );
    if (one === undefined || other === undefined) throw new Error("two memories");
    return [one, other];
  });
});
