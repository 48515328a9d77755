/** Contract: vectors are stored with the value they were made from, and deleted with it, whoever deletes it. */
import { describe, expect, test } from "vitest";
import type {
  EntryId,
  EntryRef,
  EntryVectors,
  Fingerprint,
  MemoryStore,
  NewEntry,
  ReferenceVectors,
} from "../../engine/store/memory-store.ts";
import { type Namespace, namespaceOf } from "../../engine/store/namespace.ts";
import {
  ANA,
  BEN,
  fact,
  HOUR_MS,
  KEPT_EXPIRED_MS,
  letPass,
  type OpenRig,
  refTo,
  START,
  withRig,
} from "./rig.ts";

const SPACE = "small-model";
const OTHER_SPACE = "large-model";
const SESSION = namespaceOf("ana", "s");

export function describeVectors(open: OpenRig): void {
  describe("vectors", () => {
    test(
      "are read exactly as they were written, by space",
      withRig(open, async ({ store }) => {
        const made = await madeOf(store, fact("a", "1"), [0, -0, 1e-45, -3.4e38, 0.1, Math.PI], 3);
        const other = { ...made, dimensions: 1, vectors: Float32Array.of(7) };
        expect(await store.putVectors(ANA, SPACE, [made])).toEqual([made.id]);
        expect(await store.putVectors(ANA, OTHER_SPACE, [other])).toEqual([made.id]);
        expect(await kept(store, [made.id])).toEqual([made]);
        expect(await kept(store, [made.id], OTHER_SPACE)).toEqual([other]);
        expect(await kept(store, [made.id], "no such space")).toEqual([]);
        expect([...(await store.vectorSpaces())].sort()).toEqual([OTHER_SPACE, SPACE]);
      }),
    );

    test(
      "are copied by the store",
      withRig(open, async ({ store }) => {
        const made = await madeOf(store, fact("a", "1"));
        await store.putVectors(ANA, SPACE, [made]);
        made.vectors.fill(9);
        for (const read of await kept(store, [made.id])) read.vectors.fill(8);
        expect((await kept(store, [made.id]))[0]?.vectors).toEqual(Float32Array.of(1, 0));
      }),
    );

    test(
      "replace earlier ones",
      withRig(open, async ({ store }) => {
        const made = await madeOf(store, fact("a", "1"));
        await store.putVectors(ANA, SPACE, [made]);
        const again = { ...made, dimensions: 3, vectors: Float32Array.of(0, 1, 0) };
        await store.putVectors(ANA, SPACE, [again]);
        expect(await kept(store, [made.id])).toEqual([again]);
      }),
    );

    test(
      "do not change the change feed or the revision",
      withRig(open, async ({ store }) => {
        const made = await madeOf(store, fact("a", "1"));
        const before = [await store.changes({ namespace: ANA, since: 0 }), await store.revision(ANA)];
        await store.putVectors(ANA, SPACE, [made]);
        await store.deleteOtherVectors({ namespace: ANA, space: OTHER_SPACE, ids: [made.id] });
        expect([await store.changes({ namespace: ANA, since: 0 }), await store.revision(ANA)]).toEqual(
          before,
        );
      }),
    );

    test(
      "stay when the same value is written again, and are deleted when it is replaced",
      withRig(open, async ({ store, clock }) => {
        const made = await madeOf(store, fact("a", "1"));
        await store.putVectors(ANA, SPACE, [made]);
        clock.now += 1;
        await store.put(fact("a", "1", { tags: ["new"], expiresAt: START + HOUR_MS }));
        expect(await kept(store, [made.id])).toEqual([made]);
        const { entry } = await store.put(fact("a", "2"));
        expect(entry.id).toBe(made.id);
        await store.put(fact("a", "1"));
        expect(await kept(store, [made.id])).toEqual([]);
      }),
    );

    const endings: Readonly<
      Record<string, (store: MemoryStore, clock: { now: number }) => Promise<unknown>>
    > = {
      "a delete": (store) => store.delete(refTo("a")),
      "a filter": (store) => store.deleteWhere({ namespace: ANA, prefix: "a" }),
      "the sweep": (store, clock) => {
        return letPass(store, clock, HOUR_MS + KEPT_EXPIRED_MS);
      },
      "an entry in the place of the expired one": (store, clock) => {
        clock.now = START + HOUR_MS;
        return store.put(fact("a", "1"));
      },
    };
    for (const [ending, end] of Object.entries(endings)) {
      test(
        `are deleted with their entry by ${ending}, in every space`,
        withRig(open, async ({ store, clock }) => {
          const dying = await madeOf(store, fact("a", "1", { expiresAt: START + HOUR_MS }));
          const staying = await madeOf(store, fact("b", "1"));
          await store.putVectors(ANA, SPACE, [dying, staying]);
          await store.putVectors(ANA, OTHER_SPACE, [dying]);
          await end(store, clock);
          clock.now = START; // so that no entry is hidden as expired
          expect(await kept(store, [dying.id, staying.id])).toEqual([staying]);
          expect(await kept(store, [dying.id], OTHER_SPACE)).toEqual([]);
        }),
      );
    }

    test(
      "of an expired entry are hidden even before the sweep",
      withRig(open, async ({ store, clock }) => {
        const made = await madeOf(store, fact("a", "1", { expiresAt: START + HOUR_MS }));
        await store.putVectors(ANA, SPACE, [made]);
        clock.now = START + HOUR_MS;
        expect(await kept(store, [made.id])).toEqual([]);
        expect(await store.putVectors(ANA, SPACE, [made])).toEqual([]);
      }),
    );

    test(
      "are kept only for an existing entry with that value in that namespace",
      withRig(open, async ({ store }) => {
        const gone = await madeOf(store, fact("gone", "1"));
        await store.delete(refTo("gone"));
        const changed = await madeOf(store, fact("changed", "1"));
        await store.put(fact("changed", "2"));
        const bens = await madeOf(store, fact("bens", "1", { namespace: BEN }));
        const session = await madeOf(store, fact("session", "1", { namespace: SESSION }));
        const good = await madeOf(store, fact("good", "1"));
        const batch = [gone, changed, bens, session, good];
        expect(await store.putVectors(ANA, SPACE, batch)).toEqual([good.id]);
        for (const namespace of [ANA, BEN, SESSION]) {
          const ids = batch.map(({ id }) => id);
          const found = await store.vectors({ namespace, space: SPACE, ids });
          expect(found.map(({ id }) => id)).toEqual(namespace === ANA ? [good.id] : []);
        }
      }),
    );

    test(
      "are shown only to their own namespace",
      withRig(open, async ({ store }) => {
        const made = await madeOf(store, fact("a", "1"));
        await store.putVectors(ANA, SPACE, [made]);
        for (const namespace of [BEN, SESSION, namespaceOf("an"), namespaceOf("\ud800")]) {
          expect(await store.vectors({ namespace, space: SPACE, ids: [made.id] })).toEqual([]);
          await store.deleteOtherVectors({ namespace, space: OTHER_SPACE, ids: [made.id] });
        }
        expect(await kept(store, [made.id])).toEqual([made]);
      }),
    );

    test(
      "of other spaces are dropped on request, for the given entries",
      withRig(open, async ({ store }) => {
        const first = await madeOf(store, fact("a", "1"));
        const second = await madeOf(store, fact("b", "1"));
        for (const space of [SPACE, OTHER_SPACE]) await store.putVectors(ANA, space, [first, second]);
        await store.deleteOtherVectors({ namespace: ANA, space: OTHER_SPACE, ids: [first.id] });
        expect(await kept(store, [first.id, second.id])).toEqual([second]);
        expect(await kept(store, [first.id, second.id], OTHER_SPACE)).toHaveLength(2);
        await store.deleteOtherVectors({ namespace: ANA, space: OTHER_SPACE, ids: [second.id] });
        expect(await store.vectorSpaces()).toEqual([OTHER_SPACE]);
      }),
    );

    const bad: Readonly<Record<string, Partial<EntryVectors>>> = {
      "no dimensions": { dimensions: 0 },
      "half a dimension": { dimensions: 0.5 },
      "too many dimensions": { dimensions: 65_537 },
      "no vector": { vectors: new Float32Array(0) },
      "a part of a vector": { vectors: new Float32Array(3) },
    };
    for (const [name, flaw] of Object.entries(bad)) {
      test(
        `with ${name} are invalid_input, and nothing of their batch is stored`,
        withRig(open, async ({ store }) => {
          const made = await madeOf(store, fact("a", "1"));
          const batch = [made, { ...made, ...flaw }];
          await expect(store.putVectors(ANA, SPACE, batch)).rejects.toMatchObject({ code: "invalid_input" });
          expect(await kept(store, [made.id])).toEqual([]);
        }),
      );
    }

    test(
      "of a space with an empty or non-text name are invalid_input",
      withRig(open, async ({ store }) => {
        const made = await madeOf(store, fact("a", "1"));
        for (const space of ["", "\ud800", "x".repeat(2_049)]) {
          await expect(store.putVectors(ANA, space, [made])).rejects.toMatchObject({ code: "invalid_input" });
          await expect(kept(store, [made.id], space)).rejects.toMatchObject({ code: "invalid_input" });
        }
      }),
    );
  });
}

