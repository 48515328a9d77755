import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { auditEntry, checkAuditRow } from "../../../engine/audit/audit-entries.ts";
import { HelmdeckError } from "../../../engine/errors.ts";
import { filterOf, parseForgetScope, settleScope } from "../../../engine/facts/forget-scope.ts";
import type { MemoryStore, NewEntry } from "../../../engine/store/memory-store.ts";
import { namespaceOf } from "../../../engine/store/namespace.ts";
import { openStoreInMemory } from "../../../engine/store/sqlite/open-in-memory.ts";

const alice = namespaceOf("alice");
const NOW = Date.parse("2026-11-20T12:00:00Z");

function entry(origin: NewEntry["origin"], key: string, category: string, namespace = alice): NewEntry {
  return { namespace, origin, key, category, value: Buffer.from("x"), tags: [] };
}

function packRun(pack: string, namespace = alice): NewEntry {
  return auditEntry(namespace, checkAuditRow("pack", { pack, outcome: "ok", at_unix: NOW / 1_000 }), NOW);
}

function pipelineRun(pipeline: string): NewEntry {
  const row = { pipeline, run_id: "r1", outcome: "succeeded", at_unix: NOW / 1_000 };
  return auditEntry(alice, checkAuditRow("pipeline", row), NOW);
}

function toolCall(tool: string, namespace = alice): NewEntry {
  return auditEntry(namespace, checkAuditRow("tool", { tool, outcome: "ok", at_unix: NOW / 1_000 }), NOW);
}

let store: MemoryStore;

beforeEach(async () => {
  store = await openStoreInMemory({ now: () => NOW });
  await store.putMany([
    entry("fact", "deploy", "user_facts"),
    entry("fact", "Deploy", "user_facts"),
    entry("fact", "deploy/region", "prefs"),
    entry("fact", "deploy_x", "prefs"),
    entry("fact", "pack_history/lint/00000000000000000001", "user_facts"),
    entry("cache", "deploy", "cache"),
    entry("pack", "deploy", "solve"),
    packRun("lint"),
    packRun("lint/deep"),
    packRun("lintx"),
    packRun("Lint"),
    pipelineRun("lint"),
    pipelineRun("nightly"),
    toolCall("lint"),
    toolCall("exec"),
    toolCall("exec2"),
    toolCall("exec", namespaceOf("bob")),
    entry("audit", "plan_history/p/00000000000000000001", "plan_history"),
    entry("cache", "deploy", "cache", namespaceOf("alice", "s1")),
    entry("fact", "deploy", "user_facts", namespaceOf("alice2")),
    packRun("lint", namespaceOf("bob")),
  ]);
});

async function everyKey(): Promise<readonly string[]> {
  const pages = await Promise.all(
    (await store.namespaces()).map(({ namespace }) => store.listMeta({ namespace, limit: 1_000 })),
  );
  return pages.flatMap((page) => page.entries.map((meta) => `${meta.namespace} ${meta.origin} ${meta.key}`));
}

async function meantBy(scope: string) {
  const readings = parseForgetScope(scope);
  const counts = await Promise.all(readings.map((reading) => store.countWhere(filterOf(reading, alice))));
  return settleScope(
    readings,
    counts.map((count) => count > 0),
  );
}

/** A scope deletes exactly what its dry run counts. */
async function forgotten(scope: string): Promise<readonly string[]> {
  const filter = filterOf(await meantBy(scope), alice);
  const before = await everyKey();
  const counted = await store.countWhere(filter);
  const { deleted } = await store.deleteWhere(filter);
  const after = new Set(await everyKey());
  const gone = before.filter((key) => !after.has(key)).sort();
  expect({ counted, deleted }).toEqual({ counted: gone.length, deleted: gone.length });
  return gone.map((key) => key.replace(/\/\d{20}$/, "/…"));
}

