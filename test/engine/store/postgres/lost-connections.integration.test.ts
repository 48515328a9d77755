/**
 * A connection lost at any point of a write: acknowledged writes are stored exactly once, and no other write is stored silently.
 */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createConnection, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Changes } from "../../../../engine/index.ts";
import { openPostgresStore, type PostgresStoreOptions } from "../../../../engine/postgres.ts";
import { ANA, fact, refTo, text } from "../../../contract/rig.ts";
import { type PostgresServer, startPostgres, until, whyWithoutPostgres } from "../../../postgres/server.ts";
import { KEY } from "../sqlite-rig.ts";
import { ENGINE, makeRoles, openPostgresRig, type PostgresRig } from "./postgres-rig.ts";

/** The zero byte distinguishes the statement from the isolation level READ COMMITTED. */
const COMMIT = "COMMIT\0";
const SOCKET = ".s.PGSQL.5432";

type Served = Awaited<ReturnType<typeof openPostgresStore>>;

/** A proxy between a store and its server. It can cut the connection before or after the server receives a given statement. */
class Cutter {
  readonly folder: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #to: string;
  #cut: { readonly statement: string; readonly isBefore: boolean } | undefined;

  private constructor(folder: string, to: string) {
    this.folder = folder;
    this.#to = to;
    this.#server = createServer((client) => this.#pass(client, createConnection(join(this.#to, SOCKET))));
  }

  static async open(to: string): Promise<Cutter> {
    const cutter = new Cutter(await mkdtemp("/tmp/hdm-cut-"), to);
    await new Promise<void>((resolve) => cutter.#server.listen(join(cutter.folder, SOCKET), resolve));
    return cutter;
  }

  /** Cuts the connection once. */
  cutAt(statement: string, when: "before" | "after"): void {
    this.#cut = { statement, isBefore: when === "before" };
  }

  /** Sends new connections to another server, like an address that follows the primary. */
  turnTo(folder: string): void {
    this.#to = folder;
  }

  get hasCut(): boolean {
    return this.#cut === undefined;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
    await rm(this.folder, { recursive: true, force: true });
  }

  #pass(client: Socket, server: Socket): void {
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket
        .on("error", () => undefined)
        .on("close", () => {
          this.#sockets.delete(socket);
          client.destroy();
          server.destroy();
        });
    }
    let isDeaf = false;
    client.on("data", (data) => {
      const cut = this.#cut;
      if (cut === undefined || !data.includes(cut.statement)) return server.write(data);
      this.#cut = undefined;
      if (cut.isBefore) return client.destroy();
      isDeaf = true; // the server runs the statement, but its answer is dropped
      return server.write(data);
    });
    server.on("data", (data) => (isDeaf ? client.destroy() : client.write(data)));
  }
}

describe.skipIf(whyWithoutPostgres() !== undefined)("on a server", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
    await makeRoles(server);
  });
  afterAll(() => server.dispose());

  async function withCutter(
    run: (rig: PostgresRig & { readonly store: Served }, cutter: Cutter) => Promise<void>,
    behind = server,
    options: Partial<PostgresStoreOptions> = {},
  ): Promise<void> {
    const rig = await openPostgresRig(behind);
    const cutter = await Cutter.open(behind.socketFolder);
    const url = `postgres://${ENGINE}@/postgres?host=${encodeURIComponent(cutter.folder)}&port=5432`;
    const connection = { connectionString: url };
    const store = await openPostgresStore({ ...rig.options, connection, ...options });
    try {
      await run({ ...rig, store }, cutter);
    } finally {
      await store.close();
      await cutter.close();
      await rig.dispose();
    }
  }

  // verifies P-postgres-lost
  test.each([
    ["before the server has the commit", COMMIT, "before"],
    ["after the server has the commit", COMMIT, "after"],
    ["before anything is written", "nextval", "before"],
    ["at the beginning", "BEGIN", "after"],
  ] as const)(
    "a put whose connection is lost %s is stored once, with the correct result",
    async (_, statement, when) => {
      await withCutter(async ({ store, openReader }, cutter) => {
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
      own,
      { patienceMs: 20_000 },
    );
  });

  // verifies P-postgres-lost
  test("a put that a crash undid is written again", async () => {
    await using own = await startPostgres({ settings: { wal_writer_delay: "10s" } });
    await makeRoles(own);
    await withCutter(
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
      own,
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
    withCutter(async ({ store }, cutter) => {
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
    const writing = (async () => {
      for (let i = 0; ; i += 1) {
        await rig.store.put(fact(`k${i}`, "v"));
        acknowledged.push(`k${i}`);
      }
    })().catch((error: unknown) => error);
    await expect.poll(() => acknowledged.length).toBeGreaterThan(20);
    await own.kill();
    expect(await writing).toMatchObject({ code: "store_unavailable" });
    await own.start();
    const { entries } = await rig.store.listMeta({ namespace: ANA, limit: 1_000 });
    expect(entries.map(({ key }) => key)).toEqual(expect.arrayContaining(acknowledged));
    expect(entries.length).toBeLessThanOrEqual(acknowledged.length + 1);
    await rig.store.put(fact("after", "v"));
    await rig.dispose();
  });

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
    await withCutter(async ({ store }, cutter) => {
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
    }, primary);
  });

  describe("a standby takes over while its former primary still runs", () => {
    /** All existing connections may be reading at once; the fourth is new. */
    const CONNECTED = [1, 2, 3];

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
      await withCutter(async (rig, cutter) => {
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
      }, primary);
    }

    /** Blocks all reads of the primary's entries until the returned function is called. */
    async function holdUp(primary: PostgresServer, { schema }: PostgresRig): Promise<() => Promise<void>> {
      const client = new pg.Client({ connectionString: primary.url() });
      await client.connect();
      await client.query(`BEGIN; LOCK TABLE ${schema}.entries IN ACCESS EXCLUSIVE MODE`);
      return () => client.end();
    }

    const waiting = (primary: PostgresServer, count: number) =>
      until(
        async () =>
          (await primary.query("SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'")).length ===
          count,
      );

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
