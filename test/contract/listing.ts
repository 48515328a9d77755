/** Contract: listings are newest first, filtered by a byte-exact prefix, and paged without gaps or duplicates. */
import { describe, expect, test } from "vitest";
import type { ListQuery } from "../../engine/store/memory-store.ts";
import { ANA, allKeys, BEN, fact, type OpenRig, START, text, withRig } from "./rig.ts";
import { HOSTILE_KEYS } from "./writing.ts";

export function describeListing(open: OpenRig): void {
  describe("listing", () => {
    test(
      "is sorted by update time, newest first, whatever the order of writing",
      withRig(open, async ({ store, clock }) => {
        for (const key of ["a", "b", "c"]) {
          await store.put(fact(key, key));
          clock.now += 1_000;
        }
        await store.put(fact("old import", "x", { updatedAt: 5 }));
        await store.put(fact("a", "again"));
        expect(await allKeys(store)).toEqual(["a", "c", "b", "old import"]);
      }),
    );

    test(
      "sorts entries of the same time by id",
      withRig(open, async ({ store }) => {
        const results = await store.putMany(Array.from({ length: 20 }, (_, i) => fact(`k${i}`, "v")));
        const byId = [...results].sort((a, b) => (a.entry.id < b.entry.id ? -1 : 1));
        expect(await allKeys(store)).toEqual(byId.map((result) => result.entry.key));
      }),
    );

    test(
      "returns values; listMeta returns the same entries without them",
      withRig(open, async ({ store }) => {
        await store.put(fact("editor", "vim", { category: "tools", tags: ["x"], expiresAt: START + 9 }));
        const page = await store.list({ namespace: ANA });
        const [entry] = page.entries;
        expect(text(entry?.value)).toBe("vim");
        const { value: _value, fingerprint: _fingerprint, ...meta } = entry ?? {};
        expect((await store.listMeta({ namespace: ANA })).entries).toEqual([meta]);
      }),
    );

    test(
      "returns only entries of its namespace, origin and category",
      withRig(open, async ({ store }) => {
        await store.put(fact("mine", "1"));
        await store.put(fact("bens", "2", { namespace: BEN }));
        await store.put(fact("row", "3", { origin: "audit", category: "pack_history" }));
        await store.put(fact("tool", "4", { category: "tools" }));
        const sorted = async (query: Partial<ListQuery>) => [...(await allKeys(store, query))].sort();
        expect(await sorted({})).toEqual(["mine", "row", "tool"]);
        expect(await sorted({ namespace: BEN })).toEqual(["bens"]);
        expect(await sorted({ origin: "audit" })).toEqual(["row"]);
        expect(await sorted({ origin: ["audit"] })).toEqual(["row"]);
        expect(await sorted({ origin: ["fact", "audit", "fact"] })).toEqual(["mine", "row", "tool"]);
        expect(await sorted({ origin: ["cache", "pack"] })).toEqual([]);
        expect(await sorted({ origin: [] })).toEqual([]);
        expect(await sorted({ category: "tools" })).toEqual(["tool"]);
        expect(await sorted({ category: "Tools" })).toEqual([]);
        expect(await sorted({ category: ["tools", "pack_history"] })).toEqual(["row", "tool"]);
        expect(await sorted({ category: [] })).toEqual([]);
        expect(await sorted({ origin: "audit", category: "tools" })).toEqual([]);
      }),
    );

    test(
      "of an unknown namespace is empty, without a cursor",
      withRig(open, async ({ store }) => {
        expect(await store.list({ namespace: BEN })).toEqual({ entries: [], unreadable: [] });
        expect(await store.listMeta({ namespace: BEN })).toEqual({ entries: [] });
      }),
    );
  });

  describe("a prefix", () => {
    const cases: readonly { readonly prefix: string; readonly keys: readonly string[] }[] = [
      { prefix: "100%", keys: ["100%", "100% sure"] },
      { prefix: "a_", keys: ["a_b"] },
      { prefix: "A", keys: ["AB"] },
      { prefix: "a", keys: ["a_b", "aXb", "ab"] },
      { prefix: "é", keys: ["école"] },
      { prefix: "😀", keys: ["😀", "😀😀"] },
      { prefix: "\u{10ffff}", keys: ["\u{10ffff}", "\u{10ffff}\u{10ffff}x"] },
      { prefix: "\ud7ff", keys: ["\ud7ff after"] },
      { prefix: "nul\0", keys: ["nul\0one", "nul\0two"] },
      { prefix: "*", keys: [] },
      { prefix: "[a", keys: [] },
      { prefix: "\ud83d", keys: [] },
    ];
    const stored = [
      ...["100%", "100% sure", "1000", "a_b", "aXb", "ab", "AB", "école", "eclair", "😀", "😀😀"],
      ...["\u{10ffff}", "\u{10ffff}\u{10ffff}x", "\ud7ff after", "\ue000", "nul\0one", "nul\0two", "nulx"],
    ];
    for (const { prefix, keys } of cases) {
      test(
        `${JSON.stringify(prefix)} compares bytes: case matters and there are no wildcards`,
        withRig(open, async ({ store }) => {
          await store.putMany(stored.map((key) => fact(key, "v")));
          expect([...(await allKeys(store, { prefix }))].sort()).toEqual([...keys].sort());
          const counted = await store.countWhere({ namespace: ANA, prefix });
          expect(counted).toBe(keys.length);
          const { deleted } = await store.deleteWhere({ namespace: ANA, prefix });
          expect(deleted).toBe(keys.length);
          const left = stored.filter((key) => !keys.includes(key));
          expect([...(await allKeys(store))].sort()).toEqual(left.sort());
        }),
      );
    }

    test(
      "that is empty matches every key",
      withRig(open, async ({ store }) => {
        await store.putMany(stored.map((key) => fact(key, "v")));
        expect(await allKeys(store, { prefix: "" })).toHaveLength(stored.length);
      }),
    );

    test(
      "finds each hostile key separately",
      withRig(open, async ({ store }) => {
        await store.putMany(HOSTILE_KEYS.map((key) => fact(key, "v")));
        for (const key of HOSTILE_KEYS) {
          expect(await allKeys(store, { prefix: key })).toContain(key);
        }
      }),
    );
  });

  describe("pages", () => {
    test(
      "together contain every entry once, for any page size",
      withRig(open, async ({ store, clock }) => {
        for (let batch = 0; batch < 4; batch++) {
          await store.putMany(Array.from({ length: 6 }, (_, i) => fact(`k${batch}-${i}`, "v")));
          clock.now += batch; // the second batch has the same time as the first
        }
        const whole = await allKeys(store, { limit: 1_000 });
        expect(new Set(whole).size).toBe(24);
        for (const limit of [1, 2, 5, 6, 23, 24, 25]) {
          expect(await allKeys(store, { limit })).toEqual(whole);
        }
      }),
    );

    test(
      "end without a cursor, also when the last page is full",
      withRig(open, async ({ store }) => {
        await store.putMany([fact("a", "1"), fact("b", "2")]);
        expect((await store.list({ namespace: ANA, limit: 2 })).nextCursor).toBeUndefined();
        expect((await store.list({ namespace: ANA, limit: 1 })).nextCursor).toBeDefined();
        expect((await store.listMeta({ namespace: ANA, limit: 1 })).nextCursor).toBeDefined();
      }),
    );

    test(
      "stay stable while others write and delete",
      withRig(open, async ({ store, clock }) => {
        for (const key of ["a", "b", "c", "d"]) {
          await store.put(fact(key, key));
          clock.now += 1;
        }
        const first = await store.list({ namespace: ANA, limit: 2 });
        await store.put(fact("new", "v"));
        await store.delete({ namespace: ANA, origin: "fact", key: "c" });
        const cursor = first.nextCursor ?? "";
        const second = await store.list({ namespace: ANA, limit: 2, cursor });
        expect(first.entries.map((entry) => entry.key)).toEqual(["d", "c"]);
        expect(second.entries.map((entry) => entry.key)).toEqual(["b", "a"]);
      }),
    );

    test(
      "contain 100 entries by default, and at most 1,000",
      withRig(open, async ({ store }) => {
        await store.putMany(Array.from({ length: 1_001 }, (_, i) => fact(`k${i}`, "v")));
        expect((await store.list({ namespace: ANA })).entries).toHaveLength(100);
        expect((await store.listMeta({ namespace: ANA })).entries).toHaveLength(100);
        expect((await store.list({ namespace: ANA, limit: 1_000 })).entries).toHaveLength(1_000);
      }),
    );

    for (const limit of [0, -1, 1_001, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      test(
        `of size ${limit} are refused`,
        withRig(open, async ({ store }) => {
          const refusal = { code: "invalid_input", details: { field: "limit" } };
          await expect(store.list({ namespace: ANA, limit })).rejects.toMatchObject(refusal);
          await expect(store.listMeta({ namespace: ANA, limit })).rejects.toMatchObject(refusal);
        }),
      );
    }

    for (const cursor of ["", "x", "MTIz", Buffer.from("1-mem_").toString("base64url"), "' OR 1=1 --"]) {
      test(
        `with the invalid cursor ${JSON.stringify(cursor)} are refused`,
        withRig(open, async ({ store }) => {
          const refusal = { code: "invalid_input", details: { field: "cursor" } };
          await expect(store.list({ namespace: ANA, cursor })).rejects.toMatchObject(refusal);
          await expect(store.listMeta({ namespace: ANA, cursor })).rejects.toMatchObject(refusal);
        }),
      );
    }
  });
}
