/** Which facts a text selects to forget or get, for every possible key, and the answer if nothing matches. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { OpenMemory } from "../../app/compose.ts";
import { HelmdeckError } from "../../engine/errors.ts";
import { FACT_LIMITS, factEntry, keyToLookUp, validateFact } from "../../engine/facts/facts-policy.ts";
import { namespaceOf } from "../../engine/store/namespace.ts";
import {
  DAY_MS,
  inTurn,
  keysOf,
  NOW,
  openMemoryInProcess,
  openTestMemory,
  TestClock,
} from "./fixtures/memories.ts";

const RUN_AT = NOW / 1_000;

interface Named {
  readonly key: string;
  readonly category: string;
}

/**
 * Stores the facts in one write, both for the caller and for another subject. Includes keys that only an earlier version
 * accepted.
 */
async function store(memory: OpenMemory, facts: readonly Named[]): Promise<void> {
  const entries = ["main", "stranger"].flatMap((subject) =>
    facts.map(({ key, category }) => {
      const fact = { ...validateFact({ key: "k", value: "v", category }), key };
      return factEntry(namespaceOf(subject), fact, { expiresAt: NOW + DAY_MS });
    }),
  );
  await memory.store.putMany(entries);
}

/** Returns the forgotten keys and the outcome. Another subject's facts and the records of runs must always remain. */
async function forgetting(memory: OpenMemory, scope: string) {
  const [before, theirs, runs] = [
    await keysOf(memory),
    await keysOf(memory, "stranger"),
    await runsOf(memory),
  ];
  const answer = await memory.forget("main", { scope }).catch((error: unknown) => error);
  const after = new Set(await keysOf(memory));
  expect([await keysOf(memory, "stranger"), await runsOf(memory)]).toEqual([theirs, runs]);
  return { gone: before.filter((key) => !after.has(key)), answer };
}

async function runsOf(memory: OpenMemory): Promise<number> {
  return (await memory.forget("main", { scope: "packs", dryRun: true })).deleted;
}

const RUN_KEY = "pack_history/lint/00000000000000000001";
/** Keys that look like a scope, path or docid. */
const LOOKALIKES = [
  ..."all everything packs pipelines ALL pack: key: pack:a pipeline:a category:a key:a a b a/b b/a a/a".split(
    " ",
  ),
  ..."user_facts/a user_facts/a/b a#L1 a#L1-L5 a/b#L1-L5 user_facts/a#L3 helmdeck/user_facts/a.md".split(" "),
  ..."helmdeck/user_facts/a.md#L1-L5 helmdeck/a/b.md:1-2 helmdeck/my-memory.md helmdeck/ helmdeck/a".split(
    " ",
  ),
  ..."helmdeck/user_facts/a helmdeck/user_facts/../a.md helmdeck/helmdeck/a.md note:monday a:b : / //".split(
    " ",
  ),
  ...".. * % a% a_ \u00e9 e\u0301 \ufb01 fi a\u200Db undefined null".split(" "),
  ...["note: monday", RUN_KEY, `pack_history/${RUN_KEY}`, `mem_${"0".repeat(32)}`],
  "k".repeat(FACT_LIMITS.keyBytes),
];

const key = fc
  .oneof(
    { weight: 3, arbitrary: fc.constantFrom(...LOOKALIKES) },
    fc.string({ unit: "grapheme", maxLength: 20 }),
    fc.string({
      unit: fc.constantFrom("a", "b", "A", "/", ":", "#", "L", "1", "-", " ", ".", "%"),
      maxLength: 8,
    }),
  )
  .filter((text) => keyToLookUp(text) === text);
const fact = fc.record({ key, category: fc.constantFrom("user_facts", "a", "b", "helmdeck", "note") });
const facts = fc.uniqueArray(fact, { selector: (one) => one.key, minLength: 1, maxLength: 12 });

