/** An engine's database rights: no access to other subjects' rows, table definitions, or the owner's rights. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  openPostgresStore,
  openPostgresStoreToChangeKey,
  preparePostgres,
  verifyPostgres,
} from "../../../../engine/store/postgres/open-postgres.ts";
import { MIGRATIONS } from "../../../../engine/store/postgres/schema.ts";
import { ANA, BEN, fact, refTo, text } from "../../../contract/rig.ts";
import {
  type PostgresServer,
  SUPERUSER,
  startPostgres,
  whyWithoutPostgres,
} from "../../../postgres/server.ts";
import { OTHER_KEY } from "../sqlite-rig.ts";
import { ENGINE, makeRoles, OWNER, openPostgresRig, type PostgresRig } from "./postgres-rig.ts";

const OWNED = ["subjects", "entries", "removals", "vectors", "history"];
const hex = (owner: string): string => Buffer.from(owner).toString("hex");

describe.skipIf(whyWithoutPostgres() !== undefined)("on a server", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
    await makeRoles(server);
  });
  afterAll(() => server.dispose());

  /** Adds a row of Ana's and one of Ben's to every table with a subject. */
  async function withRows(run: (rig: PostgresRig) => Promise<void>): Promise<void> {
    const rig = await openPostgresRig(server);
    try {
      for (const namespace of [ANA, BEN]) {
        await rig.store.put(fact("kept", "before", { namespace }));
        const { entry } = await rig.store.put(fact("kept", "now", { namespace }));
        const { fingerprint = "" } = (await rig.store.get(refTo("kept", { namespace }))) ?? {};
        const vectors = Float32Array.of(1);
        await rig.store.putVectors(namespace, "model", [
          { id: entry.id, fingerprint: fingerprint as never, dimensions: 1, vectors },
        ]);
        await rig.store.put(fact("gone", "1", { namespace }));
        await rig.store.delete(refTo("gone", { namespace }));
      }
      await run(rig);
    } finally {
      await rig.dispose();
    }
  }

  // verifies P-durable-damage
  test("a check opens the rows of every table and subject, and names those that do not open", () =>
    withRows(async ({ options, schema, tamper }) => {
      const whole = { entries: 2, vectors: 2, history: 2, unreadable: 0 };
      expect(await verifyPostgres(options, {})).toEqual(whole);
      await tamper(`UPDATE ${schema}.vectors SET dimensions = 2 WHERE owner = 'ana'::bytea`);
      const rows: unknown[] = [];
      const onUnreadable = (row: unknown) => void rows.push(row);
      expect(await verifyPostgres(options, { onUnreadable })).toEqual({
        ...whole,
        vectors: 1,
        unreadable: 1,
      });
      expect(rows).toEqual([{ table: "vectors", number: expect.any(Number), key: "kept", namespace: ANA }]);
    }));

  // verifies P-postgres-walls
  describe("row-level security", () => {
    test.each([ENGINE, OWNER])("shows %s no rows unless it declares an owner", (user) =>
      withRows(async ({ schema }) => {
        for (const table of OWNED) {
          const all = await server.query(`SELECT FROM ${schema}.${table}`);
          expect([table, all.length > 1]).toEqual([table, true]);
          expect([table, await server.query(`SELECT FROM ${schema}.${table}`, [], { user })]).toEqual([
            table,
            [],
          ]);
        }
      }),
    );

    test("limits a transaction to its owner's rows", () =>
      withRows(async ({ schema, store }) => {
        const asBen = (sql: string) =>
          server.query(`BEGIN; SET LOCAL helmdeck.owner = '${hex(BEN)}'; ${sql}; COMMIT`, [], {
            user: ENGINE,
          });
        for (const table of OWNED.slice(1)) await asBen(`DELETE FROM ${schema}.${table}`);
        await asBen(`UPDATE ${schema}.subjects SET entries = 0`);
        expect(text((await store.get(refTo("kept")))?.value)).toBe("now");
        expect(await store.history(refTo("kept"))).toHaveLength(1);
        expect(await store.usage(ANA)).toMatchObject({ entries: 1 });
        expect(await store.usage(BEN)).toMatchObject({ entries: 0 });
        expect(await store.get(refTo("kept", { namespace: BEN }))).toBeUndefined();
      }));

    test("refuses a row for another owner", () =>
      withRows(async ({ schema }) => {
        const insert = `INSERT INTO ${schema}.removals (seq, owner, namespace, id) VALUES (1000, '\\x${hex(ANA)}', '', 'x')`;
        const sql = `BEGIN; SET LOCAL helmdeck.owner = '${hex(BEN)}'; ${insert}; COMMIT`;
        await expect(server.query(sql, [], { user: ENGINE })).rejects.toMatchObject({ code: "42501" });
      }));

    test("makes queries across subjects read-only", () =>
      withRows(async ({ schema, store }) => {
        const spanning = (sql: string) =>
          server.query(`BEGIN; SET LOCAL helmdeck.span = 'read'; ${sql}; COMMIT`, [], { user: ENGINE });
        for (const table of OWNED) await spanning(`DELETE FROM ${schema}.${table}`);
        await spanning(`UPDATE ${schema}.subjects SET entries = 0`);
        expect(await store.namespaces()).toEqual([
          { namespace: ANA, count: 1 },
          { namespace: BEN, count: 1 },
        ]);
        expect(await store.usage(ANA)).toMatchObject({ entries: 1 });
      }));
  });

  // verifies P-postgres-rights
  describe("an engine's role", () => {
    test.each([
      "CREATE TABLE more (n int)",
      "ALTER TABLE entries ADD COLUMN more int",
      "ALTER TABLE entries DISABLE ROW LEVEL SECURITY",
      "ALTER TABLE entries NO FORCE ROW LEVEL SECURITY",
      "DROP POLICY own ON entries",
      "CREATE POLICY mine ON entries USING (true)",
      "CREATE TRIGGER t BEFORE INSERT ON entries EXECUTE FUNCTION suppress_redundant_updates_trigger()",
      "TRUNCATE entries",
      "DROP TABLE removals",
      "UPDATE schema_version SET version = 9",
      "DELETE FROM schema_version",
      "DELETE FROM store",
      "SELECT setval('change_numbers', 1)",
      "CREATE ROLE another",
      `SET ROLE ${OWNER}`,
    ])("may not: %s", (sql) =>
      withRows(async ({ schema }) => {
        const there = `SET search_path = ${schema}; ${sql}`;
        await expect(server.query(there, [], { user: ENGINE })).rejects.toMatchObject({ code: "42501" });
      }),
    );

    test("is neither a superuser nor has BYPASSRLS", () =>
      withRows(async ({ options }) => {
        await server.query("CREATE ROLE passes LOGIN BYPASSRLS");
        for (const user of [SUPERUSER, "passes"]) {
          const connection = { connectionString: server.url({ user }) };
          await expect(openPostgresStore({ ...options, connection })).rejects.toMatchObject({
            code: "store_unavailable",
            details: { role: "superuser" },
          });
        }
      }));

    test("cannot create the tables; the role that can does at its first start", async () => {
      const options = { key: undefined as never, schema: "first_start" };
      const opening = (user: string, more = {}) =>
        openPostgresStore({ ...options, ...more, connection: { connectionString: server.url({ user }) } });
      await expect(opening(ENGINE)).rejects.toMatchObject({ code: "store_unavailable" });
      const rig = await openPostgresRig(server);
      const store = await opening(OWNER, { key: rig.options.key });
      await store.put(fact("a", "1"));
      await store.close();
      await rig.dispose();
      await expect(opening(OWNER, { key: rig.options.key, schema: "pg_catalog" })).rejects.toMatchObject({
        code: "store_not_ours",
      });
    });
  });

  // verifies P-postgres-migrations
  describe("a schema changed by a newer program", () => {
    const prepare = (schema: string, sql: string, oldestWriter: number) =>
      preparePostgres({
        connection: { connectionString: server.url({ user: OWNER }) },
        schema,
        steps: [...MIGRATIONS, { sql, oldestWriter }],
      });

    test("with additions only works with engines of the previous version, open or reopened", () =>
      withRows(async ({ schema, store, openAgain }) => {
        await Promise.all([
          prepare(schema, "ALTER TABLE entries ADD COLUMN more integer NOT NULL DEFAULT 0", 1),
          ...Array.from({ length: 10 }, (_, i) => store.put(fact(`meanwhile-${i}`, "v"))),
        ]);
        const again = await openAgain();
        await again.put(fact("after", "v"));
        expect(await store.countWhere({ namespace: ANA })).toBe(12);
        expect(await again.inspect()).toMatchObject({ schemaVersion: MIGRATIONS.length + 1, unreadable: 0 });
      }));

    test("with another column type is reopened, and not reported as a standby", () =>
      withRows(async ({ schema, options, openAgain, tamper }) => {
        // Another connection would not have prepared its statements yet.
        const store = await openPostgresStore({ ...options, connections: 1 });
        await store.get(refTo("kept"));
        await tamper(`ALTER TABLE ${schema}.entries ALTER COLUMN created_at TYPE numeric`);
        await expect(store.get(refTo("kept"))).rejects.toMatchObject({
          code: "store_replaced",
          details: { postgres: "0A000" },
        });
        await store.close();
        expect(text((await (await openAgain()).get(refTo("kept")))?.value)).toBe("now");
      }));

    test("that older programs would damage refuses their writes, with one message", () =>
      withRows(async ({ schema, store, openAgain, options }) => {
        const changing = await openPostgresStoreToChangeKey(options);
        await prepare(
          schema,
          "ALTER TABLE entries ADD COLUMN more integer NOT NULL DEFAULT 0",
          MIGRATIONS.length + 1,
        );
        const refusal = { code: "store_newer", message: expect.stringContaining("Upgrade this program") };
        await expect(changing.beginKeyChange(OTHER_KEY)).rejects.toMatchObject(refusal);
        await expect(changing.reseal()).rejects.toMatchObject(refusal);
        await changing.close();
        await expect(store.put(fact("after", "v"))).rejects.toMatchObject(refusal);
        await expect(store.delete(refTo("kept"))).rejects.toMatchObject(refusal);
        await expect(openAgain()).rejects.toMatchObject(refusal);
        expect(text((await store.get(refTo("kept")))?.value)).toBe("now");
      }));

    test("is migrated by one of several engines that start at once", async () => {
      const schema = "at_once";
      const connection = { connectionString: server.url({ user: OWNER }) };
      await Promise.all([1, 2, 3].map(() => preparePostgres({ connection, schema, engineRoles: [ENGINE] })));
      expect(await server.query(`SELECT version, oldest_writer FROM ${schema}.schema_version`)).toEqual([
        { version: MIGRATIONS.length, oldest_writer: 1 },
      ]);
    });
  });
});
