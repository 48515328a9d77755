/** Contract: renewing entries, listing those that expire soon, and choosing between two copies of an entry. */
import { describe, expect, test } from "vitest";
import { invalidField } from "../../engine/errors.ts";
import { PINNED } from "../../engine/facts/marks.ts";
import type { DecideRenewal, MemoryStore } from "../../engine/store/memory-store.ts";
import { ANA, allKeys, BEN, DAY_MS, fact, type OpenRig, refTo, START, text, withRig } from "./rig.ts";

const WRITER = { surface: "openclaw", agent: "ana" };
const until =
  (expiresAt: number): DecideRenewal =>
  (_entry, now) => ({ expiresAt, ending: "default", confirmedAt: now });
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
          ...{ expiresAt: LATER, ending: "default", confirmedAt: clock.now },
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
        const stored = await store.get(refTo("editor"));
        for (const field of ["ending", "confirmedAt"]) expect(stored).not.toHaveProperty(field);
      }),
    );

    test(
      "changes tags and nothing else",
      withRig(open, async ({ store }) => {
        await store.put(fact("editor", "vim", { expiresAt: LATER, tags: ["x"], writer: WRITER }));
        await store.renew(refTo("editor"), until(LATER + 1));
        const before = await store.get(refTo("editor"));
        const renewed = await store.renew(refTo("editor"), () => ({ tags: ["x", "y"] }));
        expect(renewed).toEqual({ ...before, tags: ["x", "y"], revision: await store.revision(ANA) });
        expect(await store.get(refTo("editor"))).toEqual(renewed);
        expect(await store.history(refTo("editor"))).toEqual([]);
      }),
    );

    test(
      "decides beside the other live entries of the namespace with a tag",
      withRig(open, async ({ store, clock }) => {
        const tagged = { tags: ["other", "t"] };
        await store.put(fact("gone", "x", { ...tagged, expiresAt: START + 1 }));
        for (const key of ["a", "b", "self"]) await store.put(fact(key, `of ${key}`, tagged));
        await store.put(fact("untagged", "x", { tags: ["other"] }));
        await store.put(fact("theirs", "x", { ...tagged, namespace: BEN }));
        await store.put({ ...fact("run", "x", tagged), origin: "audit" });
        clock.now += 1;
        const seen: unknown[] = [];
        await store.renew(
          refTo("self"),
          (_entry, _now, beside = []) => {
            seen.push(...beside.map(({ key, value }) => [key, text(value)]));
            return undefined;
          },
          { besideTag: "t" },
        );
        expect(seen.sort()).toEqual([
          ["a", "of a"],
          ["b", "of b"],
        ]);
      }),
    );

    test(
      "changes nothing when the decision refuses",
      withRig(open, async ({ store }) => {
        await store.put(fact("editor", "vim"));
        const before = await store.get(refTo("editor"));
        const refusing = store.renew(refTo("editor"), () => {
          throw new Error("refused");
        });
        await expect(refusing).rejects.toThrow();
        expect(await store.get(refTo("editor"))).toEqual(before);
      }),
    );

    // verifies P-pin-limits
    test(
      "two at once never bring more than a decision allows",
      withRig(open, async ({ store }) => {
        const keys = Array.from({ length: 6 }, (_, at) => `fact-${at}`);
        for (const key of keys) await store.put(fact(key, "x"));
        const atMostTwo: DecideRenewal = ({ tags }, _now, beside = []) =>
          beside.length < 2 ? { tags: [...tags, "t"] } : undefined;
        await Promise.all(keys.map((key) => store.renew(refTo(key), atMostTwo, { besideTag: "t" })));
        expect(await store.countWhere({ namespace: ANA, tag: "t" })).toBe(2);
      }),
    );

    // verifies P-condition-judged
    test(
      "of several changes all in one transaction, or none, and answers only with those that changed",
      withRig(open, async ({ store }) => {
        for (const key of ["a", "b", "c"]) await store.put(fact(key, key, { expiresAt: START + DAY_MS }));
        const refs = ["a", "b", "none", "c"].map((key) => refTo(key));
        const formerEnd = { expiresAt: START + DAY_MS, ending: "chosen", at: START } as const;
        const decide: DecideRenewal = ({ key }) =>
          key === "b" ? undefined : { expiresAt: LATER, ending: "default", formerEnd };
        const renewed = await store.renewMany(refs, decide);
        expect(renewed.map((one) => one?.key)).toEqual(["a", undefined, undefined, "c"]);
        expect(await store.get(refTo("a"))).toMatchObject({ expiresAt: LATER, formerEnd });
        const failing: DecideRenewal = ({ key }) => {
          if (key === "c") throw invalidField("key", "is refused");
          return { expiresAt: LATER + 1 };
        };
        await expect(store.renewMany(refs, failing)).rejects.toThrow("is refused");
        expect(await store.get(refTo("a"))).toEqual(renewed[0]);
        const moved = await store.renew(refTo("a"), () => ({ expiresAt: LATER + 2 }));
        expect(moved).not.toHaveProperty("formerEnd");
      }),
    );

    test(
      "whether an end was chosen is kept with the value, also of a former one, with a writer or without",
      withRig(open, async ({ store }) => {
        const ends = [{ ending: "default" }, { ending: "chosen" }, {}] as const;
        for (const more of [{}, { writer: WRITER }])
          for (const end of ends) {
            await store.put(fact("editor", "vim", { expiresAt: LATER, ...end, ...more }));
            await store.put(fact("editor", "nano", { expiresAt: LATER }));
            await store.undo(refTo("editor"));
            const { ending, writer } = (await store.get(refTo("editor"))) ?? {};
            expect({ ...(ending && { ending }), ...(writer && { writer }) }).toEqual({ ...end, ...more });
            await store.delete(refTo("editor"));
          }
      }),
    );
  });

  // verifies P-pin-limits
  describe("the mark of a pin", () => {
    const pin: DecideRenewal = ({ tags }) => ({ tags: [...tags, PINNED] });
    const tagsOf = async (store: MemoryStore, key: string) => (await store.get(refTo(key)))?.tags;

    test(
      "is not set by a put, by an import, or by an imported history",
      withRig(open, async ({ store }) => {
        const forged = { tags: ["x", PINNED] };
        await store.put(fact("one", "x", forged));
        await store.putMany([fact("two", "x", forged)]);
        const was = { ...fact("three", "before", forged), createdAt: START, updatedAt: START, joined: false };
        await store.putMany([{ ...fact("three", "now"), history: [was] }]);
        await store.undo(refTo("three"));
        for (const key of ["one", "two", "three"]) expect(await tagsOf(store, key)).toEqual(["x"]);
        expect(await store.countWhere({ namespace: ANA, tag: PINNED })).toBe(0);
      }),
    );

    test(
      "stays through a store of its key, and an undo leaves it as it is then",
      withRig(open, async ({ store }) => {
        await store.put(fact("editor", "vim", { tags: ["x"] }));
        await store.renew(refTo("editor"), pin);
        await store.put(fact("editor", "ed", { tags: ["y"] }));
        expect(await tagsOf(store, "editor")).toEqual(["y", PINNED]);
        await store.undo(refTo("editor"));
        expect(await tagsOf(store, "editor")).toEqual(["x", PINNED]);
        await store.put(fact("editor", "ed", { tags: ["y"] }));
        await store.renew(refTo("editor"), ({ tags }) => ({ tags: tags.filter((tag) => tag !== PINNED) }));
        await store.undo(refTo("editor"));
        expect(await tagsOf(store, "editor")).toEqual(["x"]);
        await store.put(fact("editor", "ed"));
        await store.renew(refTo("editor"), pin);
        await store.undo(refTo("editor"));
        expect(await tagsOf(store, "editor")).toEqual(["x", PINNED]);
      }),
    );

    test(
      "goes with a fact that is superseded, and does not come back with it",
      withRig(open, async ({ store }) => {
        await store.put(fact("old", "vim", { tags: ["x"] }));
        await store.renew(refTo("old"), pin);
        await store.put(fact("new", "ed"), { supersedes: ["old"] });
        expect(await tagsOf(store, "new")).toEqual([]);
        await store.undo(refTo("new"));
        expect(await tagsOf(store, "old")).toEqual(["x"]);
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
