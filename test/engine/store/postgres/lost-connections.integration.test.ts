/** A connection lost at any point of a write: acknowledged writes are stored exactly once, and no other write is stored silently. */
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openPostgresStore } from "../../../../engine/store/postgres/open-postgres.ts";
import { ANA, fact, refTo, text } from "../../../contract/rig.ts";
import { type PostgresServer, startPostgres, until, whyWithoutPostgres } from "../../../postgres/server.ts";
import { KEY } from "../sqlite-rig.ts";
import { Cutter, SOCKET, withCutter } from "./cutter.ts";
import { ENGINE, makeRoles, openPostgresRig } from "./postgres-rig.ts";

/** The zero byte distinguishes the statement from the isolation level READ COMMITTED. */
const COMMIT = "COMMIT\0";

describe.skipIf(whyWithoutPostgres() !== undefined)("on a server", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
    await makeRoles(server);
  });
  afterAll(() => server.dispose());

  // verifies P-postgres-lost
  test.each([
    ["before the server has the commit", COMMIT, "before"],
    ["after the server has the commit", COMMIT, "after"],
    ["before anything is written", "nextval", "before"],
    ["at the beginning", "BEGIN", "after"],
  ] as const)(
    "a put whose connection is lost %s is stored once, with the correct result",
    async (_, statement, when) => {
      await withCutter(server, async ({ store, openReader }, cutter) => {
        await store.put(fact("a", "1"));
        const before = await store.revision(ANA);
        cutter.cutAt(statement, when);
        const { replaced } = await store.put(fact("a", "2"));
        expect(cutter.hasCut).toBe(true);
        expect(replaced).toMatchObject({ sameValue: false });
        const reader = await openReader();
        expect(text((await reader.get(refTo("a")))?.value)).toBe("2");
        expect((await reader.history(refTo("a"))).map(({ value }) => text(value))).toEqual(["1"]);
        const changes = await reader.changes({ namespace: ANA, since: before });
        expect(changes).toMatchObject({ upserts: [{ key: "a" }], removed: [] });
      });
    },
  );

  // verifies P-postgres-lost
  test("a put whose id was reused after a crash is not reported as stored", async () => {
    // The server writes nothing to disk before a commit.
    await using own = await startPostgres({ settings: { wal_writer_delay: "10s" } });
    await makeRoles(own);
    await withCutter(
      own,
      async ({ store, openAgain }, cutter) => {
        await store.put(fact("a", "1"));
        cutter.cutAt(COMMIT, "before");
        cutter.turnTo("/nowhere"); // new connections fail
        const put = store.put(fact("lost", "v")).catch((error: unknown) => error);
        await until(() => cutter.hasCut);
        await own.kill();
        await own.start();
        const other = await openAgain();
        for (const key of ["b", "c", "d"]) await other.put(fact(key, "2"));
        cutter.turnTo(own.socketFolder);
        expect(await put).toMatchObject({ code: "store_unavailable", details: { outcome: "unknown" } });
        expect(await other.get(refTo("lost"))).toBeUndefined();
      },
      { patienceMs: 20_000 },
    );
  });

  // verifies P-postgres-lost
  test("a put that a crash undid is written again", async () => {
    await using own = await startPostgres({ settings: { wal_writer_delay: "10s" } });
    await makeRoles(own);
    await withCutter(
      own,
      async ({ store }, cutter) => {
        await store.put(fact("a", "1"));
        cutter.cutAt(COMMIT, "before");
        cutter.turnTo("/nowhere");
        const put = store.put(fact("b", "2"));
        await until(() => cutter.hasCut);
        await own.kill();
        await own.start();
        cutter.turnTo(own.socketFolder);
        await put;
        expect(text((await store.get(refTo("b")))?.value)).toBe("2");
      },
      { patienceMs: 20_000 },
    );
  });

  // verifies P-postgres-lost
  test.each(["pg_terminate_backend", "pg_cancel_backend"])(
    "a put that no synchronous standby has is not acknowledged after %s",
    async (how) => {
      await using primary = await startPostgres();
      await makeRoles(primary);
      const rig = await openPostgresRig(primary);
      const limits = { statementTimeoutMs: 3_000, busyTimeoutMs: 1_000, patienceMs: 3_000 };
      const store = await openPostgresStore({ ...rig.options, ...limits });
      await store.put(fact("a", "1"));
      await primary.query("ALTER SYSTEM SET synchronous_standby_names = 'absent'");
      await primary.query("SELECT pg_reload_conf()");
      await until(
        async () =>
          (await primary.query("SHOW synchronous_standby_names"))[0]?.synchronous_standby_names === "absent",
      );
      const put = store.put(fact("b", "1")).catch((error: unknown) => error);
      const end = `SELECT ${how}(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`;
      await until(async () => (await primary.query(end)).length === 1);
      expect(await put).toMatchObject({ code: "store_unavailable", details: { outcome: "unknown" } });
      expect(text((await store.get(refTo("b")))?.value)).toBe("1"); // the primary alone has it
      await store.close();
      await primary.stop("immediate"); // statements of the test still wait
    },
  );

  test("a read whose connection is lost is retried", () =>
    withCutter(server, async ({ store }, cutter) => {
      await store.put(fact("a", "1"));
      cutter.cutAt("BEGIN", "after");
      expect(text((await store.get(refTo("a")))?.value)).toBe("1");
      expect(cutter.hasCut).toBe(true);
    }));

  test("a call to a server that hangs fails in time, and so does closing; the next call is answered when the server continues", async () => {
    await using own = await startPostgres();
    await makeRoles(own);
    const rig = await openPostgresRig(own);
    const limits = { statementTimeoutMs: 1_500, busyTimeoutMs: 500, patienceMs: 1_000 };
    const [store, other] = await Promise.all([
      openPostgresStore({ ...rig.options, ...limits }),
      openPostgresStore({ ...rig.options, ...limits }),
    ]);
    let woken = 0;
    other.watch(ANA, () => (woken += 1));
    await until(() => woken > 0); // the watch has started
    await store.put(fact("a", "1"));
    await store.get(refTo("a")); // leaves a connection that the next call uses
    const thaw = own.freeze();
    try {
      await expect(store.get(refTo("a"))).rejects.toMatchObject({ code: "store_unavailable" });
      await other.close();
    } finally {
      thaw();
    }
    expect(text((await store.get(refTo("a")))?.value)).toBe("1");
    await store.close();
    await rig.dispose();
  });

  // verifies P-postgres-unreachable
  test("a server that is gone is known within a second, and one that hangs within five, by everyone who waits", async () => {
    await using own = await startPostgres();
    await makeRoles(own);
    const rig = await openPostgresRig(own);
    const { busyTimeoutMs: _, ...options } = rig.options; // with the limits of an engine
    const store = await openPostgresStore({ ...options, connections: 2 });
    await store.put(fact("a", "1"));
    await store.get(refTo("a"));
    const slowest = async (): Promise<number> => {
      const begun = performance.now();
      const calls = ["a", "b", "c", "d"].flatMap((key) => [store.put(fact(key, "2")), store.get(refTo(key))]);
      const failures = await Promise.all(calls.map((call) => call.catch((error: unknown) => error)));
      expect(failures).toEqual(failures.map(() => expect.objectContaining({ code: "store_unavailable" })));
      return performance.now() - begun;
    };
    const thaw = own.freeze();
    expect(await slowest().finally(thaw)).toBeLessThan(5_300);
    await until(() => store.get(refTo("a")).then(Boolean, () => false));
    await own.kill();
    expect(await slowest()).toBeLessThan(1_300);
    await own.start();
    await until(() => store.get(refTo("a")).then(Boolean, () => false));
    await store.close();
    await rig.dispose();
  });

  test("calls that wait for a connection continue on the next host when the first one is lost", async () => {
    const rig = await openPostgresRig(server);
    const [first, second] = await Promise.all([
      Cutter.open(server.socketFolder),
      Cutter.open(server.socketFolder),
    ]);
    const hosts = [first, second].map(({ folder: host }) => ({ host, port: 5432 }));
    const store = await openPostgresStore({
      ...rig.options,
      connection: { user: ENGINE, database: "postgres" },
      hosts,
      connections: 2,
    });
    const reads = Array.from({ length: 40 }, () => store.get(refTo("a")));
    await first.close();
    expect(await Promise.all(reads)).toHaveLength(40);
    await store.close();
    await second.close();
    await rig.dispose();
  });

  test("a server that was killed and restarted has every acknowledged write, and accepts the next", async () => {
    await using own = await startPostgres({ isDurable: true });
    await makeRoles(own);
    const rig = await openPostgresRig(own);
    const acknowledged: string[] = [];
    const writers = 8; // their puts share transactions
    let asked = 0;
    const writing = async () => {
      for (;;) {
        const key = `k${asked++}`;
        await rig.store.put(fact(key, "v"));
        acknowledged.push(key);
      }
    };
    const failures = Promise.all(
      Array.from({ length: writers }, () => writing().catch((error: unknown) => error)),
    );
    await expect.poll(() => acknowledged.length).toBeGreaterThan(20);
    await own.kill();
    for (const failure of await failures) expect(failure).toMatchObject({ code: "store_unavailable" });
    await own.start();
    // Calls that begin just after one has failed are refused without an attempt.
    await until(() => rig.store.get(refTo("k0")).then(Boolean, () => false));
    const { entries } = await rig.store.listMeta({ namespace: ANA, limit: 1_000 });
    expect(entries.map(({ key }) => key)).toEqual(expect.arrayContaining(acknowledged));
    expect(entries.length).toBeLessThanOrEqual(acknowledged.length + writers);
    await rig.store.put(fact("after", "v"));
    await rig.dispose();
  });

  test("a connection requires no startup parameter that PgBouncer refuses", async () => {
    const folder = await mkdtemp("/tmp/hdm-start-");
    const started = Promise.withResolvers<Buffer>();
    const pooler = createServer((socket) => {
      socket.once("data", (data) => {
        started.resolve(data);
        socket.destroy();
      });
    });
    await new Promise<void>((resolve) => pooler.listen(join(folder, SOCKET), resolve));
    const connection = { user: ENGINE, database: "postgres", host: folder };
    await expect(openPostgresStore({ connection, key: KEY, patienceMs: 0 })).rejects.toThrow();
    const namesAndValues = `${(await started.promise).subarray(8)}`.split("\0");
    const names = namesAndValues.filter((name, i) => i % 2 === 0 && name !== "");
    expect(names.sort()).toEqual(["application_name", "client_encoding", "database", "user"]);
    await new Promise((resolve) => pooler.close(resolve));
    await rm(folder, { recursive: true });
  });

  test("a commit is on disk when it is acknowledged, whatever the role's setting", async () => {
    const rig = await openPostgresRig(server);
    await server.query(`ALTER ROLE ${ENGINE} SET synchronous_commit = off`);
    try {
      const store = await rig.openAgain();
      expect((await store.inspect()).settings).toMatchObject({ synchronousCommit: "on" });
    } finally {
      await server.query(`ALTER ROLE ${ENGINE} RESET synchronous_commit`);
      await rig.dispose();
    }
  });
});
