/** An attacker has the file but no key: every changed or moved row is rejected, and the others are returned. */
import { describe, expect, test } from "vitest";
import type { EntryRef, NewEntry } from "../../../engine/store/memory-store.ts";
import { namespaceOf } from "../../../engine/store/namespace.ts";
import type { SqliteDriver } from "../../../engine/store/sqlite/sqlite-driver.ts";
import { ANA, allKeys, BEN, bytes, fact, HOUR_MS, refTo, START, text } from "../../contract/rig.ts";
import { DRIVERS, openSqliteRig, type SqliteRig } from "./sqlite-rig.ts";

/** Two entries with no column in common, and a third one. */
const FIRST: NewEntry = {
  namespace: ANA,
  origin: "fact",
  key: "first",
  value: bytes("first value"),
  category: "user_facts",
  tags: ["one"],
  createdAt: START - 10,
  updatedAt: START - 9,
  expiresAt: START + HOUR_MS,
};
const SECOND: NewEntry = {
  namespace: BEN,
  origin: "audit",
  key: "second",
  value: bytes("second value"),
  category: "pack_history",
  tags: ["two"],
  createdAt: START - 8,
  updatedAt: START - 7,
  expiresAt: START + 2 * HOUR_MS,
};
const THIRD = fact("third", "third value");

/** A change to each column of FIRST. The changed row must still be in FIRST's namespace, found and not expired. */
const CHANGES: Readonly<Record<string, { readonly sql: string; readonly ref?: Partial<EntryRef> }>> = {
  seq: { sql: "seq = seq - 100" },
  id: { sql: "id = replace(id, substr(id, 5, 1), 'f') || '0'" },
  namespace: { sql: `namespace = '${BEN}'`, ref: { namespace: BEN } },
  origin: { sql: "origin = 'cache'", ref: { origin: "cache" } },
  key: { sql: "key = 'First'", ref: { key: "First" } },
  category: { sql: "category = 'tools'" },
  tags: { sql: `tags = '["one","two"]'` },
  created_at: { sql: "created_at = created_at - 1" },
  updated_at: { sql: "updated_at = updated_at + 1" },
  expires_at: { sql: "expires_at = expires_at + 1" },
  digest: { sql: "digest = zeroblob(32)" },
  sealed: { sql: "sealed = zeroblob(length(sealed))" },
};

const COLUMNS = Object.keys(CHANGES);

/** The field of a ref that each column stores. */
const REF_FIELDS: Readonly<Record<string, keyof EntryRef>> = {
  namespace: "namespace",
  origin: "origin",
  key: "key",
};

function withRows(driver: SqliteDriver, run: (rig: SqliteRig) => Promise<void>) {
  return async (): Promise<void> => {
    const rig = await openSqliteRig(driver);
    try {
      await rig.store.putMany([FIRST, SECOND, THIRD]);
      await run(rig);
    } finally {
      await rig.dispose();
    }
  };
}

/** Get rejects the row, list and feed report it as unreadable, and the third entry is still returned. */
async function expectRefused({ store }: SqliteRig, ref: EntryRef): Promise<void> {
  await expect(store.get(ref)).rejects.toMatchObject({ code: "entry_unreadable" });
  const { namespace } = ref;
  const { entries, unreadable } = await store.list({ namespace });
  expect(unreadable.map(({ key, origin }) => [key, origin])).toContainEqual([ref.key, ref.origin]);
  expect(entries.map(({ key, origin }) => [key, origin])).not.toContainEqual([ref.key, ref.origin]);
  expect(text((await store.get(refTo("third")))?.value)).toBe("third value");
  expect(await allKeys(store)).toContain("third");
}

