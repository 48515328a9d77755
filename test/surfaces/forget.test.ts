/** The scopes and answers of `forget`, the same on every surface. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { OpenMemory } from "../../app/compose.ts";
import { openMemory } from "../../app/open-memory.ts";
import { factEntry, validateFact } from "../../engine/facts/facts-policy.ts";
import { namespaceOf } from "../../engine/store/namespace.ts";
import { DAY_MS, inTurn } from "../app/fixtures/memories.ts";
import { FORGET_SURFACES, type Forget, type ForgetSurface } from "./forget-surfaces.ts";

// verifies P-forget-exact
describe.each(FORGET_SURFACES)("forget by $name", ({ caller, driver, open }: ForgetSurface) => {
  let folder: string;
  let memory: OpenMemory;
  let forget: Forget;
  let close: (() => Promise<void>) | undefined;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "helmdeck-surfaces-"));
    const place = {
      databasePath: join(folder, "memory", "memory.sqlite"),
      keyPath: join(folder, "memory.key"),
    };
    memory = await openMemory({ ...place, env: {}, driver, sweepEveryMs: 0 });
    ({ forget, close } = await open({ memory, place }));
  });
  afterAll(async () => {
    await close?.();
    await memory.close();
    await rm(folder, { recursive: true, force: true });
  });
  afterEach(async () => {
    await memory.forget(caller, { scope: "everything" });
  });

  async function stored(...facts: readonly (string | readonly [category: string, key: string])[]) {
    const entries = facts.map((fact) => {
      const [category, key] = typeof fact === "string" ? ["user_facts", fact] : fact;
      const checked = validateFact({ category, key, value: `v of ${key}` });
      return factEntry(namespaceOf(caller), checked, { expiresAt: Date.now() + DAY_MS });
    });
    await memory.store.putMany(entries);
  }

  async function left(): Promise<readonly string[]> {
    return (await memory.listFacts(caller, {})).facts.map(({ key }) => key).sort();
  }

  /** Checks the text that a person or model reads: that facts were forgotten, and how many. */
  function expectForgotten(outcome: Awaited<ReturnType<Forget>>, dryRun = false): void {
    expect(outcome.refusal).toBeUndefined();
    if (outcome.data)
      expect(outcome.data).toMatchObject({ deleted: 1, erased: dryRun ? "nothing" : "complete" });
    else
      expect(outcome.words).toMatch(
        dryRun
          ? /would delete the (fact|record|only record) |1 entry would be forgotten/
          : /(Deleted|Forgot) (the fact|the record|1 record|1 entry|everything: 1 entry)/,
      );
  }

  test.each([
    ["the key that list shows", "deploy/preference"],
    ["the key with white space around it", "  deploy/preference\t"],
    ["key: and the key", "key:deploy/preference"],
    ["its path", "helmdeck/user_facts/deploy/preference.md"],
    ["its citation", "helmdeck/user_facts/deploy/preference.md#L1-L5"],
    ["its citation of one line", "helmdeck/user_facts/deploy/preference.md#L3"],
    ["its path with the lines as a search prints them", "helmdeck/user_facts/deploy/preference.md:3-5"],
    ["its docid", "user_facts/deploy/preference"],
    ["its docid with lines", "user_facts/deploy/preference#L1-L5"],
  ])("forgets by %s, and only that fact", async (_, scope) => {
    await stored("deploy/preference", "deploy/preference/eu", "deploy", "preference", "Deploy/Preference");
    expectForgotten(await forget(scope, true), true);
    expect(await left()).toHaveLength(5);
    expectForgotten(await forget(scope));
    expect(await left()).toEqual(["Deploy/Preference", "deploy", "deploy/preference/eu", "preference"]);
  });

  test("accepts a key with a colon that is not a scope", async () => {
    await stored("note:monday", "note:monday/more", "note");
    expectForgotten(await forget("note:monday"));
    expect(await left()).toEqual(["note", "note:monday/more"]);
  });

  test("forgets a fact with a scope's name by key:, and keeps the others", async () => {
    await stored("all", "everything", "deploy");
    expectForgotten(await forget("key:all"));
    expectForgotten(await forget("key:everything"));
    expect(await left()).toEqual(["deploy"]);
  });

  test.each(["everything", "key:deploy"])(
    "says after %s whether the name of the memory remains",
    async (scope) => {
      await stored("deploy");
      const outcome = await forget(scope);
      expectForgotten(outcome);
      const remains = scope === "everything";
      expect(/name_?stays|name of this memory/i.test(JSON.stringify(outcome))).toBe(remains);
    },
  );

  test.each(["tools", "tool:exec"])(
    "forgets records by %s, but no pack's records and no fact of that name",
    async (scope) => {
      const at_unix = Math.floor(Date.now() / 1_000);
      await stored("tools", "tool:exec");
      await memory.recordPackRun(caller, { pack: "exec", outcome: "ok", at_unix });
      await memory.recordToolCall(caller, { tool: "exec", outcome: "ok", at_unix });
      expectForgotten(await forget(scope, true), true);
      expectForgotten(await forget(scope));
      expect((await forget(scope)).refusal).toBeUndefined();
      expect(await left()).toEqual(["tool:exec", "tools"]);
      expect(await memory.status(caller)).toMatchObject({ subject: { auditRows: 1 } });
    },
  );

  test.each([false, true])(
    "refuses a name of two facts, and shows how to name each (dry run: %s)",
    async (dry) => {
      await stored("deploy/preference", ["deploy", "preference"]);
      const { refusal } = await forget("deploy/preference", dry);
      expect(refusal).toMatch(/invalid_input.*matches 2 entries/);
      for (const spelling of ["key:deploy/preference", "key:preference", "helmdeck/deploy/preference.md"])
        expect(refusal).toContain(spelling);
      expect(await left()).toEqual(["deploy/preference", "preference"]);
      expectForgotten(await forget("helmdeck/deploy/preference.md"));
      expect(await left()).toEqual(["deploy/preference"]);
      expectForgotten(await forget("deploy/preference"));
    },
  );

  test.each([false, true])(
    "refuses key: and a name if a fact is called that as a whole, too (dry run: %s)",
    async (dry) => {
      await stored("all", "key:all");
      const { refusal } = await forget("key:all", dry);
      expect(refusal).toMatch(/invalid_input.*matches 2 entries/);
      for (const spelling of ["helmdeck/CATEGORY/all.md with its category", "key:key:all"])
        expect(refusal).toContain(spelling);
      expect(await left()).toEqual(["all", "key:all"]);
      expectForgotten(await forget("key:key:all"));
      expect(await left()).toEqual(["all"]);
      expectForgotten(await forget("key:all"));
    },
  );

  test.each([
    ["deploy", "deploy/preference"],
    ["key:deploy/Preference", "deploy/preference"],
    ["deploy/prefrence", "deploy/preference"],
    ["preferences/deploy/preference", "deploy/preference"],
    ["helmdeck/work/deploy/preference.md", "deploy/preference"],
    ["pack:standup", "pack:standup"],
    ["ALL", "all"],
  ])("reports for %s that nothing was forgotten, and suggests a similar name", async (scope, near) => {
    await stored(near, "coffee");
    await memory.storeFact("stranger", { key: `${near}s`, value: "v" });
    for (const dryRun of [true, false]) {
      const { data, words, refusal } = await forget(scope, dryRun);
      expect(refusal).toBeUndefined();
      if (data) {
        expect(data).toMatchObject({ scope, deleted: 0, erased: "nothing", near: [near] });
        expect(data.dryRun ?? data.dry_run).toBe(dryRun);
      } else {
        expect(words).toMatch(dryRun ? /nothing would be/i : /nothing was/i);
        expect(words).not.toContain(`${near}s`);
      }
      if (words) expect(words).toContain(near);
      expect(JSON.stringify([data, words])).not.toMatch(/complete|coffee|v of/);
    }
    expect(await left()).toEqual([near, "coffee"].sort());
  });

  test("refuses a scope that cannot exist, and deletes nothing", async () => {
    await stored("a", "b");
    const scopes = ["", " ", "key:", "category:", "category:cache", "pack:", "a\nb", "helmdeck/my-memory.md"];
    await inTurn(scopes, async (scope) => {
      expect((await forget(scope)).refusal, scope).toContain("invalid_input");
    });
    expect(await left()).toEqual(["a", "b"]);
  });
});
