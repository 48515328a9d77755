/** Moving a memory to a real PostgreSQL and back: the same rows, and running engines notice. */
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { moveMemory, type OpenPlace, planMove, reopenMemory } from "../../app/moving/move-memory.ts";
import { placeAddress, storePlace } from "../../app/moving/store-place.ts";
import { namespaceOf } from "../../engine/store/namespace.ts";
import { openPostgresStore, preparePostgres } from "../../engine/store/postgres/open-postgres.ts";
import { betterSqliteDriver } from "../../engine/store/sqlite/better-sqlite-driver.ts";
import { openSqliteStore } from "../../engine/store/sqlite/open-sqlite.ts";
import { CommandHome } from "../cli/command.ts";
import { ENGINE, makeRoles, OWNER } from "../engine/store/postgres/postgres-rig.ts";
import { KEY, makeTempFolder } from "../engine/store/sqlite-rig.ts";
import {
  type PostgresServer,
  SUPERUSER,
  startPostgres,
  until,
  whyWithoutPostgres,
} from "../postgres/server.ts";
import { makeMemory, rowsIn } from "./rows.ts";

const missing = whyWithoutPostgres();
let server: PostgresServer;
let folder: string;
let [here, there, database] = ["", "", ""];
let databases = 0;
/** The hexadecimal form of the rig's key. */
const KEY_HEX = "00112233445566778899aabbccddeeff".repeat(2);