// verifies P-disk-sealed-rows
describe.each(DRIVERS)("with $name,", (driver) => {
  test("every column of the table is covered here", () =>
    withRows(driver, async (rig) => {
      const connection = await driver.open(rig.path, "read");
      const columns = connection.prepare("SELECT name FROM pragma_table_info('entries')").all();
      connection.close();
      expect(columns.map(({ name }) => name)).toEqual(COLUMNS);
    })());

  for (const [column, { sql, ref }] of Object.entries(CHANGES)) {
    test(
      `a row whose ${column} was changed is refused`,
      withRows(driver, async (rig) => {
        await rig.tamper(`UPDATE entries SET ${sql} WHERE key = 'first'`);
        await expectRefused(rig, { ...FIRST, ...ref });
        expect(await rig.store.inspect()).toMatchObject({ unreadable: 1, integrity: "ok" });
        expect(text((await rig.store.get(SECOND))?.value)).toBe("second value");
      }),
    );

    test(
      `two rows whose ${column} was swapped are both refused`,
      withRows(driver, async (rig) => {
        await swap(rig, column);
        const field = REF_FIELDS[column];
        const [first, second] =
          field === undefined
            ? [FIRST, SECOND]
            : [
                { ...FIRST, [field]: SECOND[field] },
                { ...SECOND, [field]: FIRST[field] },
              ];
        await expectRefused(rig, first);
        await expectRefused(rig, second);
        expect(await rig.store.inspect()).toMatchObject({ unreadable: 2, integrity: "ok" });
      }),
    );
  }

  test(
    "a whole row copied to another owner, key or origin is refused there",
    withRows(driver, async (rig) => {
      const copies: readonly Partial<EntryRef>[] = [{ namespace: BEN }, { key: "copy" }, { origin: "pack" }];
      for (const [i, copy] of copies.entries()) {
        const { namespace, origin, key } = { ...FIRST, ...copy };
        await rig.tamper(
          "INSERT INTO entries SELECT seq - 100 - ?, id || ?, ?, ?, ?, category, tags, created_at, updated_at, " +
            "expires_at, digest, sealed FROM entries WHERE key = 'first' AND origin = 'fact' AND namespace = 'ana'",
          ...[i, `copy${i}`, namespace, origin, key],
        );
        await expectRefused(rig, { namespace, origin, key });
      }
      expect(text((await rig.store.get(FIRST))?.value)).toBe("first value");
    }),
  );

  test(
    "an entry with an extended or removed expiry is refused",
    withRows(driver, async (rig) => {
      for (const expiresAt of [START + 99 * HOUR_MS, null]) {
        await rig.tamper("UPDATE entries SET expires_at = ? WHERE key = 'first'", expiresAt);
        rig.clock.now = START + HOUR_MS;
        await expectRefused(rig, FIRST);
      }
    }),
  );

  test(
    "an overwrite does not make a forged id or creation time genuine",
    withRows(driver, async (rig) => {
      await rig.tamper("UPDATE entries SET id = 'mem_forged', created_at = 1 WHERE key = 'first'");
      const { entry, replaced } = await rig.store.put(fact("first", "new"));
      expect(replaced).toBeUndefined();
      expect(entry.id).not.toBe("mem_forged");
      expect(entry.createdAt).toBe(START);
    }),
  );

  // Values that our code never writes, and that could confuse a library or a loop.
  const oddities: readonly string[] = [
    "tags = 'not json'",
    "tags = '{}'",
    "tags = '[1, null]'",
    "tags = ''",
    "id = ''",
    "id = 'x' || char(0) || 'y'",
    "updated_at = 9223372036854775807",
    "updated_at = -9223372036854775808",
    "updated_at = 9007199254740995",
    "created_at = 9223372036854775807",
    "expires_at = 9223372036854775807",
    "seq = 9223372036854775807",
    "seq = -9223372036854775808",
    "sealed = x''",
    "sealed = x'01'",
    "digest = x''",
    "origin = 'stranger'",
    "category = CAST(x'ff' AS TEXT)",
    "key = CAST(x'c3' AS TEXT)",
  ];
  for (const oddity of oddities) {
    test(
      `a row with ${oddity} is reported, and pages of one row end`,
      withRows(driver, async (rig) => {
        const { store } = rig;
        await rig.tamper(`UPDATE entries SET ${oddity} WHERE key = 'first'`);
        expect(await walk(rig)).toEqual({ keys: ["third"], unreadable: 1 });
        await store.listMeta({ namespace: ANA });
        expect(await store.inspect()).toMatchObject({ unreadable: 1 });
        expect(await feedKeys(rig)).toContain("third");
        await store.deleteWhere({ namespace: ANA });
        expect(await store.countWhere({ namespace: ANA })).toBe(0);
      }),
    );
  }

  test(
    "a lowered sequence number starts a new history for open stores, and is store_corrupt at the next write after opening",
    withRows(driver, async (rig) => {
      await rig.tamper("UPDATE store SET newest_seq = 0");
      await expect(rig.store.put(fact("new", "v"))).rejects.toMatchObject({ code: "store_replaced" });
      const again = await rig.openAgain();
      await expect(again.put(fact("new", "v"))).rejects.toMatchObject({ code: "store_corrupt" });
      expect(await allKeys(again)).toEqual(["third", "first"]);
    }),
  );

  test(
    "a changed key check is key_wrong at the next open",
    withRows(driver, async (rig) => {
      await rig.tamper("UPDATE store SET key_check = zeroblob(32)");
      await expect(rig.openAgain()).rejects.toMatchObject({ code: "key_wrong" });
      await expect(rig.openReader()).rejects.toMatchObject({ code: "key_wrong" });
    }),
  );

  test(
    "a subject with a colon does not reach another subject's session",
    withRows(driver, async (rig) => {
      await rig.tamper("UPDATE entries SET namespace = 'ana:s' WHERE key = 'first'");
      await expectRefused(rig, { ...FIRST, namespace: namespaceOf("ana", "s") });
    }),
  );
});