// verifies P-forget-exact
describe("fault 6: key: deletes by prefix, case-insensitively, over all categories; all keeps the facts; an empty body deletes everything", () => {
  test.each([
    ["key:deploy", ["alice fact deploy"]],
    ["key:Deploy", ["alice fact Deploy"]],
    ["key: deploy ", ["alice fact deploy"]],
    ["key:DEPLOY", []],
    ["key:deplo", []],
    ["key:deploy%", []],
    ["key:pack_history/lint/00000000000000000001", ["alice fact pack_history/lint/…"]],
    ["category:prefs", ["alice fact deploy/region", "alice fact deploy_x"]],
    ["category:solve", []],
    [
      "packs",
      [
        "alice audit pack_history/Lint/…",
        "alice audit pack_history/lint%2Fdeep/…",
        "alice audit pack_history/lint/…",
        "alice audit pack_history/lintx/…",
      ],
    ],
    ["pipelines", ["alice audit pipeline_history/lint/…", "alice audit pipeline_history/nightly/…"]],
    [
      "tools",
      [
        "alice audit tool_history/exec/…",
        "alice audit tool_history/exec2/…",
        "alice audit tool_history/lint/…",
      ],
    ],
    ["tool:exec", ["alice audit tool_history/exec/…"]],
    ["tool:EXEC", []],
    ["tool:exe", []],
    ["pack:exec", []],
    ["pack:lint", ["alice audit pack_history/lint/…"]],
    ["pack:lint/deep", ["alice audit pack_history/lint%2Fdeep/…"]],
    ["pack:lint%2Fdeep", []],
    ["pack:lin", []],
    ["pipeline:lint", ["alice audit pipeline_history/lint/…"]],
    ["helmdeck/prefs/deploy/region.md", ["alice fact deploy/region"]],
    ["helmdeck/prefs/deploy/region.md#L1-L3", ["alice fact deploy/region"]],
    ["helmdeck/user_facts/deploy/region.md", []],
    ["helmdeck/prefs/deploy/region.md:3-5", ["alice fact deploy/region"]],
    ["prefs/deploy/region", ["alice fact deploy/region"]],
    ["prefs/deploy/region#L1-L5", ["alice fact deploy/region"]],
    ["deploy/region", ["alice fact deploy/region"]],
    ["deploy", ["alice fact deploy"]],
    ["deploy_x", ["alice fact deploy_x"]],
    ["deploy/region#L1-L5", []],
    ["region", []],
    ["deploy_", []],
    ["deploy/", []],
    ["ALL", []],
    ["Packs", []],
    ["*", []],
    ["%", []],
    ["key", []],
    ["packs:", []],
    ["facts", []],
    ["mem_00", []],
    ["fact:deploy", []],
    ["Key:deploy", []],
    ["helmdeck/", []],
    ["helmdeck/user_facts/deploy", []],
    ["helmdeck/user_facts/../deploy.md", []],
    ["helmdeck/user_facts/%64eploy.md", []],
    ["../user_facts/deploy", []],
    ["cache/deploy", []],
    ["plan_history/p/1", []],
    ["plan_history/p/00000000000000000001", []],
    ["solve/deploy", []],
    ["user_facts/", []],
    ["/deploy", []],
    ["user_facts/pack_history/lint/00000000000000000001", ["alice fact pack_history/lint/…"]],
  ])("%s deletes exactly what it names", async (scope, expected) => {
    expect(await forgotten(scope)).toEqual(expected);
  });

  test("all deletes facts and audit rows, but no caches, notes or sessions", async () => {
    const gone = await forgotten("all");
    expect(gone).toHaveLength(15);
    expect(gone.every((key) => /^alice (fact|audit) /.test(key))).toBe(true);
  });

  test("everything deletes the whole subject with its sessions, and no other subject", async () => {
    expect(await forgotten("everything")).toHaveLength(18);
    expect(await everyKey()).toHaveLength(3);
  });

  test("the path of an audit row forgets only that row", async () => {
    const { key } = packRun("lint");
    expect(await forgotten(`helmdeck/pack_history/${key}.md`)).toEqual(["alice audit pack_history/lint/…"]);
  });

  test.each([
    undefined,
    null,
    "",
    "  ",
    {},
    "key:",
    "key:  ",
    "pack:",
    "pipeline:",
    "category:",
    "category:pack_history",
    "category:cache",
    "category:../x",
    "helmdeck/my-memory.md",
    "helmdeck/my-memory.md#L1-L5",
    "key:a\nb",
    "a\nb",
    "\u202Edeploy",
    "k".repeat(513),
  ])("%j is refused with the list of scopes, and deletes nothing", async (scope) => {
    const before = await everyKey();
    expect(() => parseForgetScope(scope)).toThrow(HelmdeckError);
    expect(() => parseForgetScope(scope)).toThrow(expect.objectContaining({ code: "invalid_input" }));
    expect(await everyKey()).toEqual(before);
  });

  test("the refusal lists the scopes and escapes a hostile one", () => {
    expect(() => parseForgetScope(`\u001b[2J${"x".repeat(10_000)}`)).toThrow(
      /"\[U\+001B\]\[2Jx{40,60}…" is unknown.*key:<exact key>/,
    );
  });
});