/** Vectors of the program's own texts. They belong to no subject and remain when all entries are deleted. */
export function describeReferenceVectors(open: OpenRig): void {
  describe("reference vectors", () => {
    test(
      "are read exactly as they were last written, by space",
      withRig(open, async ({ store }) => {
        const made = references([0, -0, 1e-45, -3.4e38, 0.1, Math.PI], 3);
        const other = references([7], 1, "00ff00ff00ff00ff");
        await store.putReferenceVectors(SPACE, references([1]));
        await store.putReferenceVectors(SPACE, made);
        await store.putReferenceVectors(OTHER_SPACE, other);
        expect(await store.referenceVectors(SPACE)).toEqual(made);
        expect(await store.referenceVectors(OTHER_SPACE)).toEqual(other);
        expect(await store.referenceVectors("no such space")).toBeUndefined();
      }),
    );

    test(
      "are copied by the store",
      withRig(open, async ({ store }) => {
        const made = references([1, 0]);
        await store.putReferenceVectors(SPACE, made);
        made.vectors.fill(9);
        (await store.referenceVectors(SPACE))?.vectors.fill(8);
        expect((await store.referenceVectors(SPACE))?.vectors).toEqual(Float32Array.of(1, 0));
      }),
    );

    test(
      "are kept for the last four spaces",
      withRig(open, async ({ store }) => {
        const spaces = ["one", "two", "three", "four", "one", "five"];
        for (const [at, space] of spaces.entries()) await store.putReferenceVectors(space, references([at]));
        expect(await store.referenceVectors("two")).toBeUndefined();
        for (const space of ["one", "three", "four", "five"])
          expect((await store.referenceVectors(space))?.vectors).toEqual(
            Float32Array.of(spaces.lastIndexOf(space)),
          );
      }),
    );

    test(
      "are not entries: they do not change feed or revision, and stay when all entries are deleted",
      withRig(open, async ({ store }) => {
        await store.put(fact("a", "1"));
        const seen = async () => [
          await store.changes({ namespace: ANA, since: 0 }),
          await store.revision(ANA),
          await store.namespaces(),
          await store.vectorSpaces(),
        ];
        const before = await seen();
        await store.putReferenceVectors(SPACE, references([1]));
        expect(await seen()).toEqual(before);
        await store.deleteWhere({ namespace: ANA, includeSessions: true });
        expect(await store.referenceVectors(SPACE)).toEqual(references([1]));
      }),
    );

    for (const [what, made] of Object.entries({
      "without a number": references([]),
      "of no whole number of vectors": references([1, 2, 3], 2),
      "without dimensions": references([1], 0),
    })) {
      test(
        `${what} are invalid_input, and nothing is stored`,
        withRig(open, async ({ store }) => {
          await expect(store.putReferenceVectors(SPACE, made)).rejects.toMatchObject({
            code: "invalid_input",
          });
          expect(await store.referenceVectors(SPACE)).toBeUndefined();
        }),
      );
    }

    test(
      "of a space with an empty or non-text name are invalid_input",
      withRig(open, async ({ store }) => {
        for (const space of ["", "\ud800", "x".repeat(2_049)]) {
          const refused = { code: "invalid_input" };
          await expect(store.putReferenceVectors(space, references([1]))).rejects.toMatchObject(refused);
          await expect(store.referenceVectors(space)).rejects.toMatchObject(refused);
        }
      }),
    );

    test(
      "are available to a reader and to the reopened store",
      withRig(open, async ({ store, openReader, openAgain }) => {
        await store.putReferenceVectors(SPACE, references([1, 2]));
        for (const reopen of [openReader, openAgain]) {
          const again = await reopen?.();
          if (again !== undefined) expect(await again.referenceVectors(SPACE)).toEqual(references([1, 2]));
          await again?.close();
        }
      }),
    );
  });
}

export function references(
  numbers: readonly number[],
  dimensions = 1,
  fingerprint = "0123456789abcdef",
): ReferenceVectors {
  // Fingerprints of texts have this form.
  return { fingerprint: fingerprint as Fingerprint, dimensions, vectors: Float32Array.from(numbers) };
}

/** Puts the entry and returns vectors for it, without storing the vectors. */
export async function madeOf(
  store: MemoryStore,
  entry: NewEntry,
  numbers: readonly number[] = [1, 0],
  dimensions = 2,
): Promise<EntryVectors> {
  const { id } = (await store.put(entry)).entry;
  const stored = await store.get(entry satisfies EntryRef);
  if (stored === undefined) throw new Error("the entry was just put");
  return { id, fingerprint: stored.fingerprint, dimensions, vectors: Float32Array.from(numbers) };
}

function kept(
  store: MemoryStore,
  ids: readonly EntryId[],
  space = SPACE,
  namespace: Namespace = ANA,
): Promise<readonly EntryVectors[]> {
  return store.vectors({ namespace, space, ids });
}
