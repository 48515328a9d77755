/**
 * Contract: a delete removes exactly the requested entries, and a dry run counts the same. No read path returns expired entries.
 */
import { describe, expect, test } from "vitest";
import type { EntryFilter, MemoryStore } from "../../engine/store/memory-store.ts";
import { namespaceOf } from "../../engine/store/namespace.ts";
import {
  ANA,
  allKeys,
  BEN,
  fact,
  HOUR_MS,
  KEPT_EXPIRED_MS,
  letPass,
  type OpenRig,
  refTo,
  START,
  text,
  withRig,
} from "./rig.ts";

export function describeDeleting(open: OpenRig): void {
  describe("deleting", () => {
    test(
      "deletes exactly one entry: case, origin, namespace and the whole key must match",
      withRig(open, async ({ store }) => {
        await store.putMany([
          fact("editor", "1"),
          fact("Editor", "2"),
          fact("editor/vim", "3"),
          fact("editor", "4", { origin: "audit" }),
          fact("editor", "5", { namespace: BEN }),
        ]);
        expect(await store.delete(refTo("editor"))).toMatchObject({ deleted: 1 });
        expect([...(await allKeys(store))].sort()).toEqual(["Editor", "editor", "editor/vim"]);
        expect(await store.get(refTo("editor"))).toBeUndefined();
        expect(await store.get(refTo("editor", { namespace: BEN }))).toBeDefined();
      }),
    );

    test(
      "by tag deletes entries and former values with exactly that tag, and listing by tag finds the same",
      withRig(open, async ({ store }) => {
        const tagged = [["a,"], [",b"], ["x", ","], ['"x"'], ["X"], ["x"], ["ü\n"], []];
        await store.putMany(tagged.map((tags, index) => fact(`${index}`, "v", { tags })));
        await store.put(fact("past", "before", { tags: ["x"] }));
        await store.put(fact("past", "now"));
        await store.put(fact("x", "v", { namespace: BEN, tags: ["x"] }));
        for (const [tag, keys] of [
          [",", ["2"]],
          ["ü\n", ["6"]],
          ["x", ["2", "5"]],
          ["\ud800", []],
        ] as const) {
          const { entries } = await store.listMeta({ namespace: ANA, tag });
          expect(entries.map(({ key }) => key).sort()).toEqual(keys);
          expect(await store.countWhere({ namespace: ANA, tag })).toBe(keys.length);
        }
        expect(await store.deleteWhere({ namespace: ANA, tag: "x" })).toMatchObject({
          deleted: 2,
          former: 1,
        });
        expect([...(await allKeys(store))].sort()).toEqual(["0", "1", "3", "4", "6", "7", "past"]);
        expect(await store.history(refTo("past"))).toEqual([]);
        expect(await store.get(refTo("x", { namespace: BEN }))).toBeDefined();
      }),
    );

    test(
      "of a missing entry deletes nothing",
      withRig(open, async ({ store }) => {
        await store.put(fact("a\ufffd", "v"));
        expect(await store.delete(refTo("b"))).toMatchObject({ deleted: 0 });
        expect(await store.delete(refTo("a\ud800"))).toMatchObject({ deleted: 0 });
        expect(await store.get(refTo("a\ud800"))).toBeUndefined();
        expect(await allKeys(store)).toEqual(["a\ufffd"]);
      }),
    );

    test(
      "followed by a put creates a new entry",
      withRig(open, async ({ store, clock }) => {
        const first = await store.put(fact("editor", "vim"));
        await store.delete(refTo("editor"));
        clock.now += 1;
        const second = await store.put(fact("editor", "vim"));
        expect(second.replaced).toBeUndefined();
        expect(second.entry.id).not.toBe(first.entry.id);
        expect(second.entry.createdAt).toBe(START + 1);
      }),
    );
  });

  describe("deleting where", () => {
    const session = namespaceOf("ana", "s1");
    const filters: readonly { readonly filter: EntryFilter; readonly gone: readonly string[] }[] = [
      { filter: { namespace: ANA }, gone: ["f", "F", "f/1", "tool", "row", "cached"] },
      { filter: { namespace: BEN }, gone: ["bens"] },
      { filter: { namespace: ANA, origins: ["audit"] }, gone: ["row"] },
      { filter: { namespace: ANA, origins: ["audit", "cache"] }, gone: ["row", "cached"] },
      { filter: { namespace: ANA, origins: [] }, gone: [] },
      { filter: { namespace: ANA, key: "f" }, gone: ["f"] },
      { filter: { namespace: ANA, key: "f%" }, gone: [] },
      { filter: { namespace: ANA, prefix: "f" }, gone: ["f", "f/1"] },
      { filter: { namespace: ANA, category: "tools" }, gone: ["tool"] },
      { filter: { namespace: ANA, category: "tools", key: "f" }, gone: [] },
      { filter: { namespace: ANA, key: "f/1", prefix: "f/" }, gone: ["f/1"] },
      { filter: { namespace: session }, gone: ["in session"] },
      {
        filter: { namespace: ANA, includeSessions: true },
        gone: ["f", "F", "f/1", "tool", "row", "cached", "in session"],
      },
      { filter: { namespace: ANA, includeSessions: true, prefix: "in" }, gone: ["in session"] },
    ];
    const entries = [
      fact("f", "1"),
      fact("F", "2"),
      fact("f/1", "3"),
      fact("tool", "4", { category: "tools" }),
      fact("row", "5", { origin: "audit" }),
      fact("cached", "6", { origin: "cache" }),
      fact("bens", "7", { namespace: BEN }),
      fact("in session", "8", { namespace: session }),
      fact("colon", "9", { namespace: namespaceOf("ana:s1") }),
      fact("longer", "10", { namespace: namespaceOf("anabel") }),
      fact("between", "11", { namespace: namespaceOf("ana;x") }),
    ];
    for (const { filter, gone } of filters) {
      test(
        `${JSON.stringify(filter)} takes ${gone.length}, as many as were counted before`,
        withRig(open, async ({ store }) => {
          await store.putMany(entries);
          expect(await store.countWhere(filter)).toBe(gone.length);
          expect(await store.deleteWhere(filter)).toMatchObject({ deleted: gone.length });
          expect(await store.countWhere(filter)).toBe(0);
          const left = entries.map((entry) => entry.key).filter((key) => !gone.includes(key));
          expect(await everyKey(store)).toEqual(left.sort());
        }),
      );
    }

    test(
      "from a listing's cursor deletes what follows it, and nothing newer",
      withRig(open, async ({ store, clock }) => {
        for (const key of ["a", "b", "c", "d", "e"]) {
          await store.put(fact(key, "v", { category: key === "c" ? "others" : "notes" }));
          clock.now += key === "b" ? 0 : 1; // b and c have the same time
        }
        const { nextCursor: cursor = "" } = await store.listMeta({
          namespace: ANA,
          category: "notes",
          limit: 2,
        });
        const filter = { namespace: ANA, category: "notes", cursor };
        expect(await store.countWhere(filter)).toBe(2);
        expect(await store.deleteWhere(filter)).toMatchObject({ deleted: 2 });
        expect(await everyKey(store)).toEqual(["c", "d", "e"]);
        expect(await store.deleteWhere(filter)).toMatchObject({ deleted: 0 });
      }),
    );

    test(
      "a subject with a colon is not a session of another subject",
      withRig(open, async ({ store }) => {
        const colon = namespaceOf("ana:s1");
        await store.put(fact("colon", "v", { namespace: colon }));
        await store.put(fact("session", "v", { namespace: session }));
        expect(await allKeys(store, { namespace: colon })).toEqual(["colon"]);
        expect(await allKeys(store, { namespace: session })).toEqual(["session"]);
        await store.deleteWhere({ namespace: colon, includeSessions: true });
        expect(await allKeys(store, { namespace: session })).toEqual(["session"]);
      }),
    );
  });

  describe("expiry", () => {
    const living = fact("living", "v", { expiresAt: START + HOUR_MS + 1 });
    const dying = fact("dying", "v", { expiresAt: START + HOUR_MS });

    test(
      "hides an entry from exactly that time on, however it is read",
      withRig(open, async ({ store, clock }) => {
        await store.putMany([living, dying]);
        clock.now = START + HOUR_MS - 1;
        expect(await store.get(refTo("dying"))).toBeDefined();
        expect(await store.countWhere({ namespace: ANA })).toBe(2);
        clock.now = START + HOUR_MS;
        expect(await store.get(refTo("dying"))).toBeUndefined();
        expect(await allKeys(store)).toEqual(["living"]);
        expect((await store.listMeta({ namespace: ANA })).entries.map((meta) => meta.key)).toEqual([
          "living",
        ]);
        expect(await store.countWhere({ namespace: ANA })).toBe(1);
        expect(await store.countWhere({ namespace: ANA, key: "dying" })).toBe(0);
        expect(await store.namespaces()).toEqual([{ namespace: ANA, count: 1 }]);
        expect(await store.inspect()).toMatchObject({ entries: 1, expired: 1 });
        const changes = await store.changes({ namespace: ANA, since: 0 });
        expect(changes.kind === "changes" && changes.upserts.map((entry) => entry.key)).toEqual(["living"]);
      }),
    );

    test(
      "omits expired entries from later pages",
      withRig(open, async ({ store, clock }) => {
        await store.put({ ...dying, updatedAt: 1 });
        await store.put({ ...living, updatedAt: 2 });
        await store.put(fact("third", "v", { updatedAt: 3 }));
        const first = await store.list({ namespace: ANA, limit: 1 });
        clock.now = START + HOUR_MS;
        const cursor = first.nextCursor ?? "";
        const second = await store.list({ namespace: ANA, limit: 1, cursor });
        expect(second.entries.map((entry) => entry.key)).toEqual(["living"]);
        expect(second.nextCursor).toBeUndefined();
      }),
    );

    test(
      "makes a later put create a new entry that replaces nothing",
      withRig(open, async ({ store, clock }) => {
        const first = await store.put(dying);
        clock.now = START + HOUR_MS;
        const second = await store.put(fact("dying", "v"));
        expect(second.replaced).toBeUndefined();
        expect(second.entry.id).not.toBe(first.entry.id);
        expect(second.entry.createdAt).toBe(START + HOUR_MS);
        expect(text((await store.get(refTo("dying")))?.value)).toBe("v");
      }),
    );

    test(
      "an entry that is put after its expiry is never shown",
      withRig(open, async ({ store }) => {
        await store.put(fact("late", "v", { expiresAt: START }));
        expect(await store.get(refTo("late"))).toBeUndefined();
        expect(await store.countWhere({ namespace: ANA })).toBe(0);
      }),
    );

    test(
      "an expired entry is not counted by a delete, which still removes its row",
      withRig(open, async ({ store, clock }) => {
        await store.putMany([living, dying, { ...dying, key: "dying too" }]);
        clock.now = START + HOUR_MS;
        expect(await store.delete(refTo("dying"))).toMatchObject({ deleted: 0 });
        expect(await store.inspect()).toMatchObject({ entries: 1, expired: 1 });
        expect(await store.deleteWhere({ namespace: ANA })).toMatchObject({ deleted: 1 });
        expect(await store.inspect()).toMatchObject({ entries: 0, expired: 0 });
      }),
    );

    test(
      "a sweep deletes expired rows in every namespace, once",
      withRig(open, async ({ store, clock }) => {
        await store.putMany([living, dying, { ...dying, namespace: BEN }]);
        expect(await store.deleteExpired()).toMatchObject({ deleted: 0 });
        await letPass(store, clock, HOUR_MS + KEPT_EXPIRED_MS - 1);
        expect(await store.inspect()).toMatchObject({ entries: 0, expired: 3 });
        clock.now += 1;
        const due = await store.put(fact("later", "v", { expiresAt: clock.now + HOUR_MS }));
        clock.now += 60_000; // the store does not record shorter steps
        expect(await store.deleteExpired()).toMatchObject({ deleted: 3 });
        expect(await store.inspect()).toMatchObject({ entries: 3, expired: 0 }); // with two counts of what ended
        expect(await store.deleteExpired()).toMatchObject({ deleted: 0 });
        expect((await store.listMeta({ namespace: ANA, origin: "fact" })).entries).toEqual([due.entry]);
      }),
    );
  });

  describe("namespaces", () => {
    test(
      "are counted separately",
      withRig(open, async ({ store }) => {
        await store.putMany([
          fact("a", "1"),
          fact("b", "2"),
          fact("a", "3", { namespace: BEN }),
          fact("a", "4", { namespace: namespaceOf("ana", "s1") }),
        ]);
        const counts = new Map((await store.namespaces()).map((row) => [row.namespace, row.count]));
        expect(Object.fromEntries(counts)).toEqual({ ana: 2, "ana:s1": 1, ben: 1 });
      }),
    );

    test(
      "with half a surrogate pair do not match the replacement character",
      withRig(open, async ({ store }) => {
        await store.put(fact("a", "1", { namespace: namespaceOf("\ufffd") }));
        const namespace = namespaceOf("\ud800");
        expect(await store.get(refTo("a", { namespace }))).toBeUndefined();
        expect((await store.list({ namespace })).entries).toEqual([]);
        expect((await store.listMeta({ namespace })).entries).toEqual([]);
        expect(await store.countWhere({ namespace, includeSessions: true })).toBe(0);
        expect(await store.categories(namespace)).toEqual([]);
        expect(await store.changes({ namespace, since: 0 })).toMatchObject({ upserts: [], removed: [] });
        expect(await store.deleteWhere({ namespace })).toMatchObject({ deleted: 0 });
        expect(await store.countWhere({ namespace: namespaceOf("\ufffd") })).toBe(1);
      }),
    );

    test(
      "report a subject's usage, including its sessions and former values",
      withRig(open, async ({ store }) => {
        expect(await store.usage(ANA)).toEqual({ entries: 0, bytes: 0 });
        await store.put(fact("a", "x".repeat(1_000)));
        await store.put(fact("b", "x".repeat(1_000), { namespace: namespaceOf("ana", "s1") }));
        await store.put(fact("c", "x".repeat(5_000), { namespace: BEN }));
        const before = await store.usage(ANA);
        expect(before.entries).toBe(2);
        expect(before.bytes).toBeGreaterThanOrEqual(2_000);
        expect(before.bytes).toBeLessThan(3_000);
        const ben = await store.usage(BEN);
        const [ana] = await store.subjects(undefined, 9);
        expect([ana, await store.subjects(ANA, 9)]).toEqual([
          { namespace: ANA, ...before },
          [{ namespace: BEN, ...ben }],
        ]);
        await store.put(fact("a", "y"));
        expect((await store.usage(ANA)).bytes).toBeGreaterThan(before.bytes);
        await store.deleteWhere({ namespace: ANA, includeSessions: true });
        expect(await store.usage(ANA)).toEqual({ entries: 0, bytes: 0 });
        expect((await store.usage(BEN)).entries).toBe(1);
        expect(await store.subjects(undefined, 9)).toHaveLength(1);
      }),
    );

    test(
      "report their categories by origin and name, without expired entries and those of others",
      withRig(open, async ({ store, clock }) => {
        await store.putMany([
          fact("a", "1"),
          fact("b", "2"),
          fact("c", "3", { category: "prefs" }),
          fact("a", "4", { origin: "cache" }),
          fact("d", "5", { category: "brief", expiresAt: clock.now + HOUR_MS }),
          fact("e", "6", { namespace: BEN }),
          fact("f", "7", { namespace: namespaceOf("ana", "s1") }),
        ]);
        clock.now += HOUR_MS;
        expect(await store.categories(ANA)).toEqual([
          { origin: "cache", category: "user_facts", count: 1 },
          { origin: "fact", category: "prefs", count: 1 },
          { origin: "fact", category: "user_facts", count: 2 },
        ]);
        expect(await store.categories(namespaceOf("nobody"))).toEqual([]);
      }),
    );
  });
}

async function everyKey(store: MemoryStore): Promise<readonly string[]> {
  const keys: string[] = [];
  for (const { namespace } of await store.namespaces()) keys.push(...(await allKeys(store, { namespace })));
  return keys.sort();
}
