/** The PostgreSQL store passes the contract suite. */
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describeMemoryStore } from "../../../contract/memory-store.ts";
import { ANA, BEN, fact, KEPT_EXPIRED_MS, letPass, refTo, START } from "../../../contract/rig.ts";
import { type PostgresServer, startPostgres, whyWithoutPostgres } from "../../../postgres/server.ts";
import { makeRoles, openPostgresRig, type PostgresRig } from "./postgres-rig.ts";

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

  describe("while another program writes for one subject", () => {
    /** Locks Ana's subject until the returned function is called. */
    async function holdAna({ schema }: PostgresRig): Promise<() => Promise<void>> {
      const client = new pg.Client({ connectionString: server.url() });
      await client.connect();
      const lock = `SELECT FROM ${schema}.subjects WHERE owner = $1 FOR UPDATE`;
      await client.query("BEGIN");
      await client.query(lock, [Buffer.from(ANA)]);
      return () => client.end();
    }

    test("expired entries of the others are deleted", async () => {
      const rig = await openPostgresRig(server);
      const expiresAt = START + 1;
      for (const namespace of [ANA, BEN]) await rig.store.put(fact("old", "v", { namespace, expiresAt }));
      await letPass(rig.store, rig.clock, KEPT_EXPIRED_MS);
      rig.clock.now += 5 * 60_000;
      const letGo = await holdAna(rig);
      expect(await rig.store.deleteExpired()).toMatchObject({ deleted: 1 });
      await letGo();
      expect(await rig.store.deleteExpired()).toMatchObject({ deleted: 1 });
      await rig.dispose();
    });

    test("a renewal that gives way does not wait behind this process's own writes", async () => {
      const rig = await openPostgresRig(server);
      await rig.store.put(fact("a", "1"));
      const letGo = await holdAna(rig);
      const waiting = rig.store.put(fact("a", "2")).catch(() => undefined);
      const begun = performance.now();
      const renewal = rig.store.renew(refTo("a"), () => undefined, { givesWay: true });
      await expect(renewal).rejects.toMatchObject({ code: "store_locked" });
      expect(performance.now() - begun).toBeLessThan(1_000);
      await letGo();
      await waiting;
      await rig.dispose();
    });
  });
});
