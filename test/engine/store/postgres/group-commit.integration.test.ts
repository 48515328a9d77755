/** Puts of one subject that wait at the same moment share one transaction on PostgreSQL; each still keeps or fails alone. */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { MemoryStore, NewEntry, Revision } from "../../../../engine/store/memory-store.ts";
import { openPostgresStore } from "../../../../engine/store/postgres/open-postgres.ts";
import { ANA, BEN, fact, type RigOptions, refTo, text } from "../../../contract/rig.ts";
import { type PostgresServer, startPostgres, whyWithoutPostgres } from "../../../postgres/server.ts";
import { withCutter } from "./cutter.ts";
import { makeRoles, openPostgresRig, type PostgresRig } from "./postgres-rig.ts";

const COMMIT = "COMMIT\0";
const KEYS = Array.from({ length: 8 }, (_, n) => `fact-${n}`);

describe.skipIf(whyWithoutPostgres() !== undefined)("on a server", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
    await makeRoles(server);
  });
  afterAll(() => server.dispose());

  function onServer(run: (rig: PostgresRig) => Promise<void>, options: RigOptions = {}) {
    return async () => {
      const rig = await openPostgresRig(server, options);
      try {
        await run(rig);
      } finally {
        await rig.dispose();
      }
    };
  }

  /** Makes writes of entries with this key fail, `when` they are written or at the commit. Returns how many were tried. */
  async function failing(
    { schema, tamper }: PostgresRig,
    key: string,
    when: "at once" | "at the commit",
  ): Promise<() => Promise<number>> {
    const trigger = when === "at once" ? "TRIGGER" : "CONSTRAINT TRIGGER";
    const deferred = when === "at once" ? "" : "DEFERRABLE INITIALLY DEFERRED";
    await tamper(`CREATE SEQUENCE ${schema}.tried`);
    await tamper(`GRANT USAGE ON SEQUENCE ${schema}.tried TO PUBLIC`);
    await tamper(`CREATE FUNCTION ${schema}.fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      PERFORM nextval('${schema}.tried');
      RAISE EXCEPTION 'invalid page' USING ERRCODE = 'XX001';
    END $$`);
    await tamper(`CREATE ${trigger} fails AFTER INSERT ON ${schema}.entries ${deferred}
      FOR EACH ROW WHEN (NEW.key = '${key}'::bytea) EXECUTE FUNCTION ${schema}.fail()`);
    return async () => {
      const [row] = await server.query(`SELECT last_value, is_called FROM ${schema}.tried`);
      return row?.is_called === true ? Number(row.last_value) : 0;
    };
  }

  test(
    "puts of one moment have their own numbers, in the order in which they were asked for",
    onServer(async ({ store }) => {
      const before = await store.put(fact("before", "x"));
      const put = await Promise.all([...KEYS, "fact-0"].map((key, n) => store.put(fact(key, `value ${n}`))));
      const first = before.entry.revision + 1;
      expect(put.map(({ entry }) => entry.revision)).toEqual(put.map((_, n) => first + n));
      const changes = await store.changes({ namespace: ANA, since: before.entry.revision });
      expect(changes.kind === "changes" && changes.upserts.map(({ key }) => key)).toEqual([
        ...KEYS.slice(1),
        "fact-0",
      ]);
      expect((await store.history(refTo("fact-0"))).map(({ value }) => text(value))).toEqual(["value 0"]);
      expect(text((await store.get(refTo("fact-0")))?.value)).toBe("value 8");
    }),
  );

  test(
    "the keys that were written since are found by the index, also if the table was small when they were first looked for",
    onServer(async ({ options, schema }) => {
      const store = await openPostgresStore({ ...options, connections: 1 });
      const judged = async (key: string, since: Revision): Promise<Revision> => {
        const put = await store.put(fact(key, "x"), {
          keysSince: { revision: since, judge: () => undefined },
        });
        return put.entry.revision;
      };
      let last = (await store.put(fact("first", "x"))).entry.revision;
      for (let n = 0; n < 10; n += 1) last = await judged(`small-${n}`, last - 1);
      for (let batch = 0; batch < 10; batch += 1)
        await store.putMany(Array.from({ length: 300 }, (_, n) => fact(`grown-${batch}-${n}`, "x")));
      last = (await store.put(fact("grown", "x"))).entry.revision;
      for (let n = 0; n < 40; n += 1) last = await judged(`large-${n}`, last - 1);
      await store.close(); // tells the server's statistics
      const tuples = async () => {
        const [row] = await server.query(
          "SELECT n_tup_ins, seq_tup_read + idx_tup_fetch AS read FROM pg_stat_user_tables WHERE schemaname = $1 AND relname = 'entries'",
          [schema],
        );
        return { inserted: Number(row?.n_tup_ins), read: Number(row?.read) };
      };
      await vi.waitFor(async () => expect((await tuples()).inserted).toBeGreaterThan(3_000), 10_000);
      expect((await tuples()).read).toBeLessThan(3_000);
    }),
  );

  // verifies P-alone-quota, P-condition-judged
  test(
    "a refused put takes none of its neighbours, and leaves nothing behind",
    onServer(
      async ({ store }) => {
        await store.put(fact("before", "x"));
        const all = await settled(store, [
          [fact("one", "x")],
          [fact("refused", "x"), { supersedes: ["before"], upTo: 0 }],
          [fact("two", "x")],
          [fact("one", "y")],
          [fact("too many", "x")],
        ]);
        expect(all).toEqual(["stored", "changed_meanwhile", "stored", "stored", "quota_exceeded"]);
        expect(await keysIn(store)).toEqual(["before", "one", "two"]);
        const changes = await store.changes({ namespace: ANA, since: 0 });
        expect(changes.kind === "changes" && changes.upserts.map(({ key }) => key)).toEqual([
          "before",
          "two",
          "one",
        ]);
        await store.delete(refTo("two"));
        await store.put(fact("room again", "x"));
        expect((await store.inspect()).entries).toBe(3);
      },
      { quota: { entries: 3 } },
    ),
  );

  // verifies P-postgres-lost
  test(
    "when the commit fails, no put of the group is acknowledged, and none is repeated",
    onServer(async (rig) => {
      const { store } = rig;
      await store.put(fact("before", "x"));
      const tried = await failing(rig, "fact-3", "at the commit");
      const codes = await settled(store, [...KEYS.map((key) => [fact(key, "x")] as const)]);
      expect(codes).toEqual(KEYS.map(() => "store_corrupt"));
      expect(await tried()).toBe(1);
      expect(await keysIn(store)).toEqual(["before"]);
    }),
  );

  test(
    "a put that cannot be carried out fails alone",
    onServer(async (rig) => {
      const { store } = rig;
      await failing(rig, "fact-7", "at once"); // the last one: nothing that follows could notice it
      await store.put(fact("before", "x"));
      const codes = await settled(store, [...KEYS.map((key) => [fact(key, "x")] as const)]);
      expect(codes).toEqual([...KEYS.slice(1).map(() => "stored"), "store_corrupt"]);
      expect(await keysIn(store)).toEqual(["before", ...KEYS.slice(0, -1)]);
    }),
  );

  // verifies P-alone-quota
  test(
    "a put that fails and is refused at once takes none of its neighbours",
    onServer(
      async (rig) => {
        const { store } = rig;
        await failing(rig, "bad", "at once");
        const codes = await settled(store, [[fact("one", "x")], [fact("bad", "x")], [fact("one", "y")]]);
        expect(codes).toEqual(["stored", "quota_exceeded", "stored"]);
        expect(await keysIn(store)).toEqual(["one"]);
      },
      { quota: { entries: 1 } },
    ),
  );

  // verifies P-text-lookalikes
  test(
    "of two keys that look alike, stored at one moment, one is refused",
    onServer(async ({ store }) => {
      const { entry } = await store.put(fact("before", "x"));
      const judged: (readonly string[])[] = [];
      const keysSince = {
        revision: entry.revision,
        judge: (keys: readonly string[]) => void judged.push(keys),
      };
      await Promise.all(["one", "two"].map((key) => store.put(fact(key, "x"), { keysSince })));
      expect(judged).toEqual([["one"]]);
    }),
  );

  test(
    "what is asked for after a put comes after it, for this subject",
    onServer(async ({ store, openAgain }) => {
      const one = store.put(fact("one", "x"));
      const erased = store.delete(refTo("one"));
      const again = store.put(fact("one", "y"));
      const other = store.put(fact("theirs", "x", { namespace: BEN }));
      expect((await erased).deleted).toBe(1);
      await Promise.all([one, again, other]);
      expect(text((await store.get(refTo("one")))?.value)).toBe("y");
      await Promise.all([store.put(fact("two", "x")), (store as MemoryStore).close()]);
      expect(await keysIn(await openAgain())).toEqual(["one", "two"]);
    }),
  );

  // verifies P-postgres-lost
  test.each([
    ["before the server has the commit", COMMIT, "before"],
    ["after the server has the commit", COMMIT, "after"],
    ["between two puts", "RELEASE SAVEPOINT", "after"],
  ] as const)("a group whose connection is lost %s is stored once", async (_, statement, when) => {
    await withCutter(server, async ({ store, openReader }, cutter) => {
      await store.put(fact("fact-0", "1"));
      cutter.cutAt(statement, when);
      const put = await Promise.all(KEYS.map((key) => store.put(fact(key, "2"))));
      expect(cutter.hasCut).toBe(true);
      expect(put.map(({ replaced }) => replaced !== undefined)).toEqual(KEYS.map((_, n) => n === 0));
      const reader = await openReader();
      const changes = await reader.changes({ namespace: ANA, since: 1 });
      expect(
        changes.kind === "changes" && changes.upserts.map(({ key, revision }) => [key, revision]),
      ).toEqual(put.map(({ entry }) => [entry.key, entry.revision]));
      expect(await reader.history(refTo("fact-0"))).toHaveLength(1);
    });
  });

  // verifies P-postgres-lost
  test("when nobody knows what a commit kept, each put of the group says so, and none is repeated", async () => {
    await withCutter(
      server,
      async ({ store, openReader }, cutter) => {
        const before = await store.put(fact("before", "1"));
        cutter.cutAt(COMMIT, "after");
        cutter.turnTo("/nowhere");
        const failed = await Promise.allSettled(KEYS.map((key) => store.put(fact(key, "2"))));
        for (const one of failed)
          expect(one).toMatchObject({
            reason: { code: "store_unavailable", details: { outcome: "unknown" } },
          });
        cutter.turnTo(server.socketFolder);
        const reader = await openReader();
        expect(await reader.revision(ANA)).toBe(before.entry.revision + KEYS.length); // kept once
      },
      { patienceMs: 500 },
    );
  });
});

type Asked = readonly [entry: NewEntry, options?: Parameters<MemoryStore["put"]>[1]];

/** `stored`, or why not. */
async function settled(store: MemoryStore, puts: readonly Asked[]): Promise<readonly string[]> {
  return Promise.all(
    puts.map((asked) =>
      store.put(...asked).then(
        () => "stored",
        ({ code }) => `${code}`,
      ),
    ),
  );
}

async function keysIn(store: Pick<MemoryStore, "listMeta">): Promise<readonly string[]> {
  const { entries } = await store.listMeta({ namespace: ANA });
  return entries.map(({ key }) => key).sort();
}
