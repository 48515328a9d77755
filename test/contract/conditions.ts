/** Contract: conditions on what somebody was shown are judged in the write's own transaction. */
import { describe, expect, test } from "vitest";
import type { FillIn, MemoryReader } from "../../engine/store/memory-store.ts";
import { namespaceOf } from "../../engine/store/namespace.ts";
import { ANA, allKeys, BEN, fact, HOUR_MS, type OpenRig, refTo, text, withRig } from "./rig.ts";

const CHANGED = { code: "changed_meanwhile" };

async function revisionOf(store: MemoryReader, key: string): Promise<number> {
  return (await store.get(refTo(key)))?.revision ?? 0;
}

async function heldBy(store: MemoryReader, key: string): Promise<string | undefined> {
  return text((await store.get(refTo(key)))?.value);
}

// verifies P-condition-judged
export function describeConditions(open: OpenRig): void {
  describe("the revision of an entry", () => {
    test(
      "grows with each change, is the same in every answer, and never exceeds that of its namespace",
      withRig(open, async ({ store }) => {
        const seen: number[] = [];
        const note = async () => seen.push(await revisionOf(store, "editor"));
        const { entry } = await store.put(fact("editor", "vim"));
        await note();
        expect(entry.revision).toBe(seen[0]);
        expect((await store.listMeta({ namespace: ANA })).entries[0]?.revision).toBe(seen[0]);
        expect((await store.list({ namespace: ANA })).entries[0]?.revision).toBe(seen[0]);
        const changes = await store.changes({ namespace: ANA, since: 0 });
        expect(changes.kind === "changes" && changes.upserts[0]?.revision).toBe(seen[0]);
        await store.put(fact("editor", "vim"));
        await note();
        await store.put(fact("editor", "emacs"));
        await note();
        const renewed = await store.renew(refTo("editor"), (_, now) => ({ expiresAt: now + HOUR_MS }));
        await note();
        expect(renewed?.revision).toBe(seen.at(-1));
        const undone = await store.undo(refTo("editor"));
        await note();
        expect(undone?.restored[0]?.revision).toBe(seen.at(-1));
        expect(seen.toSorted((a, b) => a - b)).toEqual(seen);
        expect(new Set(seen).size).toBe(5);
        expect(await store.revision(ANA)).toBe(seen.at(-1));
        expect(await store.revision(ANA, { includeSessions: true })).toBeGreaterThanOrEqual(seen.at(-1) ?? 0);
      }),
    );
  });

  describe("a condition on a revision", () => {
    test(
      "lets a put, a renewal and an undo pass while the fact has it, and changes nothing otherwise",
      withRig(open, async ({ store }) => {
        const first = (await store.put(fact("editor", "vim", { tags: ["x"] }))).entry.revision;
        const second = (await store.put(fact("editor", "emacs"), { ifRevision: first })).entry.revision;
        const before = await store.get(refTo("editor"));
        const refused = { ...CHANGED, details: { revision: second } };
        await expect(store.put(fact("editor", "ed"), { ifRevision: first })).rejects.toMatchObject(refused);
        const later: Parameters<typeof store.renew>[1] = (_, now) => ({ expiresAt: now + HOUR_MS });
        await expect(store.renew(refTo("editor"), later, { ifRevision: first })).rejects.toMatchObject(
          refused,
        );
        await expect(store.undo(refTo("editor"), { ifRevision: first })).rejects.toMatchObject(refused);
        expect(await store.get(refTo("editor"))).toEqual(before);
        expect(await store.revision(ANA)).toBe(second);
        expect(await store.history(refTo("editor"))).toHaveLength(1);
        const third = await store.renew(refTo("editor"), later, { ifRevision: second });
        await store.undo(refTo("editor"), { ifRevision: third?.revision ?? -1 });
        expect(await heldBy(store, "editor")).toBe("vim");
      }),
    );

    test(
      "of 0 lets a put pass only while no fact is there: forgotten and expired ones are not",
      withRig(open, async ({ store, clock }) => {
        const anew = (value: string) => store.put(fact("editor", value), { ifRevision: 0 });
        await store.put(fact("editor", "theirs", { namespace: BEN }));
        await store.put(fact("editor", "row", { origin: "audit" }));
        await anew("vim");
        await expect(anew("emacs")).rejects.toMatchObject(CHANGED);
        await store.delete(refTo("editor"));
        await anew("ed");
        await store.put(fact("editor", "brief", { expiresAt: clock.now + HOUR_MS }));
        await expect(anew("emacs")).rejects.toMatchObject(CHANGED);
        clock.now += HOUR_MS;
        const { replaced } = await anew("nano");
        expect(replaced).toBeUndefined();
        expect(await heldBy(store, "editor")).toBe("nano");
      }),
    );

    test(
      "does not hold for a fact that is gone",
      withRig(open, async ({ store }) => {
        const { revision: ifRevision } = (await store.put(fact("editor", "vim"))).entry;
        await store.delete(refTo("editor"));
        const gone = { ...CHANGED, details: { revision: 0 } };
        await expect(store.put(fact("editor", "ed"), { ifRevision })).rejects.toMatchObject(gone);
        await expect(store.undo(refTo("editor"), { ifRevision })).rejects.toMatchObject(gone);
        await expect(store.renew(refTo("editor"), () => undefined, { ifRevision })).rejects.toMatchObject(
          gone,
        );
        expect(await allKeys(store)).toEqual([]);
      }),
    );

    test(
      "must be a whole number",
      withRig(open, async ({ store }) => {
        for (const ifRevision of [-1, 0.5, Number.NaN, "1" as unknown as number]) {
          const refused = { code: "invalid_input", details: { field: "if_revision" } };
          await expect(store.put(fact("a", "v"), { ifRevision })).rejects.toMatchObject(refused);
        }
        const refused = { code: "invalid_input", details: { field: "up_to" } };
        await expect(store.deleteWhere({ namespace: ANA, upTo: -1 })).rejects.toMatchObject(refused);
      }),
    );

    test(
      "covers superseded facts: none that was written after the bound",
      withRig(open, async ({ store }) => {
        await store.put(fact("tea", "green"));
        const upTo = await store.revision(ANA);
        await store.put(fact("milk", "oat"));
        const supersedes = ["tea", "milk", "missing"];
        await expect(store.put(fact("morning", "tea with milk"), { supersedes, upTo })).rejects.toMatchObject(
          CHANGED,
        );
        expect([...(await allKeys(store))].sort()).toEqual(["milk", "tea"]);
        const shown = await store.revision(ANA);
        await store.put(fact("morning", "tea with milk"), { supersedes, upTo: shown });
        expect(await allKeys(store)).toEqual(["morning"]);
      }),
    );
  });

  describe("a put of many", () => {
    test(
      "keeps what it is told to keep of the entries that are there then, and reports that",
      withRig(open, async ({ store }) => {
        await store.putMany(["shown", "changed"].map((key) => fact(key, "first")));
        const shown = await store.revision(ANA);
        for (const key of ["changed", "late"]) await store.put(fact(key, "theirs"));
        const entries = ["shown", "changed", "late", "new"].map((key) => fact(key, "imported"));
        const results = await store.putMany(entries, { keeps: ({ revision }) => revision > shown });
        expect(results.map(({ kept = false }) => kept)).toEqual([false, true, true, false]);
        const held = await Promise.all(entries.map(({ key }) => heldBy(store, key)));
        expect(held).toEqual(["imported", "theirs", "theirs", "imported"]);
        expect(await store.history(refTo("changed"))).toHaveLength(1);
      }),
    );
  });

  describe("filling in", () => {
    const keep: FillIn = (there) =>
      there === undefined ? {} : { category: there.category, tags: there.tags };

    test(
      "takes what a put does not name from the fact as it is then",
      withRig(open, async ({ store }) => {
        const { entry } = await store.put(fact("editor", "vim"), { fillIn: keep });
        expect(entry).toMatchObject({ category: "user_facts", tags: [] });
        await store.put(fact("editor", "emacs", { category: "tools", tags: ["x"] }));
        const { entry: kept } = await store.put(fact("editor", "ed"), { fillIn: keep });
        expect(kept).toMatchObject({ category: "tools", tags: ["x"] });
        expect(await store.get(refTo("editor"))).toMatchObject({ category: "tools", tags: ["x"] });
      }),
    );
  });

  describe("keys since", () => {
    test(
      "are those of live facts of the namespace that were written later, and the judge may refuse",
      withRig(open, async ({ store, clock }) => {
        await store.put(fact("before", "v"));
        const revision = await store.revision(ANA);
        await store.put(fact("after", "v"));
        await store.put(fact("gone", "v"));
        await store.delete(refTo("gone"));
        await store.put(fact("row", "v", { origin: "audit" }));
        await store.put(fact("theirs", "v", { namespace: BEN }));
        await store.put(fact("in session", "v", { namespace: namespaceOf("ana", "s") }));
        await store.put(fact("brief", "v", { expiresAt: clock.now + 1 }));
        clock.now += 1;
        const judged: string[] = [];
        const judge = (keys: readonly string[]) => void judged.push(...keys);
        await store.put(fact("new", "v"), { keysSince: { revision, judge } });
        expect(judged).toEqual(["after"]);
        const refuse = (keys: readonly string[]) => {
          throw new Error(keys.join());
        };
        const keysSince = { revision, judge: refuse };
        await expect(store.put(fact("other", "v"), { keysSince })).rejects.toThrow();
        const each = new Map([[ANA, keysSince]]);
        await expect(store.putMany([fact("other", "v")], { keysSince: each })).rejects.toThrow();
        expect(await store.get(refTo("other"))).toBeUndefined();
      }),
    );
  });
}

