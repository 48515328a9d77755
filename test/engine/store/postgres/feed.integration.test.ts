/** The change feed loses no change, even if transactions of several engines overlap. */
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { EntryId, MemoryReader, MemoryStore } from "../../../../engine/store/memory-store.ts";
import type { Namespace } from "../../../../engine/store/namespace.ts";
import { openPostgresStore } from "../../../../engine/store/postgres/open-postgres.ts";
import { ANA, BEN, fact, refTo } from "../../../contract/rig.ts";
import { type PostgresServer, startPostgres, until, whyWithoutPostgres } from "../../../postgres/server.ts";
import { makeRoles, openPostgresRig, type PostgresRig } from "./postgres-rig.ts";

describe.skipIf(whyWithoutPostgres() !== undefined)("on a server", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
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

  async function connect(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: server.url() });
    await client.connect();
    return client;
  }

  /** The number of statements that wait for a lock. */
  async function waiting(): Promise<number> {
    return (await server.query("SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'")).length;
  }

  test("with numbers from a table, a reader skips a change if the later one commits first (control)", async () => {
    await server.query("CREATE TABLE naive (seq bigserial PRIMARY KEY, what text)");
    const [first, second] = [await connect(), await connect()];
    await first.query("BEGIN; INSERT INTO naive (what) VALUES ('first')");
    await second.query("BEGIN; INSERT INTO naive (what) VALUES ('second'); COMMIT");
    const seen = await server.query("SELECT * FROM naive WHERE seq > 0 ORDER BY seq");
    expect(seen).toMatchObject([{ seq: "2", what: "second" }]);
    await first.query("COMMIT");
    expect(await server.query("SELECT * FROM naive WHERE seq > 2")).toEqual([]);
    await Promise.all([first.end(), second.end()]);
  });

  // verifies P-postgres-feed
  test("a reader between two writers of one subject misses neither", () =>
    withRig(async (rig) => {
      const { store: first, schema } = rig;
      const [second, reader] = [await rig.openAgain(), await rig.openReader()];
      await first.put(fact("a", "1"));
      const replica = new Replica(reader, ANA);
      await replica.catchUp();
      const holder = await connect(); // blocks the first writer after it has taken its change number
      await holder.query(`BEGIN; LOCK TABLE ${schema}.history IN ACCESS EXCLUSIVE MODE`);
      const slow = first.put(fact("a", "2"));
      await until(async () => (await waiting()) === 1);
      let isDone = false;
      const quick = second.put(fact("b", "1")).finally(() => {
        isDone = true;
      });
      await until(async () => isDone || (await waiting()) === 2);
      await replica.catchUp();
      await holder.query("COMMIT");
      await holder.end();
      await Promise.all([slow, quick]);
      await replica.catchUp();
      expect(replica.shown()).toEqual(["a=2", "b=1"]);
      expect(replica.startedOver).toBe(0);
    }));

  // verifies P-postgres-feed
  test("the first writer of a new subject is not skipped: it takes another number behind the lock", () =>
    withRig(async ({ store, openReader, schema }) => {
      const reader = await openReader();
      const holder = await connect(); // acts like another engine that writes the subject's first entry
      await holder.query(`BEGIN; INSERT INTO ${schema}.subjects (owner) VALUES ('${ANA}')`);
      const slow = store.put(fact("a", "1")); // has a change number, and waits for the subject
      await until(async () => (await waiting()) === 1);
      const counted = await holder.query(
        `UPDATE ${schema}.subjects SET newest_seq = nextval('${schema}.change_numbers') RETURNING newest_seq`,
      );
      await holder.query("COMMIT");
      await holder.end();
      await slow;
      const since = Number(counted.rows[0]?.newest_seq);
      expect(await reader.changes({ namespace: ANA, since })).toMatchObject({ upserts: [{ key: "a" }] });
    }));

  // verifies P-postgres-feed
  test("drops the name of a subject without entries with a sweep, and readers who missed that start over", () =>
    withRig(async ({ store, openReader, schema }) => {
      const tables = ["subjects", "removals", "entries", "history", "vectors"];
      const named = `SELECT ${tables.map((name) => `(SELECT count(*)::int FROM ${schema}.${name} WHERE owner = '${ANA}') AS ${name}`).join()}`;
      await store.putMany([fact("a", "1"), fact("b", "1", { namespace: BEN })]);
      const [late, prompt, ben] = await Promise.all(
        [ANA, ANA, BEN].map(async (namespace) => new Replica(await openReader(), namespace)),
      );
      for (const replica of [late, prompt, ben]) await replica?.catchUp();
      await store.deleteWhere({ namespace: ANA, includeSessions: true });
      expect(await server.query(named)).toMatchObject([{ subjects: 1, removals: 1 }]);
      await prompt?.catchUp();
      await store.deleteExpired();
      expect(await server.query(named)).toEqual([Object.fromEntries(tables.map((name) => [name, 0]))]);
      await store.put(fact("c", "1"));
      for (const replica of [late, prompt, ben]) await replica?.catchUp();
      expect([late, prompt, ben].map((replica) => replica?.shown())).toEqual([["c=1"], ["c=1"], ["b=1"]]);
      expect(ben?.startedOver).toBe(0);
    }));

  test("writers of two subjects do not wait for each other", () =>
    withRig(async ({ store, openAgain, schema }) => {
      const other = await openAgain();
      await store.put(fact("a", "1"));
      const holder = await connect();
      await holder.query(`BEGIN; LOCK TABLE ${schema}.history IN ACCESS EXCLUSIVE MODE`);
      const slow = store.put(fact("a", "2"));
      await until(async () => (await waiting()) === 1);
      await other.put(fact("b", "1", { namespace: BEN }));
      await holder.query("COMMIT");
      await holder.end();
      await slow;
    }));

  test("a polling reader sees the writes of several engines, in any order", () =>
    withRig(async (rig) => {
      const engines = [rig.store, await rig.openAgain(), await rig.openAgain()];
      const reader = await rig.openReader();
      const replicas = [new Replica(reader, ANA), new Replica(reader, BEN)];
      let isOver = false;
      const reading = (async () => {
        while (!isOver) for (const replica of replicas) await replica.catchUp();
      })();
      await Promise.all(engines.flatMap((store, i) => [work(store, i), work(store, i + 3)]));
      isOver = true;
      await reading;
      for (const replica of replicas) {
        await replica.catchUp();
        const { entries } = await rig.store.list({ namespace: replica.namespace, limit: 1_000 });
        expect(replica.shown()).toEqual(entries.map(shown).sort());
        expect(replica.startedOver).toBe(0);
      }
    }));

  test("a watcher is called after another engine's write, also after the listening connection was lost", () =>
    withRig(async ({ store, options, openReader }) => {
      const watching = await openPostgresStore(options);
      const reader = await openReader();
      const woken = { ana: 0, ben: 0 };
      watching.watch(ANA, () => (woken.ana += 1));
      watching.watch(BEN, () => (woken.ben += 1));
      await until(() => woken.ana === 1 && woken.ben === 1); // the watch has started
      await store.put(fact("a", "1"));
      await until(() => woken.ana === 2);
      expect(woken.ben).toBe(1);
      await server.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'");
      const before = await reader.revision(ANA);
      await store.put(fact("a", "2"));
      expect(await reader.revision(ANA)).toBeGreaterThan(before); // does not depend on the notification
      await until(() => woken.ana >= 3 && woken.ben >= 2);
      const again = woken.ana;
      await store.put(fact("a", "3"));
      await until(() => woken.ana > again);
      await watching.close();
    }));

  test("a large delete is seen completely or not at all", () =>
    withRig(async ({ store, openReader }) => {
      await store.putMany(Array.from({ length: 500 }, (_, i) => fact(`many/${i}`, "v")));
      const reader = await openReader();
      let isOver = false;
      const going = store.deleteWhere({ namespace: ANA, prefix: "many/" }).finally(() => {
        isOver = true;
      });
      while (!isOver) expect([0, 500]).toContain(await reader.countWhere({ namespace: ANA }));
      expect(await going).toMatchObject({ deleted: 500 });
      expect(await reader.countWhere({ namespace: ANA })).toBe(0);
    }));
});