/** Follows the rules of the how-to, not the code. */
function isScopeOrPath(text: string): boolean {
  const isWord = ["all", "everything", "packs", "pipelines"].includes(text);
  return isWord || /^(key|category|pack|pipeline):/.test(text) || /^helmdeck\/.*\.md([#:].*)?$/.test(text);
}

/** Whether this text is a citation or docid of the fact, with or without lines. */
function hasDocid({ category, key: name }: Named, text: string): boolean {
  const docid = `${category}/${name}`;
  return (
    text === docid || (text.startsWith(`${docid}#L`) && /^#L\d+(-L?\d+)?$/.test(text.slice(docid.length)))
  );
}

describe("every key that can be stored", () => {
  test("is forgotten by key: and the key, without any other", async () => {
    await fc.assert(
      fc.asyncProperty(facts, fc.nat(), async (stored, index) => {
        const memory = await filled(stored);
        const { key: name } = stored[index % stored.length] ?? { key: "" };
        fc.pre(stored.every((one) => one.key !== `key:${name}`));
        const { gone, answer } = await forgetting(memory, `key:${name}`);
        expect(gone).toEqual([name]);
        expect(answer).toMatchObject({ deleted: 1, erased: "complete" });
      }),
    );
  });

  test("is forgotten by the key alone unless it is a scope, a path, or also another entry's docid", async () => {
    await fc.assert(
      fc.asyncProperty(facts, fc.nat(), async (stored, index) => {
        const { key: name } = stored[index % stored.length] ?? { key: "" };
        fc.pre(!isScopeOrPath(name));
        const others = stored.filter((one) => hasDocid(one, name));
        const { gone, answer } = await forgetting(await filled(stored), name);
        expect(gone).toEqual(others.length === 0 ? [name] : []);
        if (others.length === 0) return;
        expect(answer).toMatchObject({ name: "HelmdeckError", code: "invalid_input" });
        const { message } = answer as HelmdeckError; // an error, as checked above
        for (const spelling of [name, ...others.map((one) => one.key)])
          expect(message).toContain(`key:${spelling}`);
      }),
    );
  });

  test("is forgotten by its path and docid, also with line numbers, when these match nothing else", async () => {
    await fc.assert(
      fc.asyncProperty(
        facts,
        fc.nat(),
        fc.constantFrom("", "#L1-L5", "#L3"),
        async (stored, index, lines) => {
          const memory = await filled(stored);
          const [chosen = { key: "", category: "" }] = stored.slice(index % stored.length);
          const { path } = (await memory.getFact("main", { key: chosen.key })) ?? { path: "" };
          expect((await forgetting(memory, `${path}${lines}`)).gone).toEqual([chosen.key]);
          await store(memory, [chosen]);
          const docid = `${chosen.category}/${chosen.key}${lines}`;
          fc.pre(!isScopeOrPath(docid));
          const named = stored.filter((one) => one.key === docid || hasDocid(one, docid));
          const { gone } = await forgetting(memory, docid);
          expect(gone).toEqual(named.length === 1 ? [chosen.key] : []);
        },
      ),
    );
  });

  test("is read by the key alone, and by its path if that is not a key", async () => {
    await fc.assert(
      fc.asyncProperty(facts, async (stored) => {
        const memory = await filled(stored);
        await inTurn(stored, async ({ key: name }) => {
          const got = await memory.getFact("main", { key: name });
          expect(got?.key).toBe(name);
          const path = got?.path ?? "";
          fc.pre(!stored.some((one) => one.key === path));
          expect((await memory.getFact("main", { key: `${path}` }))?.key).toBe(name);
        });
      }),
    );
  });
});

async function filled(stored: readonly Named[]): Promise<OpenMemory> {
  const memory = await openMemoryInProcess();
  await memory.recordPackRun("main", { pack: "lint", outcome: "ok", at_unix: RUN_AT });
  await store(memory, stored);
  return memory;
}

// verifies P-forget-exact
test("for any text, a forget deletes what its dry run counted, and reports it", async () => {
  const scope = fc.oneof(
    key,
    fc.string({ unit: "binary" }),
    key.map((name) => `key:${name}`),
  );
  await fc.assert(
    fc.asyncProperty(facts, scope, async (stored, text) => {
      fc.pre(!/^(all|everything|packs|pipelines|pack:.*|pipeline:.*)$/s.test(text.trim()));
      const memory = await filled(stored);
      const dry = await memory.forget("main", { scope: text, dryRun: true }).catch((error: unknown) => error);
      const { gone, answer } = await forgetting(memory, text);
      if (answer instanceof HelmdeckError) {
        expect([gone, answer.code]).toEqual([[], "invalid_input"]);
        expect(dry).toMatchObject({ message: answer.message });
        return;
      }
      const { near, ...counted } = { near: undefined, ...Object(answer) };
      expect(counted).toMatchObject({
        deleted: gone.length,
        erased: gone.length > 0 ? "complete" : "nothing",
      });
      expect(dry).toMatchObject({ deleted: gone.length, dryRun: true, erased: "nothing" });
      const keys = await keysOf(memory);
      if (gone.length > 0) expect(near).toBeUndefined();
      else for (const one of near) expect(keys).toContain(one);
    }),
  );
});

describe("a run", () => {
  test("is forgotten by the key, the docid and the path that answers show", async () => {
    const memory = await openMemoryInProcess();
    const spellings = [
      async () => (await memory.defaults("main")).recent[0]?.key,
      async () => (await memory.myMemory("main")).categories[0]?.recentKeys[0],
      async () => (await memory.corpusPage("main", {})).chunks[0]?.docid,
      async () => (await memory.corpusPage("main", {})).chunks[0]?.path,
      async () => `${(await memory.corpusPage("main", {})).chunks[0]?.path}#L1-L4`,
    ];
    await inTurn(spellings, async (spelling) => {
      await memory.recordPackRun("main", { pack: "lint", outcome: "ok", at_unix: RUN_AT });
      expect(await memory.forget("main", { scope: (await spelling()) ?? "" })).toMatchObject({ deleted: 1 });
    });
  });

  test("is distinguished from a fact with its key by path and by key:", async () => {
    const memory = await openMemoryInProcess();
    await memory.recordPackRun("main", { pack: "lint", outcome: "ok", at_unix: RUN_AT });
    const { key: runKey = "" } = (await memory.defaults("main")).recent[0] ?? {};
    await memory.storeFact("main", { key: runKey, value: "forged" });
    await expect(memory.forget("main", { scope: runKey })).rejects.toMatchObject({
      message: expect.stringContaining(`give key:${runKey} or helmdeck/pack_history/${runKey}.md;`),
    });
    expect(await memory.forget("main", { scope: `key:${runKey}` })).toMatchObject({ deleted: 1 });
    expect(await memory.forget("main", { scope: `helmdeck/pack_history/${runKey}.md` })).toMatchObject({
      deleted: 1,
    });
  });
});

describe("similar keys", () => {
  test("are searched beyond the first page, ordered by similarity, and at most three are named", async () => {
    const memory = await openMemoryInProcess();
    const many = Array.from({ length: 2_500 }, (_, index) => ({ key: `k/${index}`, category: "user_facts" }));
    await store(memory, many);
    await store(
      memory,
      ["Deploy", "deploys", "x/deploy", "deploy/eu", "deploy/us"].map((name) => ({
        key: name,
        category: "c",
      })),
    );
    expect(await memory.forget("main", { scope: "deploy" })).toMatchObject({
      near: ["Deploy", "x/deploy", "deploys"],
    });
    expect(await memory.forget("main", { scope: "k/2499x" })).toMatchObject({ near: ["k/2499"] });
  });

  test("include no expired ones, and none of another subject", async () => {
    const clock = new TestClock();
    const memory = await openMemoryInProcess(clock.now);
    await memory.storeFact("main", { key: "deploy", value: "v", ttlSeconds: 3_600 });
    await memory.storeFact("stranger", { key: "Deploy", value: "v" });
    clock.pass(3_600_000);
    expect(await memory.forget("main", { scope: "DEPLOY" })).toEqual({
      scope: "DEPLOY",
      deleted: 0,
      dryRun: false,
      erased: "nothing",
      near: [],
    });
  });
});

// verifies P-quiet-long-work
test("other calls are served while a large memory is forgotten", async () => {
  const memory = await openTestMemory();
  const namespace = namespaceOf("main");
  const many = Array.from({ length: 4_000 }, (_, i) =>
    factEntry(namespace, validateFact({ key: `many/${i}`, value: `value ${i}` }), {
      expiresAt: NOW + DAY_MS,
    }),
  );
  await memory.store.putMany(many);
  await memory.storeFact("other", { key: "deploy", value: "We deploy through Konflux" });
  await memory.warm("other");
  let isForgotten = false;
  const going = memory.forget("main", { scope: "all" }).finally(() => {
    isForgotten = true;
  });
  const found = await memory.search("other", { query: "konflux" });
  expect(isForgotten).toBe(false);
  expect(found.results).toHaveLength(1);
  expect(await going).toMatchObject({ deleted: 4_000, erased: "complete" });
});