beforeAll(async () => {
  if (missing !== undefined) return;
  server = await startPostgres();
  await makeRoles(server);
});
afterAll(() => server?.dispose());
beforeEach(async () => {
  if (missing !== undefined) return;
  folder = await makeTempFolder();
  here = join(folder, "here.sqlite");
  await makeMemory(here, betterSqliteDriver);
  databases += 1;
  database = `moved_${databases}`;
  await server.query(`CREATE DATABASE ${database} OWNER ${OWNER}`);
  there = server.url({ user: OWNER, database });
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const sqlite = () =>
  storePlace({ address: { kind: "sqlite", name: here }, key: KEY, driver: betterSqliteDriver });
const postgres =
  (engineRoles = [ENGINE]): OpenPlace =>
  async (to) => {
    const address = await placeAddress(there, "--to", { env: {}, homeDir: folder, from: "argument" });
    return storePlace({ address, key: KEY, driver: betterSqliteDriver, engineRoles })(to);
  };
const moveThere = () => moveMemory({ from: sqlite(), to: postgres(), key: KEY, now: Date.now });
const moveBack = () => moveMemory({ from: postgres(), to: sqlite(), key: KEY, now: Date.now });
const openEngine = async () => {
  const connection = { connectionString: server.url({ user: ENGINE, database }) };
  return openPostgresStore({ connection, key: KEY });
};
const fact = (key: string) => ({
  ...{ namespace: namespaceOf("main"), origin: "fact" as const, key, category: "user_facts" },
  ...{ tags: [], value: Buffer.from(key) },
});

/** Locks the table until the returned function is called. */
async function keepLocked(table: string): Promise<() => Promise<void>> {
  const holding = server.query(`BEGIN; LOCK TABLE ${table}; SELECT pg_sleep(600)`, [], { database });
  const ended = holding.catch(() => undefined); // the connection is terminated below
  const who = "FROM pg_stat_activity WHERE query LIKE 'BEGIN; LOCK%' AND wait_event = 'PgSleep'";
  await until(async () => (await server.query(`SELECT pid ${who}`)).length === 1);
  return async () => {
    await server.query(`SELECT pg_terminate_backend(pid) ${who}`);
    await ended;
  };
}

async function rowsAt(place: ReturnType<typeof storePlace>) {
  const store = await place("look");
  try {
    return store && (await rowsIn(store));
  } finally {
    await store?.close();
  }
}

describe.skipIf(missing !== undefined)(
  `a move to PostgreSQL and back${missing ? ` (left out: ${missing})` : ""}`,
  () => {
    // verifies P-move-same
    test("keeps every row byte for byte, and both stores accept writes", async () => {
      const before = await rowsAt(sqlite());
      expect(await moveThere()).toMatchObject({ copied: 97, kept: 0 });
      expect(await rowsAt(postgres())).toEqual(before);
      expect(await rowsAt(sqlite())).toEqual(before);

      const engine = await openEngine();
      expect(await engine.inspect()).toMatchObject({ entries: 60, unreadable: 0 });
      expect(await engine.usage(namespaceOf("main"))).toMatchObject({ entries: 40 });
      expect(await engine.history(fact("k/0\u{1f980}"))).toHaveLength(1);
      await engine.put(fact("new"));
      await engine.put({ ...fact("k/0\u{1f980}"), value: Buffer.from("changed") });
      await engine.delete(fact("k/1\u{1f980}"));
      await engine.close();

      const later = await rowsAt(postgres());
      await moveBack();
      expect(await rowsAt(sqlite())).toEqual(later);
      const store = await openSqliteStore({ path: here, key: KEY, driver: betterSqliteDriver });
      expect(await store.inspect({ mayBlock: true })).toMatchObject({ entries: 60, unreadable: 0 });
      expect(await store.history(fact("k/0\u{1f980}"))).toHaveLength(2);
      await store.put(fact("newer"));
      await store.close();

      await moveThere(); // the destination still has the rows of the first move
      expect(await rowsAt(postgres())).toEqual(await rowsAt(sqlite()));
      const again = await openEngine();
      expect(await again.get(fact("newer"))).toBeDefined();
      await again.put(fact("newest"));
      await again.close();
    });

    // verifies P-move-one-place
    test("makes a running engine refuse reads and writes, and an engine can be opened again when the memory is back", async () => {
      await moveThere();
      const engine = await openEngine();
      await engine.put(fact("before"));
      await moveBack();
      const namespace = namespaceOf("main");
      const asked = {
        put: () => engine.put(fact("after")),
        get: () => engine.get(fact("before")),
        list: () => engine.list({ namespace }),
        history: () => engine.history(fact("before")),
        changes: () => engine.changes({ namespace, since: 0 }),
        revision: () => engine.revision(namespace),
        namespaces: () => engine.namespaces(),
      };
      for (const [name, ask] of Object.entries(asked)) {
        await expect(ask(), name).rejects.toMatchObject({ code: "store_moved" });
      }
      await expect(openEngine()).rejects.toMatchObject({ code: "store_moved" });
      const store = await openSqliteStore({ path: here, key: KEY, driver: betterSqliteDriver });
      expect(await store.get(fact("before"))).toBeDefined();
      await store.close();
      await moveThere();
      for (const [name, ask] of Object.entries(asked)) {
        await expect(ask(), name).rejects.toMatchObject({ code: "store_replaced" });
      }
      await engine.close();
      await moveBack();
      expect(await reopenMemory(postgres())).toMatchObject({ was: expect.stringContaining("here.sqlite") });
      const reopened = await openEngine();
      expect(await reopened.get(fact("before"))).toBeDefined();
      await reopened.close();
    });

    // verifies P-move-one-place
    test("that is killed leaves the source open, and the next run continues", async () => {
      await rm(here);
      await makeMemory(here, betterSqliteDriver, 200);
      await preparePostgres({ connection: { connectionString: there }, engineRoles: [ENGINE] });
      const before = await rowsAt(sqlite());
      const home = new CommandHome();
      try {
        const order = ["move", "--db", here, "--to", there, "--json"];
        const env = { HELMDECK_MEMORY_KEY: KEY_HEX };
        const stop = await keepLocked("helmdeck_memory.history"); // the move copies this table after the entries
        const killed = home.start(order, { env });
        const rows = "SELECT count(*)::int AS n FROM helmdeck_memory.entries";
        await until(async () => {
          const [found] = await server.query(rows, [], { database }).catch(() => []);
          return Number(found?.n) > 0;
        });
        killed.kill("SIGKILL");
        await once(killed, "close");
        await stop();
        await expect(openEngine()).rejects.toMatchObject({ code: "store_moved" });
        await (await openSqliteStore({ path: here, key: KEY, driver: betterSqliteDriver })).close();

        const { code, stdout } = await home.run(order, { env });
        expect(code).toBe(0);
        const { kept, copied, resumes } = JSON.parse(stdout);
        expect([resumes, kept > 0, copied > 0]).toEqual([true, true, true]);
        expect(await rowsAt(postgres())).toEqual(before);
      } finally {
        home.remove();
      }
    });

    // verifies P-postgres-rights
    test("grants access to an engine's role that is named only when an interrupted move is continued", async () => {
      const source = await sqlite()("look");
      const head = await source?.head();
      await source?.close();
      const address = await placeAddress(there, "--to", { env: {}, homeDir: folder, from: "argument" });
      const target = await storePlace({ address, key: KEY, driver: betterSqliteDriver })("enter");
      if (head !== undefined) await target?.begin(head, { kind: "incoming", place: here, at: Date.now() });
      await target?.close();
      expect(await moveThere()).toMatchObject({ resumes: true });
      const engine = await openEngine();
      await engine.put(fact("new"));
      await engine.close();
    });

    test("refuses a database that holds another memory, and a role without the rights", async () => {
      await preparePostgres({ connection: { connectionString: there }, engineRoles: [ENGINE] });
      const engine = await openEngine();
      const owners = there;
      there = server.url({ user: ENGINE, database });
      await expect(moveThere()).rejects.toMatchObject({ code: "store_unavailable" });
      there = owners;
      await engine.put(fact("theirs"));
      await engine.close();
      await expect(moveThere()).rejects.toMatchObject({ code: "store_not_ours" });
      const store = await openSqliteStore({ path: here, key: KEY, driver: betterSqliteDriver });
      await store.close(); // the failed move did not mark the source
    });

    // verifies P-postgres-rights
    test.each<{ who: string; user: string; message: RegExp; roles?: string[]; code?: string }>([
      { who: "a superuser", user: SUPERUSER, message: /superuser or a role with BYPASSRLS/ },
      { who: "a role without rights", user: ENGINE, message: /role may not move/ },
      {
        who: "the owner, for engines under a role that does not exist",
        ...{ user: OWNER, roles: [ENGINE, "absent"], code: "invalid_input" },
        message: /role absent does not exist/,
      },
      {
        who: "the owner, for engines under a superuser",
        ...{ user: OWNER, roles: [SUPERUSER], code: "invalid_input" },
        message: /role postgres .* superuser/,
      },
    ])(
      "refuses $who, creates no table and keeps no connection open",
      async ({ user, roles, message, code = "store_unavailable" }) => {
        there = server.url({ user, database });
        const orders = { from: sqlite(), to: postgres(roles), key: KEY, now: Date.now };
        await expect(moveMemory(orders)).rejects.toMatchObject({
          code,
          message: expect.stringMatching(message),
        });
        if (user !== ENGINE) await expect(planMove(orders)).rejects.toMatchObject({ code });
        const preparing = preparePostgres({
          connection: { connectionString: there },
          engineRoles: roles ?? [],
        });
        await expect(preparing).rejects.toMatchObject({ code });
        const [found] = await server.query("SELECT to_regnamespace('helmdeck_memory') AS schema", [], {
          database,
        });
        expect(found).toEqual({ schema: null });
        const connections = "SELECT FROM pg_stat_activity WHERE datname = $1";
        await until(async () => (await server.query(connections, [database])).length === 0);
      },
    );
  },
);
