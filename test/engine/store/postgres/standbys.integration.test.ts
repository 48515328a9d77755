/** Engines on a standby, before and after it takes over: no answer of the former primary is taken for one of the new primary. */
import { readFile } from "node:fs/promises";
import pg from "pg";
import { describe, expect, test, vi } from "vitest";
import type { Changes } from "../../../../engine/store/memory-store.ts";
import { openPostgresStore } from "../../../../engine/store/postgres/open-postgres.ts";
import { ANA, fact, refTo, text } from "../../../contract/rig.ts";
import { type PostgresServer, startPostgres, until, whyWithoutPostgres } from "../../../postgres/server.ts";
import { type Cutter, type Served, withCutter } from "./cutter.ts";
import { ENGINE, makeRoles, openPostgresRig, type PostgresRig } from "./postgres-rig.ts";

describe.skipIf(whyWithoutPostgres() !== undefined)("on a server with a standby", () => {
  test("a standby answers reads, refuses writes, and accepts them after its promotion", async () => {
    await using primary = await startPostgres();
    await makeRoles(primary);
    const rig = await openPostgresRig(primary);
    await rig.store.put(fact("a", "1"));
    const standby = await primary.startStandby();
    await expect
      .poll(() => standby.query("SELECT pg_last_wal_replay_lsn()::text AS at"))
      .toEqual(await primary.query("SELECT pg_current_wal_lsn()::text AS at"));
    const connection = { connectionString: standby.url({ user: ENGINE }) };
    const store = await openPostgresStore({ ...rig.options, connection });
    expect(text((await store.get(refTo("a")))?.value)).toBe("1");
    expect(await store.inspect()).toMatchObject({ isWritable: false, settings: { role: "standby" } });
    await expect(store.put(fact("a", "2"))).rejects.toMatchObject({ code: "store_readonly" });
    await primary.stop();
    await standby.promote();
    await store.put(fact("a", "2"));
    expect(text((await store.get(refTo("a")))?.value)).toBe("2");
    await store.close();
  });

  test("an engine on a standby shows no expired fact after its machine slept", async () => {
    await using primary = await startPostgres();
    await makeRoles(primary);
    const rig = await openPostgresRig(primary);
    const standby = await primary.startStandby();
    const { now: _, ...options } = rig.options; // with the server's clock
    const connection = { connectionString: standby.url({ user: ENGINE }) };
    const store = await openPostgresStore({ ...options, connection });
    const asleep = vi.spyOn(performance, "now").mockReturnValue(performance.now());
    try {
      const expiresAt = Date.now() + 1_000;
      await rig.store.putMany([fact("a", "1", { expiresAt }), fact("b", "2")]);
      await until(async () => Date.now() > expiresAt && (await store.get(refTo("b"))) !== undefined);
      expect(await store.get(refTo("a"))).toBeUndefined();
    } finally {
      asleep.mockRestore();
      await store.close();
    }
  });

  test("attempts to LISTEN on a standby, which refuses it, leave no connections there", async () => {
    await using primary = await startPostgres();
    await makeRoles(primary);
    const rig = await openPostgresRig(primary);
    const standby = await primary.startStandby();
    const listening = () => standby.query("SELECT FROM pg_stat_activity WHERE query LIKE 'LISTEN%'");
    const connection = { connectionString: standby.url({ user: ENGINE }) };
    const store = await openPostgresStore({ ...rig.options, connection });
    let woken = 0;
    store.watch(ANA, () => (woken += 1));
    const refused = /cannot execute LISTEN/g;
    await until(async () => ((await readFile(standby.logFile, "utf8")).match(refused)?.length ?? 0) > 1);
    await until(async () => (await listening()).length === 0);
    await primary.stop();
    await standby.promote();
    await until(() => woken > 0);
    expect(await listening()).toHaveLength(1);
    await store.close();
  });

  // verifies P-postgres-feed
  test("a reader of a primary that was ahead of the promoted standby starts over", async () => {
    await using primary = await startPostgres();
    await makeRoles(primary);
    await withCutter(primary, async ({ store }, cutter) => {
      await store.put(fact("a", "1"));
      const standby = await primary.startStandby();
      await standby.stop();
      await store.put(fact("lost", "with the primary"));
      const seen = await store.changes({ namespace: ANA, since: 0 });
      if (seen.kind !== "changes") throw new Error("read from the beginning");
      await primary.stop("immediate");
      await standby.start();
      await standby.promote();
      cutter.turnTo(standby.socketFolder);
      await store.put(fact("b", "2"));
      expect(await store.changes({ namespace: ANA, since: seen.cursor })).toEqual({ kind: "start_over" });
      const all = await store.changes({ namespace: ANA, since: 0 });
      expect(all).toMatchObject({ upserts: [{ key: "a" }, { key: "b" }] });
      await primary.start(); // needed to remove the rig
    });
  });

  describe("a standby takes over while its former primary still runs", () => {
    /** All existing connections may be reading at once; the fourth is new. */
    const CONNECTED = [1, 2, 3];
    /** Longer than a takeover takes on a busy machine: until then, calls are held up. */
    const PATIENT = { busyTimeoutMs: 20_000, statementTimeoutMs: 20_000 };

    /** Connects a store through the proxy just before the takeover, when the standby lacks the fact `lost`. */
    async function withTakeover(
      run: (parts: {
        readonly store: Served;
        readonly rig: PostgresRig;
        readonly primary: PostgresServer;
        readonly standby: PostgresServer;
        readonly cutter: Cutter;
        /** Sends new connections to the standby; connections to the former primary remain. */
        readonly turn: () => Promise<void>;
      }) => Promise<void>,
    ): Promise<void> {
      await using primary = await startPostgres();
      await makeRoles(primary);
      await withCutter(
        primary,
        async (rig, cutter) => {
          const { store } = rig;
          await store.put(fact("a", "1"));
          const standby = await primary.startStandby();
          await standby.stop();
          await standby.leavePrimary();
          await store.put(fact("lost", "with the primary"));
          const turn = async () => {
            await standby.start();
            cutter.turnTo(standby.socketFolder);
          };
          await run({ store, rig, primary, standby, cutter, turn });
        },
        PATIENT,
      );
    }

    /** Blocks all reads of the primary's entries until the returned function is called. */
    async function holdUp(primary: PostgresServer, { schema }: PostgresRig): Promise<() => Promise<void>> {
      const client = new pg.Client({ connectionString: primary.url() });
      await client.connect();
      await client.query(`BEGIN; LOCK TABLE ${schema}.entries IN ACCESS EXCLUSIVE MODE`);
      return () => client.end();
    }

    /** The server's own vacuum may wait, too. */
    const waiting = (primary: PostgresServer, count: number) =>
      until(async () => {
        const blocked = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
        return (await primary.query(blocked)).length >= count;
      });

    const keysIn = (changes: Changes) => changes.kind === "changes" && changes.upserts.map(({ key }) => key);

    // verifies P-postgres-feed
    test("a read in progress is repeated on the new primary", () =>
      withTakeover(async ({ store, rig, primary, standby, turn }) => {
        const letOn = await holdUp(primary, rig);
        const readings = CONNECTED.map(() => store.changes({ namespace: ANA, since: 0 }));
        await waiting(primary, CONNECTED.length);
        await turn();
        await standby.promote();
        await store.put(fact("b", "2"));
        expect(await store.changes({ namespace: ANA, since: 1 })).toEqual({ kind: "start_over" });
        await letOn();
        for (const reading of readings) expect(keysIn(await reading)).toEqual(["a", "b"]);
      }));

    // verifies P-postgres-lost
    test("no connection to the former primary is used again, for reading or for writing", () =>
      withTakeover(async ({ store, rig, primary, standby, turn }) => {
        const letOn = await holdUp(primary, rig);
        const readings = CONNECTED.map(() => store.get(refTo("a")));
        await waiting(primary, CONNECTED.length);
        await turn();
        await standby.promote();
        await store.put(fact("b", "2"));
        await letOn();
        await Promise.all(readings);
        await Promise.all(["c", "d", "e"].map((key) => store.put(fact(key, "3"))));
        const found = await Promise.all(CONNECTED.map(() => store.get(refTo("lost"))));
        expect(found).toEqual(CONNECTED.map(() => undefined));
        const [kept] = await standby.query<{ n: string }>(`SELECT count(*) AS n FROM ${rig.schema}.entries`);
        expect(kept?.n).toBe("5");
      }));

    // verifies P-postgres-lost
    test("no new connection to the former primary is used, even if the address leads there", () =>
      withTakeover(async ({ store, rig, primary, standby, cutter, turn }) => {
        cutter.cutAt("BEGIN", "before");
        await turn();
        await standby.promote();
        await store.put(fact("b", "2"));
        cutter.turnTo(primary.socketFolder);
        cutter.cutAt("BEGIN", "before");
        await expect(store.put(fact("c", "3"))).rejects.toMatchObject({ code: "store_readonly" });
        cutter.turnTo(standby.socketFolder);
        await store.put(fact("d", "4"));
        const keys = `SELECT convert_from(key, 'UTF8') AS key FROM ${rig.schema}.entries ORDER BY key`;
        expect(await primary.query(keys)).toEqual([{ key: "a" }, { key: "lost" }]);
        expect(await standby.query(keys)).toEqual([{ key: "a" }, { key: "b" }, { key: "d" }]);
      }));

    test("a watcher is notified about writes on the new primary", () =>
      withTakeover(async ({ store, rig, primary, standby, turn }) => {
        let woken = 0;
        store.watch(ANA, () => (woken += 1));
        await until(() => woken > 0); // the watch has started
        const letOn = await holdUp(primary, rig);
        const readings = CONNECTED.map(() => store.get(refTo("a")));
        await waiting(primary, CONNECTED.length);
        await turn();
        await standby.promote();
        await store.put(fact("b", "2"));
        await letOn();
        await Promise.all(readings);
        const listening = "SELECT FROM pg_stat_activity WHERE query LIKE 'LISTEN%'";
        await until(async () => (await standby.query(listening)).length === 1);
        const before = woken;
        await store.put(fact("c", "3"));
        await until(() => woken > before);
      }));

    // verifies P-postgres-feed
    test("a reader on a connection from before the promotion starts over", () =>
      withTakeover(async ({ store, rig, primary, standby, turn }) => {
        const seen = await store.changes({ namespace: ANA, since: 0 });
        if (seen.kind !== "changes") throw new Error("read from the beginning");
        await primary.stop("immediate");
        await turn();
        expect(text((await store.get(refTo("a")))?.value)).toBe("1"); // answered by the standby
        await standby.promote();
        const connection = { connectionString: standby.url({ user: ENGINE }) };
        const other = await openPostgresStore({ ...rig.options, connection });
        await other.put(fact("b", "2"));
        await other.close();
        expect(await store.changes({ namespace: ANA, since: seen.cursor })).toEqual({ kind: "start_over" });
        await primary.start(); // needed to remove the rig
      }));
  });
});
