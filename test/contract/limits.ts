/** What a subject may store in place of the others. */
import { describe, expect, test } from "vitest";
import { type Namespace, namespaceOf, type Subject } from "../../engine/store/namespace.ts";
import { ANA, BEN, fact, type OpenRig, refTo, withRig } from "./rig.ts";

const CID = namespaceOf("cid:x");

export function describeLimits(open: OpenRig): void {
  describe("limits of one subject", () => {
    const limits = new Map<Subject, { readonly entries?: number; readonly bytes?: number }>();
    const quota = { entries: 3, own: () => limits };
    const keys = ["a", "b", "c", "d", "e"];
    const put = (key: string, namespace: Namespace) => fact(key, "x", { namespace });

    // verifies P-alone-quota
    test(
      "hold for it alone, above and below what all may store, and from the next write on",
      withRig(
        open,
        async ({ store }) => {
          limits.clear();
          limits.set("ana", { entries: 1 }).set("cid:x", { entries: 5 });
          const stored = async (namespace: Namespace) => {
            const tried = keys.map((key) => store.put(put(key, namespace)));
            const refused = (await Promise.allSettled(tried)).filter(({ status }) => status === "rejected");
            for (const one of refused)
              expect(one).toMatchObject({
                reason: { code: "quota_exceeded", message: expect.stringContaining("this caller's limits") },
              });
            return store.countWhere({ namespace });
          };
          expect([await stored(ANA), await stored(BEN), await stored(CID)]).toEqual([1, 3, 5]);
          limits.set("ana", { entries: 2 }).delete("cid:x");
          expect([await stored(ANA), await stored(BEN)]).toEqual([2, 3]);
          await expect(store.put(put("f", CID))).rejects.toMatchObject({ details: { limit: "3 entries" } });
        },
        { quota },
      ),
    );

    // verifies P-history-bounded
    test(
      "below what is stored refuse growth, and delete nothing, not even a former value",
      withRig(
        open,
        async ({ store }) => {
          limits.clear();
          for (const letter of ["u", "v", "w"]) await store.put(fact("a", letter.repeat(300)));
          await store.put(fact("b", "x".repeat(300)));
          const held = await store.usage(ANA);
          limits.set("ana", { bytes: 400 });
          for (const grows of [fact("a", "y".repeat(400)), fact("new", "y")])
            await expect(store.put(grows)).rejects.toMatchObject({
              details: { limit: "400 bytes of values" },
            });
          await expect(store.put(fact("new", "y"), { supersedes: ["b"] })).rejects.toMatchObject({
            code: "quota_exceeded",
          });
          await store.put(fact("b", "x".repeat(300))); // renewed
          expect(await store.usage(ANA)).toEqual(held);
          expect(await store.history(refTo("a"))).toHaveLength(2);
          await store.put(fact("b", "short")); // its former value takes the place of the oldest one
          expect((await store.usage(ANA)).bytes).toBeLessThanOrEqual(held.bytes);
          expect([...(await store.history(refTo("a"))), ...(await store.history(refTo("b")))]).toHaveLength(
            2,
          );
        },
        { quota: { own: () => limits } },
      ),
    );
  });
}
