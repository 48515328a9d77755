/** A connection that is lost, anywhere in a write: what was acknowledged is there once, and what was not is not there unseen. */
import { mkdtemp, rm } from "node:fs/promises";
import { createConnection, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openPostgresStore } from "../../../../engine/postgres.ts";
import { ANA, fact, refTo, text } from "../../../contract/rig.ts";
import { type PostgresServer, startPostgres, whyWithoutPostgres } from "../../../postgres/server.ts";
import { ENGINE, makeRoles, openPostgresRig, type PostgresRig } from "./postgres-rig.ts";

/** The statement, and not the isolation level. */
const COMMIT = "COMMIT\0";
const SOCKET = ".s.PGSQL.5432";

/** Between a store and its server: it can cut a connection when a statement passes, before or after the server has it. */
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

  /** Once. */
  cutAt(statement: string, when: "before" | "after"): void {
    this.#cut = { statement, isBefore: when === "before" };
  }

  /** From now on, as an address that follows the primary does. */
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
      isDeaf = true; // the server does it, and nobody hears of it
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
    run: (rig: PostgresRig, cutter: Cutter) => Promise<void>,
    behind = server,
  ): Promise<void> {
    const rig = await openPostgresRig(behind);
    const cutter = await Cutter.open(behind.socketFolder);
    const url = `postgres://${ENGINE}@/postgres?host=${encodeURIComponent(cutter.folder)}&port=5432`;
    const store = await openPostgresStore({ ...rig.options, connection: { connectionString: url } });
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
    "a put whose connection is lost %s is kept once, and its answer says what happened",
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

  test("a read whose connection is lost is asked again", () =>
    withCutter(async ({ store }, cutter) => {
      await store.put(fact("a", "1"));
      cutter.cutAt("BEGIN", "after");
      expect(text((await store.get(refTo("a")))?.value)).toBe("1");
      expect(cutter.hasCut).toBe(true);
    }));

  test("a server that is killed and comes back has every acknowledged write, and takes the next", async () => {
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

  test("a standby answers reads, refuses writes, and takes them once it is promoted", async () => {
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

  // verifies P-postgres-feed
  test("who followed a primary that had more than the standby that takes over starts over", async () => {
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
      await primary.start(); // the rig is taken away there
    }, primary);
  });

  test("a commit is on the disk when it is acknowledged, also where the role's setting says otherwise", async () => {
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
