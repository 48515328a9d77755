/** ec.memory: the notes that a pack may write, their owner, and which ones outlive a session. */
import { describe, expect, test } from "vitest";
import { HelmdeckError } from "../../../engine/errors.ts";
import { namespaceOf } from "../../../engine/store/namespace.ts";
import type { Pack, PackContext, PackMemory, PackNoteOptions } from "../../../packs/engine/pack-contract.ts";
import { ANA, ask, failureOf, openPackRig, overridden, type PackRig, packThat } from "./rig.ts";

/** Runs the code for a caller, with the handler's memory. Returns its result. */
async function within<T>(
  { another }: PackRig,
  work: (memory: PackMemory, ec: PackContext) => Promise<T>,
  more: Partial<Pack> = {},
  caller = ANA,
): Promise<T> {
  const pack = packThat(async (ec) => ec.memory && work(ec.memory, ec), { memory: {}, ...more });
  return (await another([pack]).run(ask(pack.name, {}, { caller }))).output as T; // the output schema accepts everything
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

test("a stored note is recalled byte for byte, with the pack's defaults, until it expires", async () => {
  const packRig = await openPackRig([]);
  const value = "  two\r\nlines and é \u202e ";
  await within(packRig, (memory) => memory.store(" a/b", value, { tags: ["x"] }), {
    memory: { category: "solve" },
  });
  const { time } = packRig.clock;
  expect(await within(packRig, (memory) => memory.recall(" a/b"))).toEqual({
    ...{ key: " a/b", value, category: "solve", tags: ["x"], fingerprint: expect.any(String) },
    ...{ createdAt: time, updatedAt: time, expiresAt: time + 30 * DAY_MS },
  });
  await within(packRig, (memory) => memory.store("short", "v", { ttlSeconds: 1 }));
  await within(packRig, (memory) => memory.store("as the pack says", "v"), { memory: { ttlSeconds: 60 } });
  expect(await within(packRig, async (memory) => (await memory.list()).length)).toBe(3);
  packRig.clock.pass(1_000);
  expect(await within(packRig, (memory) => memory.recall("short"))).toBeUndefined();
  packRig.clock.pass(MINUTE_MS);
  expect(await within(packRig, async (memory) => (await memory.list()).map(({ key }) => key))).toEqual([
    " a/b",
  ]);
});

test("a list is newest first, and compares prefixes byte for byte", async () => {
  const packRig = await openPackRig([]);
  for (const key of ["a_b/1", "a_b/2", "aXb/3", "A_b/4"]) {
    await within(packRig, (memory) => memory.store(key, key));
    packRig.clock.pass(1);
  }
  const keys = (prefix?: string) =>
    within(packRig, async (memory) => (await memory.list(prefix)).map(({ key }) => key));
  expect(await keys()).toEqual(["A_b/4", "aXb/3", "a_b/2", "a_b/1"]);
  expect(await keys("a_b/")).toEqual(["a_b/2", "a_b/1"]);
  expect(await keys("")).toHaveLength(4);
});

test("a long list is complete, up to a thousand notes", async () => {
  const packRig = await openPackRig([]);
  const namespace = namespaceOf(ANA);
  const rows = Array.from({ length: 1_050 }, (_, i) => {
    const value = Buffer.from("v");
    return { namespace, origin: "pack", key: `n${i}`, value, category: "notes", tags: [] } as const;
  });
  await packRig.store.putMany(rows);
  expect(await within(packRig, async (memory) => (await memory.list()).length)).toBe(1_000);
});

test("deleting reports whether the note existed", async () => {
  const packRig = await openPackRig([]);
  await within(packRig, (memory) => memory.store("a", "v"));
  expect(await within(packRig, (memory) => memory.delete("ab"))).toBe(false);
  expect(await within(packRig, (memory) => memory.delete("a"))).toBe(true);
  expect(await within(packRig, (memory) => memory.delete("a"))).toBe(false);
});

test("the context is the newest fifty notes by category, without their values", async () => {
  const packRig = await openPackRig([]);
  for (let i = 0; i < 52; i += 1) {
    await within(packRig, (memory) => memory.store(`n${i}`, "s3cret", { category: i % 2 ? "odd" : "even" }));
    packRig.clock.pass(1);
  }
  const context = await within(packRig, (memory) => memory.context());
  expect(context.namespace).toBe("ana");
  expect(Object.keys(context.entries).sort()).toEqual(["even", "odd"]);
  expect(context.entries.odd?.map(({ key }) => key).slice(0, 2)).toEqual(["n51", "n49"]);
  expect(Object.values(context.entries).flat()).toHaveLength(50);
  expect(context.entries.odd?.[0]?.fingerprint).toMatch(/^[0-9a-f]{16}$/);
  expect(JSON.stringify(context)).not.toContain("s3cret");
});

describe("bounds:", () => {
  const LONG = "a".repeat(513);
  test.each<readonly [string, readonly [string, string, PackNoteOptions?], string]>([
    ["no key", ["", "v"], "key"],
    ["a long key", [LONG, "v"], "key"],
    ["a key of too many bytes", ["é".repeat(257), "v"], "key"],
    ["a control character", ["a\nb", "v"], "key"],
    ["a text direction switch", ["a\u202eb", "v"], "key"],
    ["a lone surrogate", ["a\ud800", "v"], "key"],
    ["a long value", ["a", "v".repeat(65_537)], "value"],
    ["a lone surrogate as value", ["a", "\ud800"], "value"],
    ["too many tags", ["a", "v", { tags: Array.from({ length: 33 }, (_, i) => `t${i}`) }], "tags"],
    ["a long tag", ["a", "v", { tags: ["t".repeat(65)] }], "tags"],
    ["a reserved category", ["a", "v", { category: "cache" }], "category"],
    ["an odd category", ["a", "v", { category: "A B" }], "category"],
    ...[0, -1, 0.5, 31_536_001, Number.NaN].map(
      (ttlSeconds) =>
        [`a time to live of ${ttlSeconds} s`, ["a", "v", { ttlSeconds }], "ttlSeconds"] as const,
    ),
  ])("%s is refused, and nothing is written", async (_, note, field) => {
    const packRig = await openPackRig([]);
    const failure = await failureOf(within(packRig, (memory) => memory.store(...note)));
    expect(failure).toMatchObject({ code: "invalid_input", details: { field } });
    expect(await packRig.entries("pack")).toEqual([]);
  });

  test.each(["", LONG, "a\nb", "\ud800"])(
    "the lookup of a key that no note can have is a miss (%j)",
    async (key) => {
      const packRig = await openPackRig([]);
      expect(await within(packRig, (memory) => memory.recall(key))).toBeUndefined();
      expect(await within(packRig, (memory) => memory.delete(key))).toBe(false);
    },
  );
});

describe("the owner of notes:", () => {
  test("notes belong to the caller, are shared by the operator's packs, and no other caller sees them", async () => {
    const packRig = await openPackRig([]);
    await within(packRig, (memory) => memory.store("swe.solve/x", "v"));
    expect(await within(packRig, (memory) => memory.recall("swe.solve/x"), { name: "notes" })).toBeDefined();
    expect(await within(packRig, (memory) => memory.list(), {}, "ben")).toEqual([]);
    expect(await within(packRig, (memory) => memory.list(), {}, "ana:x")).toEqual([]);
  });

  test("a note does not affect a fact with the same key", async () => {
    const packRig = await openPackRig([]);
    await packRig.memory.storeFact(ANA, { key: "a", value: "the fact" });
    expect(await within(packRig, (memory) => memory.recall("a"))).toBeUndefined();
    await within(packRig, (memory) => memory.store("a", "the note"));
    await within(packRig, (memory) => memory.delete("a"));
    expect(await packRig.memory.getFact(ANA, { key: "a" })).toMatchObject({ value: "the fact" });
  });

  const inSession: Partial<Pack> = { memory: {}, session: true };

  test("helmdeck's fault 11: the next run recalls a note in the caller's memory, but not a note of the session", async () => {
    const packRig = await openPackRig([]);
    const first = await within(
      packRig,
      async (memory, { callerMemory, session }) => {
        await memory.store("notes", "of the session");
        await callerMemory?.store("notes", "of the caller");
        return { session: session?.id ?? "", namespaces: [memory.namespace(), callerMemory?.namespace()] };
      },
      inSession,
    );
    expect(first.namespaces).toEqual([namespaceOf(ANA, first.session), namespaceOf(ANA)]);
    const recall = async (memory: PackMemory, { callerMemory }: PackContext) => [
      (await memory.recall("notes"))?.value,
      (await callerMemory?.recall("notes"))?.value,
    ];
    expect(await within(packRig, recall, inSession)).toEqual([undefined, "of the caller"]);
    const goingOn = packThat(async (ec) => ec.memory && recall(ec.memory, ec), inSession);
    const again = await packRig.another([goingOn]).run(ask("probe", {}, { sessionId: first.session }));
    expect(again.output).toEqual(["of the session", "of the caller"]);
  });

  test("outside a session both memories are the same", async () => {
    const packRig = await openPackRig([]);
    expect(await within(packRig, async (memory, { callerMemory }) => memory === callerMemory)).toBe(true);
  });

  test("helmdeck's fault 15: no caller's name gives access to another caller's session", async () => {
    const packRig = await openPackRig([]);
    const sessions = overridden(packRig.sessions, {
      acquire: async () => ({ id: "s", folder: "/", run: () => Promise.reject(new Error("not here")) }),
      release: async () => {},
    });
    const seen = packThat(async (ec) => (await ec.memory?.list())?.map(({ value }) => value), inSession);
    const noting = packThat(async (ec) => ec.memory?.store("a", `of ${ec.caller}`), inSession);
    await packRig.another([noting], { sessions }).run(ask("probe", {}, { caller: "ana" }));
    for (const caller of ["ana:s", "ana%3As", "ana:", ":ana", "an"]) {
      expect(await within(packRig, (memory) => memory.list(), {}, caller)).toEqual([]);
      expect((await packRig.another([seen], { sessions }).run(ask("probe", {}, { caller }))).output).toEqual(
        [],
      );
    }
    expect((await packRig.another([seen], { sessions }).run(ask("probe"))).output).toEqual(["of ana"]);
  });
});

describe("when memory fails,", () => {
  test("the handler gets the error and may continue without memory", async () => {
    const { another, store } = await openPackRig([]);
    const locked = overridden(store, {
      get: async () => {
        throw new HelmdeckError("store_locked", "Locked.");
      },
    });
    const runOf = (run: Pack["run"]) =>
      another([packThat(run, { memory: {} })], { store: locked }).run(ask("probe"));
    expect((await failureOf(runOf(async (ec) => ec.memory?.recall("a")))).code).toBe("store_locked");
    const careful = runOf(async (ec) => ec.memory?.recall("a").catch((error: HelmdeckError) => error.code));
    expect((await careful).output).toBe("store_locked");
  });

  test("recalling a note that cannot be decrypted throws, and a list and the context leave it out", async () => {
    const packRig = await openPackRig([]);
    await within(packRig, (memory) => memory.store("a", "v"));
    await within(packRig, (memory) => memory.store("b", "w"));
    await packRig.damage({ namespace: namespaceOf(ANA), origin: "pack", key: "a" });
    const seen = await within(packRig, async (memory) => [
      await memory.list(),
      (await memory.context()).entries.notes,
    ]);
    expect(seen).toMatchObject([[{ key: "b", value: "w" }], [{ key: "b" }]]);
    const failure = await failureOf(within(packRig, (memory) => memory.recall("a")));
    expect(failure.code).toBe("entry_unreadable");
  });
});
