/** Habits learned from runs: usual inputs, packs and pipelines used, findings. The order of rows does not matter. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { auditEntry, checkAuditRow } from "../../../engine/audit/audit-entries.ts";
import { LEARNABLE_FIELDS } from "../../../engine/audit/learnable.ts";
import {
  DEFAULTS_LIMITS,
  defaultsOf,
  learnDefaults,
  type RecordedRun,
} from "../../../engine/projections/my-defaults.ts";
import type { MemoryStore, Origin } from "../../../engine/store/memory-store.ts";
import { namespaceOf } from "../../../engine/store/namespace.ts";
import { openStoreInMemory } from "../../../engine/store/sqlite/open-in-memory.ts";

const NOW = Date.parse("2026-11-20T12:00:00Z");
const NOW_SECONDS = NOW / 1_000;
const DAY = 86_400;
const alice = namespaceOf("alice");

interface RunOptions {
  readonly daysAgo?: number;
  readonly outcome?: string;
  readonly inputs?: Readonly<Record<string, string>>;
  readonly findings?: readonly { readonly code: string; readonly severity: string }[];
}

let runs = 0;

function packRun(
  pack: string,
  { daysAgo = 0, outcome = "ok", inputs, findings }: RunOptions = {},
): RecordedRun {
  runs += 1;
  const row = {
    pack,
    outcome,
    at_unix: NOW_SECONDS - daysAgo * DAY,
    ...(inputs && { learn_inputs: inputs }),
    ...(findings && { findings }),
  };
  return { kind: "pack", row, key: `pack_history/${pack}/${String(runs).padStart(20, "0")}` };
}

function pipelineRun(
  pipeline: string,
  { daysAgo = 0, outcome = "succeeded", inputs }: RunOptions = {},
): RecordedRun {
  runs += 1;
  const row = {
    pipeline,
    run_id: `run_${runs}`,
    outcome,
    at_unix: NOW_SECONDS - daysAgo * DAY,
    ...(inputs && { learn_inputs: inputs }),
  };
  return { kind: "pipeline", row, key: `pipeline_history/${pipeline}/${String(runs).padStart(20, "0")}` };
}

const used = (theme: string, daysAgo: number) => packRun("slides", { daysAgo, inputs: { theme } });

function usualTheme(...given: readonly RecordedRun[]): string | undefined {
  return defaultsOf(given, NOW).packs[0]?.common_inputs?.theme;
}

describe("the usual value of an input", () => {
  test("is the most frequent one", () => {
    expect(usualTheme(used("dark", 1), used("light", 1), used("dark", 1))).toBe("dark");
  });

  test("follows a new habit: three uses this week outweigh five of three weeks ago", () => {
    const old = Array.from({ length: 5 }, () => used("light", 21));
    expect(usualTheme(...old)).toBe("light");
    expect(usualTheme(...old, used("dark", 1), used("dark", 0), used("dark", 2))).toBe("dark");
  });

  test("counts half after a week and a quarter after two", () => {
    expect(usualTheme(used("b", 0), used("a", 7), used("a", 7))).toBe("a"); // 1 against 2 × 0.5: equal
    expect(usualTheme(used("b", 0), used("a", 7), used("a", 7.01))).toBe("b");
    expect(usualTheme(used("b", 0), ...[1, 2, 3, 4, 5].map(() => used("a", 14)))).toBe("a"); // 5 × 0.25 against 1
    expect(usualTheme(used("b", 0), ...[1, 2, 3].map(() => used("a", 14)))).toBe("b");
  });

  test("is the smallest for equal weights", () => {
    expect(usualTheme(used("beta", 3), used("alpha", 3), used("gamma", 3))).toBe("alpha");
  });

  test("gives a run dated in the future the weight of a current one", () => {
    expect(usualTheme(used("future", -300), used("dark", 0), used("dark", 0))).toBe("dark");
  });

  test("is independent for each field, and limited to learnable ones", () => {
    const { packs } = defaultsOf(
      [packRun("write", { inputs: { persona: "editor", model: "m1", secret: "hunter2" } })],
      NOW,
    );
    expect(packs).toEqual([
      {
        id: "write",
        calls: 1,
        last_used_unix: NOW_SECONDS,
        common_inputs: { persona: "editor", model: "m1" },
      },
    ]);
  });

  test("is escaped", () => {
    const learnt = defaultsOf([used("dark\u202e", 0)], NOW);
    expect(learnt.packs[0]?.common_inputs).toEqual({ theme: "dark[U+202E]" });
    expect(learnt.recent[0]?.learn_inputs).toEqual({ theme: "dark[U+202E]" });
  });
});

describe("packs and pipelines", () => {
  test("are the successful ones, by count, then last use, then name", () => {
    const learnt = defaultsOf(
      [
        packRun("b", { daysAgo: 2 }),
        packRun("a", { daysAgo: 2 }),
        packRun("late", { daysAgo: 1 }),
        packRun("twice", { daysAgo: 9 }),
        packRun("twice", { daysAgo: 8 }),
        packRun("broken", { outcome: "invalid_input" }),
        pipelineRun("nightly"),
        pipelineRun("nightly", { outcome: "failed" }),
        pipelineRun("never", { outcome: "cancelled" }),
      ],
      NOW,
    );
    expect(learnt.packs.map(({ id, calls }) => [id, calls])).toEqual([
      ["twice", 2],
      ["late", 1],
      ["a", 1],
      ["b", 1],
    ]);
    expect(learnt.pipelines).toEqual([{ id: "nightly", runs: 1, last_used_unix: NOW_SECONDS }]);
    expect(learnt.recent).toHaveLength(9);
  });

  test("are at most twelve, and a pack and a pipeline with the same name are separate", () => {
    const many = Array.from({ length: 20 }, (_, i) => [packRun(`p${i}`), pipelineRun(`p${i}`)]).flat();
    const learnt = defaultsOf(many, NOW);
    expect([learnt.packs.length, learnt.pipelines.length]).toEqual([12, 12]);
  });

  test("named like properties of Object are ordinary packs", () => {
    const names = ["__proto__", "constructor", "toString"];
    const learnt = defaultsOf(
      names.map((name) => packRun(name, { inputs: { theme: name } })),
      NOW,
    );
    expect(learnt.packs.map(({ id, common_inputs }) => [id, common_inputs?.theme])).toEqual(
      names.map((name) => [name, name]),
    );
  });
});

describe("common findings", () => {
  test("are counted by code over all runs of packs, with their latest place", () => {
    const learnt = defaultsOf(
      [
        packRun("lint", { daysAgo: 3, findings: [{ code: "W1", severity: "warning" }] }),
        packRun("check", {
          daysAgo: 1,
          outcome: "pack_failed",
          findings: [
            { code: "W1", severity: "error" },
            { code: "E9", severity: "error" },
          ],
        }),
      ],
      NOW,
    );
    expect(learnt.common_findings).toEqual([
      {
        code: "W1",
        pack: "check",
        severity: "error",
        occurrence_count: 2,
        last_seen_unix: NOW_SECONDS - DAY,
      },
      {
        code: "E9",
        pack: "check",
        severity: "error",
        occurrence_count: 1,
        last_seen_unix: NOW_SECONDS - DAY,
      },
    ]);
  });

  test("are at most twenty, and absent if there are none", () => {
    const findings = Array.from({ length: 30 }, (_, i) => ({ code: `C${i}`, severity: "warning" }));
    expect(defaultsOf([packRun("lint", { findings })], NOW).common_findings).toHaveLength(20);
    expect(defaultsOf([packRun("lint")], NOW)).not.toHaveProperty("common_findings");
  });
});

describe("the recent runs", () => {
  test("are the newest 200, newest first, whatever their outcome", () => {
    const many = Array.from({ length: 950 }, (_, i) => packRun("lint", { daysAgo: (i * 7919) % 950 }));
    const { recent } = defaultsOf(many, NOW);
    expect(recent.map(({ at_unix }) => at_unix)).toEqual(
      Array.from({ length: 200 }, (_, day) => NOW_SECONDS - day * DAY),
    );
  });

  test("are an empty list if there are none", () => {
    expect(defaultsOf([], NOW)).toEqual({
      packs: [],
      pipelines: [],
      recent: [],
      note: "No runs have been recorded in the last 30 days.",
    });
  });
});

const anyRun: fc.Arbitrary<RecordedRun> = fc
  .record({
    isPack: fc.boolean(),
    name: fc.constantFrom("a", "b", "c"),
    daysAgo: fc.integer({ min: -1, max: 40 }),
    fine: fc.boolean(),
    inputs: fc.dictionary(fc.constantFrom(...LEARNABLE_FIELDS), fc.constantFrom("x", "y", "z"), {
      maxKeys: 3,
    }),
    codes: fc.array(fc.constantFrom("E1", "E2"), { maxLength: 2 }),
  })
  .map(({ isPack, name, daysAgo, fine, inputs, codes }) => {
    if (!isPack) return pipelineRun(name, { daysAgo, inputs, outcome: fine ? "succeeded" : "failed" });
    const findings = codes.map((code) => ({ code, severity: `${name}-severity` }));
    return packRun(name, { daysAgo, inputs, findings, outcome: fine ? "ok" : "internal" });
  });

describe("for any runs", () => {
  const someRuns = fc.array(anyRun, { maxLength: 60 });

  test("the result does not depend on their order", () => {
    const inTwoOrders = someRuns.chain((all) =>
      fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
    );
    fc.assert(
      fc.property(inTwoOrders, ([one, other]) => {
        expect(defaultsOf(other, NOW)).toEqual(defaultsOf(one, NOW));
      }),
    );
  });

  test("the usual value was used in a successful run of that pack or pipeline", () => {
    fc.assert(
      fc.property(someRuns, (all) => {
        const { packs, pipelines } = defaultsOf(all, NOW);
        for (const { id, calls, common_inputs = {} } of packs) {
          const own = all.filter(
            ({ kind, row }) => kind === "pack" && row.pack === id && row.outcome === "ok",
          );
          expect(own).toHaveLength(calls);
          for (const [field, value] of Object.entries(common_inputs))
            expect(own.some(({ row }) => row.learn_inputs?.[field] === value)).toBe(true);
        }
        const fine = all.filter(({ kind, row }) => kind === "pipeline" && row.outcome === "succeeded");
        expect(pipelines.reduce((sum, { runs: count }) => sum + count, 0)).toBe(fine.length);
      }),
    );
  });

  test("a usual value stays the usual one when it is used again", () => {
    fc.assert(
      fc.property(someRuns, (all) => {
        const usual = defaultsOf(all, NOW).packs[0];
        const theme = usual?.common_inputs?.theme;
        if (usual === undefined || theme === undefined) return;
        const more = defaultsOf([...all, packRun(usual.id, { inputs: { theme } })], NOW);
        expect(more.packs[0]?.common_inputs?.theme).toBe(theme);
      }),
    );
  });
});

async function storeWith(given: readonly RecordedRun[]): Promise<MemoryStore> {
  const store = await openStoreInMemory({ now: () => NOW });
  await store.putMany(
    given.map(({ kind, row }, index) =>
      auditEntry(alice, checkAuditRow(kind, row), NOW, {
        unixNs: BigInt(row.at_unix) * 10n ** 9n + BigInt(index),
      }),
    ),
  );
  return store;
}

describe("learning from a store", () => {
  test("reads all pages of one caller's runs", async () => {
    const store = await storeWith(Array.from({ length: 1_203 }, () => packRun("lint")));
    await store.put(
      auditEntry(namespaceOf("bob"), checkAuditRow("pack", { pack: "bobs", outcome: "ok", at_unix: 1 }), NOW),
    );
    const learnt = await learnDefaults(store, alice, NOW);
    expect(learnt.packs).toMatchObject([{ id: "lint", calls: 1_203 }]);
    expect(learnt.recent).toHaveLength(200);
    expect(learnt).not.toHaveProperty("note");
  });

  test("ignores calls of other tools, however many there are", async () => {
    const store = await storeWith([packRun("lint")]);
    const call = checkAuditRow("tool", { tool: "exec", outcome: "ok", at_unix: NOW_SECONDS });
    await store.putMany(
      Array.from({ length: DEFAULTS_LIMITS.rows }, (_, i) =>
        auditEntry(alice, call, NOW, { unixNs: BigInt(i), updatedAt: NOW + 1 + i }),
      ),
    );
    expect(await learnDefaults(store, alice, NOW)).toMatchObject({
      packs: [{ id: "lint", calls: 1 }],
      recent: [{ id: "lint" }],
    });
  });

  test("stops at a limit, keeps the newest, and reports that", async () => {
    const most = DEFAULTS_LIMITS.rows;
    const store = await storeWith([]);
    const row = (pack: string) => checkAuditRow("pack", { pack, outcome: "ok", at_unix: NOW_SECONDS });
    await store.putMany(
      Array.from({ length: most + 5 }, (_, i) =>
        auditEntry(alice, row(i < 5 ? "oldest" : "lint"), NOW, { unixNs: BigInt(i), updatedAt: NOW + i }),
      ),
    );
    const learnt = await learnDefaults(store, alice, NOW);
    expect(learnt.packs).toMatchObject([{ id: "lint", calls: most }]);
    expect(learnt.note).toBe(`Learnt from the newest ${most} runs; older ones are left out.`);
  });

  test.each<Origin>(["fact", "pack", "cache"])(
    "fault 7: an entry of origin %s with the key and category of a run has no effect",
    async (origin) => {
      const store = await storeWith([]);
      const { key, value } = auditEntry(
        alice,
        checkAuditRow("pack", { pack: "forged", outcome: "ok", at_unix: NOW_SECONDS }),
        NOW,
      );
      for (const category of ["pack_history", "user_facts"])
        await store.put({ namespace: alice, origin, key: `${key}${category}`, value, category, tags: [] });
      expect(await learnDefaults(store, alice, NOW)).toMatchObject({ packs: [], recent: [] });
    },
  );

  test("skips rows of an unknown kind and counts unreadable ones", async () => {
    const store = await storeWith([packRun("lint")]);
    const audit = { namespace: alice, origin: "audit", tags: [] } as const;
    await store.put({
      ...audit,
      key: "plan_history/x/1",
      category: "plan_history",
      value: Buffer.from("{}"),
    });
    await store.put({ ...audit, key: "pack_history/x/1", category: "pack_history", value: Buffer.from("{") });
    const unreadable = [{ id: "mem_0", origin: "audit", key: "k" }] as never; // how a store reports a damaged row
    const reader = {
      list: async (query: Parameters<MemoryStore["list"]>[0]) => ({
        ...(await store.list(query)),
        unreadable,
      }),
    };
    const learnt = await learnDefaults(reader, alice, NOW);
    expect(learnt.packs.map(({ id }) => id)).toEqual(["lint"]);
    expect(learnt.note).toBe("Skipped because they could not be read: 2.");
  });
});