/** Also in slices. */
export function describeBounds(open: OpenRig): void {
  for (const [how, eraseAtOnce] of [
    ["at once", 100],
    ["in slices", 2],
  ] as const) {
    describe(`a delete ${how} of what was shown`, () => {
      const withSmall = (body: Parameters<typeof withRig>[1]) => withRig(open, body, { eraseAtOnce });

      test(
        "leaves what was stored, changed or renewed since, and names it",
        withSmall(async ({ store }) => {
          await store.putMany(Array.from({ length: 8 }, (_, i) => fact(`old/${i}`, "v")));
          const upTo = await store.revision(ANA, { includeSessions: true });
          expect(await store.countWhere({ namespace: ANA, upTo })).toBe(8);
          await store.put(fact("old/0", "another"));
          await store.renew(refTo("old/1"), (_, now) => ({ expiresAt: now + HOUR_MS }));
          await store.put(fact("new", "v"));
          await store.put(fact("theirs", "v", { namespace: BEN }));
          expect(await store.countWhere({ namespace: ANA, upTo })).toBe(6);
          expect(await store.deleteWhere({ namespace: ANA, upTo })).toMatchObject({
            deleted: 6,
            newer: { count: 3, keys: ["old/0", "old/1", "new"] },
          });
          expect([...(await allKeys(store))].sort()).toEqual(["new", "old/0", "old/1"]);
          expect(await store.countWhere({ namespace: BEN })).toBe(1);
          const { newer } = await store.deleteWhere({ namespace: ANA, upTo: await store.revision(ANA) });
          expect(newer).toBeUndefined();
        }),
      );

      test(
        "covers sessions by one number, and names at most ten",
        withSmall(async ({ store }) => {
          const session = namespaceOf("ana", "s");
          const shown = { namespace: ANA, includeSessions: true };
          await store.putMany([fact("a", "v"), fact("b", "v", { namespace: session }), fact("c", "v")]);
          await store.put(fact("d", "v", { namespace: session, origin: "cache" }));
          const upTo = await store.revision(ANA, { includeSessions: true });
          const since = Array.from({ length: 12 }, (_, i) => fact(`new/${i}`, "v", { namespace: session }));
          await store.putMany(since);
          expect(await store.countWhere({ ...shown, upTo })).toBe(4);
          const { deleted, newer } = await store.deleteWhere({ ...shown, upTo });
          expect(deleted).toBe(4);
          expect(newer?.count).toBe(12);
          expect(newer?.keys).toHaveLength(10);
          expect(await store.countWhere(shown)).toBe(12);
        }),
      );

      test(
        "leaves former values in a fact that was changed since, and names it",
        withSmall(async ({ store }) => {
          const team = { category: "team" };
          await store.put(fact("lead", "Ada", team));
          await store.put(fact("lead", "Grace"));
          await store.put(fact("place", "Delft", team));
          await store.put(fact("place", "Leiden"));
          await store.putMany(["x", "y", "z"].map((key) => fact(key, "v", team)));
          const upTo = await store.revision(ANA, { includeSessions: true });
          await store.put(fact("place", "Breda"));
          expect(await store.deleteWhere({ namespace: ANA, ...team, upTo })).toMatchObject({
            deleted: 3,
            former: 1,
            newer: { count: 1, keys: ["place"] },
          });
          expect(await store.history(refTo("lead"))).toEqual([]);
          expect(await store.history(refTo("place"))).toHaveLength(2);
        }),
      );

      test(
        "of one key leaves it with its history when it was changed since",
        withSmall(async ({ store }) => {
          await store.put(fact("a", "1"));
          const upTo = await store.revision(ANA);
          await store.put(fact("a", "2"));
          const kept = { deleted: 0, newer: { count: 1, keys: ["a"] } };
          expect(await store.delete(refTo("a"), { upTo })).toMatchObject(kept);
          expect(await store.history(refTo("a"))).toHaveLength(1);
          expect(await store.delete(refTo("a"), { upTo: await store.revision(ANA) })).toMatchObject({
            deleted: 1,
          });
        }),
      );

      test(
        "refuses a number that this store has not reached: another one was shown",
        withSmall(async ({ store }) => {
          await store.put(fact("a", "1"));
          const upTo = (await store.revision(ANA, { includeSessions: true })) + 1;
          await expect(store.deleteWhere({ namespace: ANA, upTo })).rejects.toMatchObject(CHANGED);
          expect(await allKeys(store)).toEqual(["a"]);
        }),
      );
    });
  }

  describe("an undo of what has a tag", () => {
    test(
      "goes back to the last value without it, and erases the former values with it",
      withRig(open, async ({ store }) => {
        for (const [value, tags] of [
          ["own", []],
          ["first", ["import"]],
          ["second", ["import"]],
        ] as const) {
          await store.put(fact("a", value, { tags }));
        }
        const undone = await store.undo(refTo("a"), { tag: "import" });
        expect(text(undone?.undone.value)).toBe("second");
        expect(await heldBy(store, "a")).toBe("own");
        expect(await store.history(refTo("a"))).toEqual([]);
        expect(await store.undo(refTo("a"), { tag: "import" })).toBeUndefined();
      }),
    );

    test(
      "brings back what it superseded, but for a key that is in use again",
      withRig(open, async ({ store }) => {
        for (const key of ["milk", "tea"]) await store.put(fact(key, "before"));
        await store.put(fact("a", "own", { tags: ["import"] }), { supersedes: ["milk", "tea"] });
        await store.put(fact("tea", "again"));
        const undone = await store.undo(refTo("a"), { tag: "import" });
        expect(undone?.restored.map(({ key }) => key)).toEqual(["milk"]);
        expect(await heldBy(store, "a")).toBeUndefined();
        expect(await heldBy(store, "milk")).toBe("before");
        expect(await heldBy(store, "tea")).toBe("again");
      }),
    );
  });
}
