/** Contract: a fact's former values, facts that supersede others, and undo. */
import { describe, expect, test } from "vitest";
import { HISTORY_LIMITS } from "../../engine/rules/history.ts";
import type { Erasure, MemoryReader, MemoryStore } from "../../engine/store/memory-store.ts";
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

const TURN = { conversationId: "call" };
const WRITER = { surface: "openclaw", agent: "ana", sessionKind: "direct" };

/** The history as `key: value`, newest first. */
async function historyOf(store: MemoryReader, key: string, more = {}): Promise<readonly string[]> {
  return (await store.history(refTo(key, more))).map((former) => `${former.key}: ${text(former.value)}`);
}

async function heldBy(store: MemoryReader, key: string): Promise<string | undefined> {
  return text((await store.get(refTo(key)))?.value);
}

/** Stores one fact after the other, a millisecond apart. */
async function storeInTurn(store: MemoryStore, clock: { now: number }, ...facts: readonly string[]) {
  for (const one of facts) {
    const [key = "", value = ""] = one.split(": ");
    clock.now += 1;
    await store.put(fact(key, value));
  }
}

export function describeHistory(open: OpenRig, erased: Erasure["erased"]): void {
  describe("history", () => {
    test(
      "keeps replaced values, newest first, complete with time and writer",
      withRig(open, async ({ store, clock }) => {
        await store.put(fact("editor", "vim", { tags: ["x"], category: "tools", writer: WRITER, ...TURN }));
        clock.now += 1;
        await store.put(fact("editor", "emacs"));
        clock.now += 1;
        await store.put(fact("editor", "ed"));
        expect(await historyOf(store, "editor")).toEqual(["editor: emacs", "editor: vim"]);
        const [, first] = await store.history(refTo("editor"));
        expect(first).toMatchObject({
          category: "tools",
          tags: ["x"],
          ...{ writer: WRITER, ...TURN },
          createdAt: START,
          updatedAt: START,
        });
      }),
    );

    test(
      "keeps nothing when the same value is stored again, or for entries that are not facts",
      withRig(open, async ({ store }) => {
        await store.put(fact("editor", "vim"));
        await store.put(fact("editor", "vim", { tags: ["again"] }));
        expect(await historyOf(store, "editor")).toEqual([]);
        for (const origin of ["audit", "cache", "pack"] as const) {
          await store.put(fact("k", "1", { origin }));
          await store.put(fact("k", "2", { origin }));
          expect(await historyOf(store, "k", { origin })).toEqual([]);
        }
        expect((await store.formerKeys({ namespace: ANA })).keys).toEqual([]);
      }),
    );

    test(
      "keeps the last ten",
      withRig(open, async ({ store, clock }) => {
        await storeInTurn(store, clock, ...Array.from({ length: 14 }, (_, i) => `editor: ${i}`));
        expect(await historyOf(store, "editor")).toEqual(
          [12, 11, 10, 9, 8, 7, 6, 5, 4, 3].map((i) => `editor: ${i}`),
        );
      }),
    );

    test(
      "is in no listing, count, change or namespace",
      withRig(open, async ({ store, clock }) => {
        await storeInTurn(store, clock, "editor: vim", "editor: emacs");
        expect((await store.list({ namespace: ANA })).entries.map(({ value }) => text(value))).toEqual([
          "emacs",
        ]);
        expect(await store.countWhere({ namespace: ANA, includeSessions: true })).toBe(1);
        const changes = await store.changes({ namespace: ANA, since: 0 });
        expect(changes).toMatchObject({ upserts: [{ key: "editor" }], removed: [] });
        expect(await store.namespaces()).toEqual([{ namespace: ANA, count: 1 }]);
        expect(await store.categories(ANA)).toMatchObject([{ count: 1 }]);
      }),
    );

    test(
      "is deleted when its fact is forgotten or expires",
      withRig(open, async ({ store, clock }) => {
        await storeInTurn(store, clock, "editor: vim", "editor: emacs");
        await store.delete(refTo("editor"));
        expect(await historyOf(store, "editor")).toEqual([]);
        await storeInTurn(store, clock, "editor: ed");
        expect(await historyOf(store, "editor")).toEqual([]);
        await store.put(fact("editor", "nano", { expiresAt: clock.now + HOUR_MS }));
        expect(await historyOf(store, "editor")).toEqual(["editor: ed"]);
        clock.now += HOUR_MS;
        expect(await historyOf(store, "editor")).toEqual([]);
        await store.put(fact("editor", "micro"));
        expect(await historyOf(store, "editor")).toEqual([]);
      }),
    );

    test(
      "does not show values that would have expired",
      withRig(open, async ({ store, clock }) => {
        await store.put(fact("door", "1234", { expiresAt: clock.now + HOUR_MS }));
        clock.now += 1;
        await store.put(fact("door", "5678"));
        expect(await historyOf(store, "door")).toEqual(["door: 1234"]);
        clock.now += HOUR_MS;
        expect(await historyOf(store, "door")).toEqual([]);
        expect(await store.undo(refTo("door"))).toBeUndefined();
        expect(await heldBy(store, "door")).toBe("5678");
      }),
    );

    test(
      "is imported with a fact, unless the fact exists here",
      withRig(open, async ({ store, clock }) => {
        await storeInTurn(store, clock, "editor: vim", "editor: emacs");
        const [former] = await store.history(refTo("editor"));
        const history = former === undefined ? [] : [former];
        await store.put(fact("copy", "emacs", { history }));
        await store.put(fact("editor", "ed", { history }));
        expect(await historyOf(store, "copy")).toEqual(["editor: vim"]);
        expect(await historyOf(store, "editor")).toEqual(["editor: emacs", "editor: vim"]);
      }),
    );
  });

  describe("superseding", () => {
    test(
      "retires other facts in the same write: gets miss them, the feed reports them, the result names them",
      withRig(open, async ({ store, clock }) => {
        await storeInTurn(store, clock, "tea: green", "drink: tea", "other: stays");
        const { cursor } = Object(await store.changes({ namespace: ANA, since: 0 }));
        const retired = await store.get(refTo("tea"));
        const put = await store.put(fact("morning", "coffee"), {
          supersedes: ["tea", "drink", "gone", "tea"],
        });
        expect(put.superseded).toEqual(["tea", "drink"]);
        expect(put.replaced).toBeUndefined();
        expect(await store.get(refTo("tea"))).toBeUndefined();
        expect((await allKeys(store)).toSorted()).toEqual(["morning", "other"]);
        const changes = await store.changes({ namespace: ANA, since: cursor });
        expect(changes).toMatchObject({ upserts: [{ key: "morning" }] });
        expect(Object(changes).removed).toContain(retired?.id);
        expect(await historyOf(store, "morning")).toEqual(["drink: tea", "tea: green"]);
      }),
    );

    test(
      "keeps the histories of the superseded facts",
      withRig(open, async ({ store, clock }) => {
        await storeInTurn(store, clock, "tea: green", "tea: black", "morning: water");
        await store.put(fact("morning", "coffee"), { supersedes: ["tea"] });
        expect(await historyOf(store, "morning")).toEqual(["morning: water", "tea: black", "tea: green"]);
        expect((await store.formerKeys({ namespace: ANA })).keys).toHaveLength(3);
      }),
    );

    test(
      "affects only facts of the same namespace",
      withRig(open, async ({ store }) => {
        await store.put(fact("tea", "of Ben", { namespace: BEN }));
        await store.put(fact("tea", "cached", { origin: "cache" }));
        const { superseded } = await store.put(fact("morning", "coffee"), { supersedes: ["tea", "morning"] });
        expect(superseded).toEqual([]);
        expect(text((await store.get(refTo("tea", { namespace: BEN })))?.value)).toBe("of Ben");
        expect(text((await store.get(refTo("tea", { origin: "cache" })))?.value)).toBe("cached");
        expect(await historyOf(store, "morning")).toEqual([]);
      }),
    );

    test(
      "does not restore expired facts",
      withRig(open, async ({ store, clock }) => {
        await store.put(fact("tea", "green", { expiresAt: clock.now + 1 }));
        clock.now += 1;
        const { superseded } = await store.put(fact("morning", "coffee"), { supersedes: ["tea"] });
        expect(superseded).toEqual([]);
        expect(await historyOf(store, "morning")).toEqual([]);
      }),
    );

    test(
      "works only for facts, and for at most nine at a time",
      withRig(open, async ({ store }) => {
        const keys = Array.from({ length: HISTORY_LIMITS.superseded + 1 }, (_, i) => `k${i}`);
        await expect(store.put(fact("k", "v"), { supersedes: keys })).rejects.toMatchObject({
          code: "invalid_input",
          details: { field: "supersedes" },
        });
        await expect(
          store.put(fact("k", "v", { origin: "cache" }), { supersedes: ["a"] }),
        ).rejects.toMatchObject({
          code: "invalid_input",
        });
        expect(await store.namespaces()).toEqual([]);
      }),
    );

    test.each(["key", "category", "prefix"] as const)(
      "forgetting by %s also erases matching former values of facts that stay",
      async (by) => {
        await withRig(open, async ({ store, clock }) => {
          await store.put(fact("tea", "green", { category: "drinks" }));
          await store.put(fact("tea", "black", { category: "drinks" }));
          await store.put(fact("milk", "none"));
          await store.put(fact("tea", "of Ben", { namespace: BEN, category: "drinks" }));
          await store.put(fact("other", "now", { namespace: BEN }), { supersedes: ["tea"] });
          clock.now += 1;
          await store.put(fact("morning", "coffee"), { supersedes: ["tea", "milk"] });
          const wanted = { key: "tea", category: "drinks", prefix: "te" }[by];
          const filter = { namespace: ANA, origins: ["fact"] as const, [by]: wanted };
          expect(await store.deleteWhere(filter)).toEqual({ deleted: 0, erased, former: 2 });
          expect(await historyOf(store, "morning")).toEqual(["milk: none"]);
          expect(await historyOf(store, "other", { namespace: BEN })).toEqual(["tea: of Ben"]);
          expect(await store.deleteWhere(filter)).toEqual({ deleted: 0, erased: "complete" });
          expect(await store.undo(refTo("morning"))).toMatchObject({ restored: [{ key: "milk" }] });
          expect(await allKeys(store)).toEqual(["milk"]);
        })();
      },
    );

    test(
      "forgetting the superseding key erases all superseded values",
      withRig(open, async ({ store, clock }) => {
        await storeInTurn(store, clock, "tea: green");
        await store.put(fact("morning", "coffee"), { supersedes: ["tea"] });
        expect(await store.delete(refTo("morning"))).toEqual({ deleted: 1, erased });
        expect((await store.formerKeys({ namespace: ANA })).keys).toEqual([]);
      }),
    );
  });

  describe("undo", () => {
    test(
      "restores the previous value, and then the one before that",
      withRig(open, async ({ store, clock }) => {
        await store.put(fact("editor", "vim", { category: "tools", tags: ["x"], writer: WRITER, ...TURN }));
        const first = await store.get(refTo("editor"));
        await storeInTurn(store, clock, "editor: emacs", "editor: ed");
        const undone = await store.undo(refTo("editor"));
        expect(text(undone?.undone.value)).toBe("ed");
        expect(undone?.restored.map(({ key, value }) => `${key}: ${text(value)}`)).toEqual(["editor: emacs"]);
        expect(await historyOf(store, "editor")).toEqual(["editor: vim"]);
        await store.undo(refTo("editor"));
        expect(await store.get(refTo("editor"))).toEqual({ ...first, revision: expect.any(Number) });
        expect(await store.undo(refTo("editor"))).toBeUndefined();
        expect(await heldBy(store, "editor")).toBe("vim");
      }),
    );

    test(
      "of a superseding store restores all superseded facts with their histories",
      withRig(open, async ({ store, clock }) => {
        await storeInTurn(store, clock, "tea: green", "tea: black", "milk: none");
        const before = await store.get(refTo("tea"));
        await store.put(fact("morning", "coffee"), { supersedes: ["tea", "milk"] });
        const undone = await store.undo(refTo("morning"));
        expect(undone?.restored.map(({ key }) => key).sort()).toEqual(["milk", "tea"]);
        expect((await allKeys(store)).toSorted()).toEqual(["milk", "tea"]);
        expect(await store.get(refTo("tea"))).toEqual({
          ...before,
          revision: expect.any(Number),
          id: expect.any(String),
        });
        expect(await historyOf(store, "tea")).toEqual(["tea: green"]);
        await store.undo(refTo("tea"));
        expect(await heldBy(store, "tea")).toBe("green");
      }),
    );

    test(
      "goes back one store at a time, also when what the last one superseded was forgotten",
      withRig(open, async ({ store, clock }) => {
        await storeInTurn(store, clock, "milk: none", "tea: green");
        await store.put(fact("morning", "coffee"), { supersedes: ["tea"] });
        clock.now += 1;
        await store.put(fact("morning", "cocoa"), { supersedes: ["milk"] });
        const filter = { namespace: ANA, origins: ["fact"] as const, key: "milk" };
        expect(await store.deleteWhere(filter)).toEqual({ deleted: 0, erased, former: 1 });
        await store.undo(refTo("morning"));
        expect(await allKeys(store)).toEqual(["morning"]);
        expect(await historyOf(store, "morning")).toEqual(["tea: green"]);
        await store.undo(refTo("morning"));
        expect(await allKeys(store)).toEqual(["tea"]);
      }),
    );

    test(
      "works through chains of superseding facts",
      withRig(open, async ({ store, clock }) => {
        await storeInTurn(store, clock, "a: 1", "a: 2", "b: 1");
        await store.put(fact("b", "2"), { supersedes: ["a"] });
        await store.put(fact("c", "1"), { supersedes: ["b"] });
        expect(await historyOf(store, "c")).toEqual(["b: 2", "b: 1", "a: 2", "a: 1"]);
        await store.undo(refTo("c"));
        expect(await historyOf(store, "b")).toEqual(["b: 1", "a: 2", "a: 1"]);
        await store.undo(refTo("b"));
        expect(await heldBy(store, "b")).toBe("1");
        expect(await historyOf(store, "a")).toEqual(["a: 1"]);
        expect(await heldBy(store, "a")).toBe("2");
      }),
    );

    test(
      "is refused completely when a superseded key has a new value",
      withRig(open, async ({ store, clock }) => {
        await storeInTurn(store, clock, "tea: green", "milk: none");
        await store.put(fact("morning", "coffee"), { supersedes: ["milk", "tea"] });
        await storeInTurn(store, clock, "tea: white");
        await expect(store.undo(refTo("morning"))).rejects.toMatchObject({ code: "invalid_input" });
        expect((await allKeys(store)).toSorted()).toEqual(["morning", "tea"]);
        expect(await heldBy(store, "tea")).toBe("white");
        await store.delete(refTo("tea"));
        await store.undo(refTo("morning"));
        expect(await allKeys(store)).toEqual(["milk"]);
      }),
    );

    test(
      "of a missing fact, or one without history, does nothing",
      withRig(open, async ({ store }) => {
        expect(await store.undo(refTo("editor"))).toBeUndefined();
        await store.put(fact("editor", "vim"));
        expect(await store.undo(refTo("editor"))).toBeUndefined();
        expect(await store.undo(refTo("editor", { namespace: BEN }))).toBeUndefined();
        expect(await heldBy(store, "editor")).toBe("vim");
      }),
    );
  });

  test(
    "a sweep deletes histories with their facts",
    withRig(open, async ({ store, clock }) => {
      await store.put(fact("editor", "vim"));
      await store.put(fact("editor", "emacs", { expiresAt: clock.now + 1 }));
      await letPass(store, clock, KEPT_EXPIRED_MS + HOUR_MS);
      await store.deleteExpired();
      expect((await store.formerKeys({ namespace: ANA })).keys).toEqual([]);
      expect(await store.inspect()).toMatchObject({ unreadable: 0, expired: 0 });
    }),
  );
}
