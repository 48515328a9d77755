/** Contract: renewing entries, listing those that expire soon, and choosing between two copies of an entry. */
import { describe, expect, test } from "vitest";
import type { DecideRenewal, MemoryStore } from "../../engine/store/memory-store.ts";
import { ANA, allKeys, BEN, DAY_MS, fact, type OpenRig, refTo, START, text, withRig } from "./rig.ts";

const WRITER = { surface: "openclaw", agent: "ana" };
const until =
  (expiresAt: number): DecideRenewal =>
  () => ({ expiresAt, prolonged: true });
const LATER = START + 100 * DAY_MS;

async function heldAs(store: MemoryStore, key: string) {
  const entry = await store.get(refTo(key));
  return entry && { value: text(entry.value), expiresAt: entry.expiresAt };
}

export function describeRenewing(open: OpenRig): void {
  describe("renewing", () => {
    test(
      "changes the expiry and nothing else",
      withRig(open, async ({ store, clock }) => {
        const more = { expiresAt: START + DAY_MS, tags: ["x"], category: "tools" };
        await store.put(fact("editor", "vim", { ...more, writer: WRITER }));
        const before = await store.get(refTo("editor"));
        clock.now += 1_000;
        const renewed = await store.renew(refTo("editor"), until(LATER));
        expect(renewed).toEqual({
          ...before,
          revision: await store.revision(ANA),
          expiresAt: LATER,
          prolonged: true,
        });
        expect(await store.get(refTo("editor"))).toEqual(renewed);
        expect(await store.history(refTo("editor"))).toEqual([]);
        clock.now = START + 2 * DAY_MS;
        expect(await store.get(refTo("editor"))).toEqual(renewed);
      }),
    );

    test(
      "keeps vectors, and appears in the change feed",
      withRig(open, async ({ store }) => {
        await store.put(fact("editor", "vim"));
        const entry = await store.get(refTo("editor"));
        if (entry === undefined) throw new Error("What was stored is not there.");
        const { id, fingerprint } = entry;
        const made = { id, fingerprint, dimensions: 2, vectors: Float32Array.of(1, 0) };
        await store.putVectors(ANA, "space", [made]);
        const since = await store.changes({ namespace: ANA, since: 0 });
        if (since.kind !== "changes") throw new Error("A new store has no pruned history.");
        await store.renew(refTo("editor"), until(LATER));
        expect(await store.vectors({ namespace: ANA, space: "space", ids: [id] })).toEqual([made]);
        const changes = await store.changes({ namespace: ANA, since: since.cursor });
        expect(changes).toMatchObject({ upserts: [{ key: "editor", expiresAt: LATER }] });
      }),
    );

    test(
      "decides on the current entry, and leaves it unchanged without a decision",
      withRig(open, async ({ store, clock }) => {
        await store.put(fact("editor", "vim", { writer: WRITER }));
        const before = await store.get(refTo("editor"));
        clock.now += 5;
        const asked: unknown[] = [];
        const answer = await store.renew(refTo("editor"), (entry, now) => {
          asked.push([text(entry.value), now]);
          return undefined;
        });
        expect(answer).toEqual(before);
        expect(asked).toEqual([["vim", START + 5]]);
      }),
    );

    test(
      "finds no missing or expired entry, and none of another namespace",
      withRig(open, async ({ store, clock }) => {
        await store.put(fact("old", "x", { expiresAt: START + 1 }));
        await store.put(fact("theirs", "x", { namespace: BEN }));
        clock.now += 1;
        for (const key of ["old", "theirs", "none"]) {
          expect(await store.renew(refTo(key), until(LATER))).toBeUndefined();
          expect(await store.get(refTo(key))).toBeUndefined();
        }
      }),
    );

    test(
      "is undone by the next store of the key",
      withRig(open, async ({ store }) => {
        await store.put(fact("editor", "vim", { writer: WRITER }));
        await store.renew(refTo("editor"), until(LATER));
        await store.put(fact("editor", "vim", { writer: WRITER }));
        expect(await store.get(refTo("editor"))).not.toHaveProperty("prolonged");
      }),
    );

    test(
      "works for entries without a writer",
      withRig(open, async ({ store }) => {
        await store.put(fact("editor", "vim"));
        await store.renew(refTo("editor"), until(LATER));
        const entry = await store.get(refTo("editor"));
        expect(entry).toMatchObject({ prolonged: true });
        expect(entry).not.toHaveProperty("writer");
      }),
    );
  });

  describe("what ends soon", () => {
    test(
      "is listed by expiry",
      withRig(open, async ({ store }) => {
        await store.put(fact("soon", "x", { expiresAt: START + DAY_MS }));
        await store.put(fact("late", "x", { expiresAt: START + 2 * DAY_MS }));
        await store.put(fact("never", "x"));
        expect(await allKeys(store, { expiresBefore: START + 2 * DAY_MS })).toEqual(["soon"]);
        const metas = await store.listMeta({ namespace: ANA, expiresBefore: START + 3 * DAY_MS });
        expect(metas.entries.map(({ key }) => key).sort()).toEqual(["late", "soon"]);
      }),
    );
  });

  describe("of two copies of an entry", () => {
    const there = fact("editor", "vim", {
      createdAt: START - DAY_MS,
      updatedAt: START - 10,
      expiresAt: LATER,
    });
    const given = (value: string, updatedAt: number | undefined, expiresAt = LATER) =>
      fact("editor", value, {
        ...(updatedAt !== undefined && { createdAt: updatedAt, updatedAt }),
        expiresAt,
      });

    test.each([
      ["the newer one stays: an older one does not come in", "newer", given("ed", START - 11), false],
      ["the newer one stays: a newer one comes in", "newer", given("ed", START - 9), true],
      ["of one age, the one that is there stays", "newer", given("ed", START - 10), false],
      ["of one age, the one that lives longer comes in", "newer", given("ed", START - 10, LATER + 1), true],
      ["one that names no time is new", "newer", given("ed", undefined), true],
      ["keep leaves what is there", "keep", given("ed", START), false],
      ["replace takes what is given", "replace", given("ed", START - 11), true],
    ] as const)("%s", (_name, onConflict, entry, comesIn) =>
      withRig(open, async ({ store }) => {
        await store.put(there);
        const [result] = await store.putMany([entry], { onConflict });
        expect(result?.kept).toBe(comesIn ? undefined : true);
        expect((await heldAs(store, "editor"))?.value).toBe(comesIn ? "ed" : "vim");
      })(),
    );

    test(
      "a missing or expired entry causes no conflict",
      withRig(open, async ({ store, clock }) => {
        await store.put(fact("editor", "vim", { expiresAt: START + 1 }));
        clock.now += 1;
        const [first, second] = await store.putMany([given("ed", START - 50), fact("shell", "fish")], {
          onConflict: "keep",
        });
        expect([first?.kept, second?.kept]).toEqual([undefined, undefined]);
        expect((await heldAs(store, "editor"))?.value).toBe("ed");
      }),
    );
  });
}
