/** The server never sees a value: not in its tables, its write-ahead log or its server log. Also: changing the key. */
import { appendFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  openPostgresStore,
  openPostgresStoreToChangeKey,
} from "../../../../engine/store/postgres/open-postgres.ts";
import { ANA, BEN, fact, refTo, text } from "../../../contract/rig.ts";
import { madeOf } from "../../../contract/vectors.ts";
import { type PostgresServer, startPostgres, whyWithoutPostgres } from "../../../postgres/server.ts";
import { formsOf, scanFiles } from "../scanning.ts";
import { KEY, OTHER_KEY } from "../sqlite-rig.ts";
import { ENGINE, makeRoles, openPostgresRig, type PostgresRig } from "./postgres-rig.ts";

const CANARY = "canary-Zwölf-Boxkämpfer-4711-plaintext-of-a-value";
const FORMS = formsOf(CANARY);
/** File names of the write-ahead log and of tables. */
const [CHANGES, TABLE] = [/^[0-9A-F]{24}\b/, /^[0-9]+:/];
/** The most detailed logging. */
const TALKATIVE = { log_statement: "all", log_min_duration_statement: "0", log_min_messages: "debug1" };

describe.skipIf(whyWithoutPostgres() !== undefined)("on a server", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres({ settings: TALKATIVE });
    await makeRoles(server);
  });
  afterAll(() => server.dispose());

  async function withRig(run: (rig: PostgresRig) => Promise<void>): Promise<void> {
    const rig = await openPostgresRig(server);
    try {
      await run(rig);
    } finally {
      await rig.dispose();
    }
  }

  // verifies P-postgres-sealed
  test("no value is in any byte of the server's folder, in any encoding; clear columns are found", () =>
    withRig(async ({ store }) => {
      await store.put(fact("alone", CANARY, { writer: { surface: CANARY } }));
      await store.put(fact("alone", `${CANARY} again`));
      await store.put(fact("long", `${"x".repeat(20_000)}${CANARY}${"y".repeat(20_000)}`));
      await store.put(fact("wide", "", { value: Buffer.from(CANARY, "utf16le") }));
      await store.putMany(Array.from({ length: 50 }, (_, i) => fact(`many${i}`, `${i} ${CANARY}`)));
      await store.put(fact("alone", "other"), { supersedes: ["long"] });
      await store.undo(refTo("alone"));
      await store.list({ namespace: ANA });
      await store.delete(refTo("many1"));
      await store.putMany([fact("refused", CANARY), fact("", CANARY)]).catch(() => undefined);
      await server.query("CHECKPOINT");
      const { hits, files } = await scanFiles([server.folder], FORMS);
      expect(hits).toEqual([]);
      expect(files.some((file) => CHANGES.test(file))).toBe(true);

      await server.query("CREATE TABLE clear (value text)");
      await server.query("INSERT INTO clear VALUES ($1)", [CANARY]);
      await server.query("CHECKPOINT");
      const found = (await scanFiles([server.folder], FORMS)).hits;
      for (const where of [CHANGES, TABLE, /^log:/]) {
        expect([where, found.some((hit) => where.test(hit))]).toEqual([where, true]);
      }
      await appendFile(`${server.folder}/hex`, Buffer.from(CANARY).toString("hex"));
      expect((await scanFiles([server.folder], FORMS)).hits.some((hit) => hit.endsWith(": hex"))).toBe(true);
    }));

  test("an error contains neither the server's message, which names keys, nor the address", async () => {
    const password = "hunter2-of-the-engine";
    const url = `postgres://${ENGINE}:${password}@/nowhere?host=${encodeURIComponent(server.socketFolder)}`;
    const error = await openPostgresStore({
      connection: { connectionString: url },
      key: KEY,
      patienceMs: 0,
    }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "store_unavailable", details: { postgres: "3D000" } });
    expect(JSON.stringify([error, `${error}`, `${(error as Error).stack}`])).not.toMatch(
      /hunter2|postgres:\/\//,
    );
    expect((error as Error).cause).toBeUndefined();
  });

  // verifies P-postgres-sealed
  test("a row moved to another place or store does not open", () =>
    withRig(async ({ store, schema, tamper }) => {
      await store.putMany([fact("a", "Ana's"), fact("b", "Ben's", { namespace: BEN })]);
      await tamper(
        `UPDATE ${schema}.entries SET sealed = (SELECT sealed FROM ${schema}.entries WHERE key = 'b') WHERE key = 'a'`,
      );
      await expect(store.get(refTo("a"))).rejects.toMatchObject({ code: "entry_unreadable" });
      for (const change of [
        "expires_at = 4000000000000",
        "category = 'x'",
        "updated_at = 1",
        "tags = '[]'::bytea || ' '",
      ]) {
        await tamper(`UPDATE ${schema}.entries SET ${change} WHERE key = 'b'`);
        await expect(store.get(refTo("b", { namespace: BEN }))).rejects.toMatchObject({
          code: "entry_unreadable",
        });
        await store.put(fact("b", "Ben's", { namespace: BEN }));
      }
    }));

  // verifies P-key-change
  describe("changing the key", () => {
    /** The key ids of the rows of each table. */
    async function headers({ schema }: PostgresRig): Promise<readonly string[]> {
      const tables = ["entries", "history", "vectors", "reference_vectors"];
      const sql = tables.map(
        (table) =>
          `SELECT '${table}' AS t, encode(substring(sealed FROM 1 FOR 9), 'hex') AS h FROM ${schema}.${table}`,
      );
      const rows = await server.query(
        `SELECT DISTINCT t, h FROM (${sql.join(" UNION ")}) AS all_of ORDER BY t`,
      );
      return rows.map(({ t, h }) => `${t}: ${h}`);
    }

    async function fill({ store }: PostgresRig): Promise<void> {
      await store.putMany(Array.from({ length: 450 }, (_, i) => fact(`key-${i}`, `value ${i}`)));
      await store.put(fact("theirs", "Ben's", { namespace: BEN }));
      await store.put(fact("theirs", "Ben's too", { namespace: BEN }));
      const made = await madeOf(store, fact("v", "1"));
      await store.putVectors(ANA, "model", [made]);
      await store.putReferenceVectors("model", made);
    }

    test("both keys open the store during a change, and afterwards only the new one, under which every table is sealed", () =>
      withRig(async (rig) => {
        await fill(rig);
        const changing = await openPostgresStoreToChangeKey(rig.options);
        await changing.beginKeyChange(OTHER_KEY);
        for (const key of [KEY, OTHER_KEY]) {
          const store = await openPostgresStore({ ...rig.options, key });
          expect(await store.inspect()).toMatchObject({ entries: 452, unreadable: 0 });
          await store.put(fact("between", "v"));
          await store.delete(refTo("between"));
          await store.close();
        }
        await changing.reseal();
        expect(await changing.finishKeyChange()).toMatchObject({ unreadable: 0 });
        await changing.close();
        expect(await headers(rig)).toHaveLength(4);
        expect(new Set((await headers(rig)).map((one) => one.split(": ")[1])).size).toBe(1);
        await expect(openPostgresStore(rig.options)).rejects.toMatchObject({ code: "key_wrong" });
        const store = await openPostgresStore({ ...rig.options, key: OTHER_KEY });
        expect(await store.inspect()).toMatchObject({ entries: 452, unreadable: 0 });
        expect(
          await store.vectors({
            namespace: ANA,
            space: "model",
            ids: [(await store.get(refTo("v")))?.id ?? ("" as never)],
          }),
        ).toHaveLength(1);
        await store.close();
      }));

    test("engines that have the store open read everything, and write nothing under the former key", () =>
      withRig(async (rig) => {
        await fill(rig);
        const other = await rig.openReader();
        const changing = await openPostgresStoreToChangeKey(rig.options);
        await changing.beginKeyChange(OTHER_KEY);
        await changing.reseal();
        expect(text((await other.get(refTo("key-7")))?.value)).toBe("value 7");
        await rig.store.put(fact("written", "meanwhile"));
        expect(await changing.finishKeyChange()).toMatchObject({ unreadable: 0 });
        expect(text((await rig.store.get(refTo("key-8")))?.value)).toBe("value 8");
        await rig.store.put(fact("written", "afterwards"));
        expect(new Set((await headers(rig)).map((one) => one.split(": ")[1])).size).toBe(1);
        await changing.close();
      }));

    test("a fact that an engine renews during the change keeps its history", () =>
      withRig(async (rig) => {
        for (const value of ["emacs", "vim"]) await rig.store.put(fact("editor", value));
        const changing = await openPostgresStoreToChangeKey(rig.options);
        await changing.beginKeyChange(OTHER_KEY);
        await rig.store.renew(refTo("editor"), (_, now) => ({ expiresAt: now + 1_000_000 }));
        await changing.reseal();
        await changing.finishKeyChange();
        expect((await changing.history(refTo("editor"))).map(({ value }) => text(value))).toEqual(["emacs"]);
        await changing.close();
      }));

    test("an engine that was disconnected during the change must reopen the store", () =>
      withRig(async (rig) => {
        await fill(rig);
        const changing = await openPostgresStoreToChangeKey(rig.options);
        await changing.beginKeyChange(OTHER_KEY);
        await changing.reseal();
        await changing.finishKeyChange();
        await changing.close();
        await expect(rig.store.put(fact("a", "1"))).rejects.toMatchObject({
          code: "store_replaced",
          details: { now: "key" },
        });
      }));
  });
});