/** Swaps one column of the first and the second row, even a unique one. */
async function swap(rig: SqliteRig, column: string): Promise<void> {
  const connection = await rig.options.driver.open(rig.path, "write");
  try {
    connection.exec("CREATE TEMP TABLE before AS SELECT * FROM entries");
    connection.exec("CREATE TEMP TABLE after AS SELECT * FROM entries");
    for (const [to, from] of [
      ["first", "second"],
      ["second", "first"],
    ]) {
      const taken = `SELECT ${column} FROM before WHERE key = '${from}'`;
      connection.exec(
        `UPDATE after SET ${column} = (${taken}) WHERE rowid = (SELECT rowid FROM before WHERE key = '${to}')`,
      );
    }
    connection.exec("DELETE FROM entries");
    connection.exec("INSERT INTO entries SELECT * FROM after");
  } finally {
    connection.close();
  }
}

/** Reads every page with one entry per page; stops at the end or after far more pages than there are entries. */
async function walk({
  store,
}: SqliteRig): Promise<{ readonly keys: readonly string[]; readonly unreadable: number }> {
  const keys: string[] = [];
  let unreadable = 0;
  let cursor: string | undefined;
  for (let pages = 0; pages < 10; pages++) {
    const page = await store.list({ namespace: ANA, limit: 1, ...(cursor === undefined ? {} : { cursor }) });
    keys.push(...page.entries.map(({ key }) => key));
    unreadable += page.unreadable.length;
    cursor = page.nextCursor;
    if (cursor === undefined) return { keys, unreadable };
  }
  throw new Error("the pages do not end");
}

async function feedKeys({ store }: SqliteRig): Promise<readonly string[]> {
  const keys: string[] = [];
  for (let since = 0, asked = 0; asked < 10; asked++) {
    const changes = await store.changes({ namespace: ANA, since, limit: 1 });
    if (changes.kind === "start_over") throw new Error("told to start over");
    keys.push(...changes.upserts.map(({ key }) => key));
    if (!changes.more) return keys;
    since = changes.cursor;
  }
  throw new Error("the feed does not end");
}
