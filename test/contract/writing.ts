/** Contract: putting and getting entries, byte-exact values, and refused input. */
import { describe, expect, test } from "vitest";
import { ENTRY_LIMITS } from "../../engine/store/entry-rules.ts";
import type { NewEntry } from "../../engine/store/memory-store.ts";
import { ANA, BEN, bytes, fact, HOUR_MS, type OpenRig, refTo, START, text, withRig } from "./rig.ts";

/** Names that often break stores: quotes, wildcards, separators, case, width, text direction, invisible characters. */
export const HOSTILE_KEYS: readonly string[] = [
  "100%",
  "a_b",
  "a-b",
  "'; DROP TABLE entries; --",
  '"quoted"',
  "back\\slash",
  "a:b",
  "a%3Ab",
  "../../etc/passwd",
  "/absolute",
  "trailing ",
  " leading",
  "tab\there",
  "new\nline",
  "nul\0inside",
  "\u202eright to left",
  "zero\u200bwidth",
  "e\u0301 combined",
  "\u00e9 composed",
  "日本語のキー",
  "😀",
  "\u{10ffff}",
  "__proto__",
  "constructor",
  "pack_history/x/00000000000000000001",
  "k".repeat(ENTRY_LIMITS.keyBytes),
];

export function describeWriting(open: OpenRig): void {
  describe("putting and getting", () => {
    test(
      "a get returns everything that was put",
      withRig(open, async ({ store }) => {
        const expiresAt = START + HOUR_MS;
        await store.put(fact("editor", "vim", { category: "tools", tags: ["b", "a"], expiresAt }));
        const entry = await store.get(refTo("editor"));
        expect(text(entry?.value)).toBe("vim");
        expect({ ...entry, value: undefined }).toEqual({
          id: expect.stringMatching(/^mem_[0-9a-f]{32}$/),
          revision: await store.revision(ANA),
          namespace: ANA,
          origin: "fact",
          key: "editor",
          value: undefined,
          category: "tools",
          tags: ["b", "a"],
          createdAt: START,
          updatedAt: START,
          expiresAt,
          fingerprint: expect.stringMatching(/^[0-9a-f]{16}$/),
        });
      }),
    );

    test(
      "the fingerprint is helmdeck's: the first 16 hex digits of sha256",
      withRig(open, async ({ store }) => {
        await store.put(fact("framework", "React over Vue"));
        expect((await store.get(refTo("framework")))?.fingerprint).toBe("6ef1c78715ae5385");
      }),
    );

    test(
      "an entry without an expiry has no expiry field",
      withRig(open, async ({ store }) => {
        const { entry } = await store.put(fact("editor", "vim"));
        expect("expiresAt" in entry).toBe(false);
        expect("expiresAt" in ((await store.get(refTo("editor"))) ?? {})).toBe(false);
      }),
    );

    test(
      "a key that was never put is a miss",
      withRig(open, async ({ store }) => {
        await store.put(fact("editor", "vim"));
        expect(await store.get(refTo("edito"))).toBeUndefined();
        expect(await store.get(refTo("Editor"))).toBeUndefined();
        expect(await store.get(refTo("editor "))).toBeUndefined();
      }),
    );

    test(
      "hostile keys, categories and tags are returned unchanged, and none is confused with another",
      withRig(open, async ({ store }) => {
        const entries = HOSTILE_KEYS.map((key, i) =>
          fact(key, `value ${i}`, { category: shorten(key), tags: [shorten(key)] }),
        );
        await store.putMany(entries);
        for (const [i, key] of HOSTILE_KEYS.entries()) {
          const entry = await store.get(refTo(key));
          expect([entry?.key, text(entry?.value)]).toEqual([key, `value ${i}`]);
          expect([entry?.category, entry?.tags]).toEqual([shorten(key), [shorten(key)]]);
        }
        expect(await store.countWhere({ namespace: ANA })).toBe(HOSTILE_KEYS.length);
      }),
    );

    test(
      "values may be empty, binary or large",
      withRig(open, async ({ store }) => {
        const everyByte = Uint8Array.from({ length: 256 }, (_, i) => i);
        const large = new Uint8Array(1_000_000).fill(7);
        await store.put(fact("empty", "", { value: new Uint8Array(0) }));
        await store.put(fact("bytes", "", { value: everyByte }));
        await store.put(fact("large", "", { value: large }));
        expect((await store.get(refTo("empty")))?.value).toHaveLength(0);
        expect(Buffer.from((await store.get(refTo("bytes")))?.value ?? []).equals(everyByte)).toBe(true);
        expect(Buffer.from((await store.get(refTo("large")))?.value ?? []).equals(large)).toBe(true);
      }),
    );

    test(
      "the store copies values: changing the bytes afterwards has no effect",
      withRig(open, async ({ store }) => {
        const value = bytes("vim");
        const tags = ["a"];
        const written = store.put(fact("editor", "", { value, tags }));
        await written;
        value.fill(0);
        tags.push("b");
        const first = await store.get(refTo("editor"));
        first?.value.fill(0);
        const second = await store.get(refTo("editor"));
        expect([text(second?.value), second?.tags]).toEqual(["vim", ["a"]]);
      }),
    );

    test(
      "the same key in another namespace or origin is another entry",
      withRig(open, async ({ store }) => {
        await store.put(fact("editor", "vim"));
        await store.put(fact("editor", "emacs", { namespace: BEN }));
        await store.put(fact("editor", "cached", { origin: "cache" }));
        expect(text((await store.get(refTo("editor")))?.value)).toBe("vim");
        expect(text((await store.get(refTo("editor", { namespace: BEN })))?.value)).toBe("emacs");
        expect(text((await store.get(refTo("editor", { origin: "cache" })))?.value)).toBe("cached");
        expect(await store.get(refTo("editor", { origin: "audit" }))).toBeUndefined();
      }),
    );
  });

  describe("putting again", () => {
    test(
      "keeps id and creation time, updates the rest, and reports what was replaced",
      withRig(open, async ({ store, clock }) => {
        const first = await store.put(
          fact("editor", "vim", { category: "tools", tags: ["x"], expiresAt: START + HOUR_MS }),
        );
        clock.now += 5_000;
        const second = await store.put(fact("editor", "emacs"));
        expect(first.replaced).toBeUndefined();
        expect(second.replaced).toEqual({ updatedAt: START, sameValue: false });
        const entry = await store.get(refTo("editor"));
        expect(entry).toMatchObject({ id: first.entry.id, createdAt: START, updatedAt: START + 5_000 });
        expect([text(entry?.value), entry?.category, entry?.tags]).toEqual(["emacs", "user_facts", []]);
        expect(entry?.expiresAt).toBeUndefined();
      }),
    );

    test(
      "the same value only refreshes, and the result says so",
      withRig(open, async ({ store, clock }) => {
        await store.put(fact("editor", "vim"));
        clock.now += 1;
        const again = await store.put(fact("editor", "vim", { tags: ["new"] }));
        expect(again.replaced).toEqual({ updatedAt: START, sameValue: true });
      }),
    );

    test(
      "an import may set both times, and an overwrite keeps an older creation time",
      withRig(open, async ({ store }) => {
        await store.put(fact("editor", "vim", { createdAt: 1_000, updatedAt: 2_000 }));
        expect(await store.get(refTo("editor"))).toMatchObject({ createdAt: 1_000, updatedAt: 2_000 });
        await store.put(fact("editor", "vim"));
        expect(await store.get(refTo("editor"))).toMatchObject({ createdAt: 1_000, updatedAt: START });
        await store.put(fact("editor", "vim", { createdAt: 500 }));
        expect(await store.get(refTo("editor"))).toMatchObject({ createdAt: 500 });
      }),
    );
  });

  describe("putting many", () => {
    test(
      "returns results in the given order, and the last value of a repeated key counts",
      withRig(open, async ({ store }) => {
        const results = await store.putMany([fact("b", "1"), fact("a", "2"), fact("b", "3")]);
        expect(results.map((result) => result.entry.key)).toEqual(["b", "a", "b"]);
        expect(results[2]?.replaced).toEqual({ updatedAt: START, sameValue: false });
        expect(text((await store.get(refTo("b")))?.value)).toBe("3");
        expect(await store.countWhere({ namespace: ANA })).toBe(2);
      }),
    );

    test(
      "of an empty batch does nothing",
      withRig(open, async ({ store }) => {
        expect(await store.putMany([])).toEqual([]);
      }),
    );

    test(
      "stores none if one is refused, whatever its position",
      withRig(open, async ({ store }) => {
        const bad = fact("", "no key");
        for (const batch of [
          [bad, fact("a", "1")],
          [fact("a", "1"), bad],
          [fact("a", "1"), bad, fact("b", "2")],
        ]) {
          await expect(store.putMany(batch)).rejects.toMatchObject({ code: "invalid_input" });
        }
        expect(await store.countWhere({ namespace: ANA })).toBe(0);
      }),
    );
  });

  describe("refusing what no store can keep", () => {
    // Some have the wrong type on purpose: JavaScript callers can pass any value.
    const refused: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
      "an empty key": { key: "" },
      "a key with half a surrogate pair": { key: "a\ud800" },
      "a key that is too long": { key: "k".repeat(ENTRY_LIMITS.keyBytes + 1) },
      "a key that is too long in UTF-8 only": { key: "é".repeat(ENTRY_LIMITS.keyBytes / 2 + 1) },
      "a key that is no text": { key: 7 },
      "an empty namespace": { namespace: "" },
      "a namespace with half a surrogate pair": { namespace: "\udc00" },
      "a namespace that is too long": { namespace: "n".repeat(ENTRY_LIMITS.namespaceBytes + 1) },
      "an unknown origin": { origin: "stranger" },
      "a category that is too long": { category: "c".repeat(ENTRY_LIMITS.categoryBytes + 1) },
      "a category with half a surrogate pair": { category: "\ud800" },
      "too many tags": { tags: Array.from({ length: ENTRY_LIMITS.tags + 1 }, (_, i) => `t${i}`) },
      "an empty tag": { tags: ["ok", ""] },
      "a tag with half a surrogate pair": { tags: ["\ud800"] },
      "a tag that is too long": { tags: ["t".repeat(ENTRY_LIMITS.tagBytes + 1)] },
      "tags that are no list": { tags: "a,b" },
      "a value that is too large": { value: new Uint8Array(ENTRY_LIMITS.valueBytes + 1) },
      "a value that is no bytes": { value: "text" },
      "an expiry that is no number": { expiresAt: Number.NaN },
      "an expiry that never comes": { expiresAt: Number.POSITIVE_INFINITY },
      "an expiry in parts of milliseconds": { expiresAt: START + 0.5 },
      "a negative expiry": { expiresAt: -1 },
      "an expiry past the last date": { expiresAt: 8_640_000_000_000_001 },
      "a creation that is no number": { createdAt: Number.NaN },
      "a negative update": { updatedAt: -1 },
    };
    for (const [what, fields] of Object.entries(refused)) {
      test(
        `${what}: invalid_input, the field is named, nothing is stored`,
        withRig(open, async ({ store }) => {
          const entry = { ...fact("editor", "vim"), ...fields } as unknown as NewEntry; // wrong types on purpose
          const [field] = Object.keys(fields);
          await expect(store.put(entry)).rejects.toMatchObject({ code: "invalid_input", details: { field } });
          expect(await store.namespaces()).toEqual([]);
        }),
      );
    }

    test(
      "the message never shows the value",
      withRig(open, async ({ store }) => {
        const secret = "canary-value";
        const error: unknown = await store.put(fact("", secret)).catch((e: unknown) => e);
        expect(String(error)).not.toContain(secret);
      }),
    );
  });
}

function shorten(key: string): string {
  return key.slice(0, 20);
}