describe("an ambiguous text", () => {
  const readings = parseForgetScope("a/b#L1");

  test("means the existing entry, or the exact key when there is none", () => {
    expect(readings).toEqual([
      { kind: "key", key: "a/b#L1" },
      { kind: "document", origin: "fact", category: "a", key: "b#L1" },
      { kind: "document", origin: "fact", category: "a", key: "b" },
    ]);
    for (const [index, reading] of readings.entries())
      expect(
        settleScope(
          readings,
          readings.map((_, other) => other === index),
        ),
      ).toEqual(reading);
    expect(settleScope(readings, [false, false, false])).toEqual({ kind: "key", key: "a/b#L1" });
  });

  test("is refused with a spelling for each existing entry", () => {
    expect(() => settleScope(readings, [true, false, true])).toThrow(
      "scope matches 2 entries: give key:a/b#L1 or key:b (helmdeck/a/b.md); nothing was deleted.",
    );
    expect(() => settleScope(readings, [true, true, true])).toThrow(
      "matches 3 entries: give key:a/b#L1 or key:b#L1 (helmdeck/a/b%23L1.md) or key:b (helmdeck/a/b.md); nothing",
    );
  });
});

describe("key: and a name", () => {
  const readings = parseForgetScope("key: all");

  test("mean the fact with that key, or the fact whose key is all of this text", () => {
    expect(readings).toEqual([
      { kind: "key", key: "all" },
      { kind: "key", key: "key: all" },
    ]);
    expect(settleScope(readings, [true, false])).toEqual({ kind: "key", key: "all" });
    expect(settleScope(readings, [false, true])).toEqual({ kind: "key", key: "key: all" });
    expect(settleScope(readings, [false, false])).toEqual({ kind: "key", key: "all" });
  });

  test("are refused if both exist, with a spelling for each that means nothing else", () => {
    expect(() => settleScope(parseForgetScope("key:all"), [true, true])).toThrow(
      "scope matches 2 entries: give helmdeck/CATEGORY/all.md with its category or key:key:all; nothing was deleted.",
    );
  });
});

test("no scope matches entries outside its namespace", () => {
  const scopes = [
    "all",
    "everything",
    "packs",
    "pipelines",
    "pack:a",
    "pipeline:a",
    "key:a",
    "category:a",
    "a/b",
  ];
  fc.assert(
    fc.property(fc.constantFrom(...scopes), fc.string({ unit: "binary" }), (scope, subject) => {
      for (const reading of parseForgetScope(scope))
        expect(filterOf(reading, namespaceOf(subject)).namespace).toBe(namespaceOf(subject));
    }),
  );
});