/** Puts, overwrites, supersedes and deletes; each writer mixes these differently. */
async function work(store: MemoryStore, writer: number): Promise<void> {
  for (let i = 0; i < 30; i += 1) {
    const namespace = (writer + i) % 2 === 0 ? ANA : BEN;
    const key = `k${(writer * 7 + i * 5) % 11}`;
    if (i % 5 === 4) await store.delete(refTo(key, { namespace }));
    else if (i % 7 === 6)
      await store.put(fact(key, `${writer}/${i}`, { namespace }), { supersedes: ["k1", "k2"] });
    else await store.put(fact(key, `${writer}/${i}`, { namespace }));
  }
}

/** A reader that only sees a namespace's change feed. */
class Replica {
  readonly namespace: Namespace;
  startedOver = 0;
  readonly #reader: MemoryReader;
  readonly #seen = new Map<EntryId, string>();
  #cursor = 0;

  constructor(reader: MemoryReader, namespace: Namespace) {
    this.#reader = reader;
    this.namespace = namespace;
  }

  async catchUp(): Promise<void> {
    for (let more = true; more; ) {
      const changes = await this.#reader.changes({
        namespace: this.namespace,
        since: this.#cursor,
        limit: 3,
      });
      if (changes.kind === "start_over") {
        this.startedOver += 1;
        this.#seen.clear();
        this.#cursor = 0;
        continue;
      }
      for (const entry of changes.upserts) this.#seen.set(entry.id, shown(entry));
      for (const id of changes.removed) this.#seen.delete(id);
      ({ cursor: this.#cursor, more } = changes);
    }
  }

  shown(): readonly string[] {
    return [...this.#seen.values()].sort();
  }
}

function shown({ key, value }: { readonly key: string; readonly value: Uint8Array }): string {
  return `${key}=${Buffer.from(value).toString()}`;
}
