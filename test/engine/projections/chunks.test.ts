import { describe, expect, test } from "vitest";
import { auditEntry, checkAuditRow } from "../../../engine/audit/audit-entries.ts";
import { projectEntry } from "../../../engine/projections/chunks.ts";
import type { CorpusEntry } from "../../../engine/projections/corpus.ts";
import { parsePath } from "../../../engine/projections/paths.ts";
import type { Entry, NewEntry } from "../../../engine/store/memory-store.ts";
import { namespaceOf } from "../../../engine/store/namespace.ts";
import { openStoreInMemory } from "../../../engine/store/sqlite/open-in-memory.ts";

const alice = namespaceOf("alice");
const NOW = Date.parse("2026-11-20T12:00:00Z");

async function stored(entry: Omit<NewEntry, "namespace" | "tags"> & Partial<NewEntry>): Promise<Entry> {
  const store = await openStoreInMemory({ now: () => NOW });
  const full: NewEntry = { namespace: alice, tags: [], ...entry };
  await store.put(full);
  const kept = await store.get(full);
  if (kept === undefined) throw new Error("the store lost it");
  return kept;
}

async function fact(
  key: string,
  value: string,
  category = "user_facts",
  tags: readonly string[] = [],
): Promise<Entry> {
  return stored({ origin: "fact", key, value: Buffer.from(value), category, tags });
}

function shown(entry: Entry): CorpusEntry {
  const projection = projectEntry(entry);
  if (projection.kind !== "chunk") throw new Error(`not shown: ${projection.kind}`);
  return projection.entry;
}

describe("a fact in the corpus", () => {
  test("has helmdeck's shape", async () => {
    const entry = await fact("deploy/preference", "Konflux,\nalways.", "prefs", ["ci"]);
    expect(shown(entry)).toEqual({
      id: entry.id,
      kind: "fact",
      origin: "fact",
      key: "deploy/preference",
      category: "prefs",
      tags: ["ci"],
      createdAt: NOW,
      updatedAt: NOW,
      fingerprint: entry.fingerprint,
      body: "Konflux,\nalways.",
      bodyStartLine: 3,
      chunk: {
        docid: "prefs/deploy/preference",
        path: "helmdeck/prefs/deploy/preference.md",
        title: "deploy/preference",
        content: "## deploy/preference\n\nKonflux,\nalways.\n\n(category: prefs)",
        collection: "helmdeck-prefs",
        metadata: {
          category: "prefs",
          fingerprint: entry.fingerprint,
          tags: ["ci"],
          kind: "fact",
          created_at: "2026-11-20T12:00:00.000Z",
          updated_at: "2026-11-20T12:00:00.000Z",
        },
      },
    });
  });

  test("has its body at the stated offset", async () => {
    const { chunk, body, bodyStartLine } = shown(await fact("k", "first\r\nsecond\u2028third"));
    expect(body).toBe("first\nsecond\nthird");
    expect(chunk.content.split("\n").slice(bodyStartLine - 1, bodyStartLine + 2)).toEqual([
      "first",
      "second",
      "third",
    ]);
  });

  test("escapes hostile characters, and keeps tabs, emoji and letters of every script", async () => {
    const value = "a\u0000b\u001b[31mc\u202ed\u2066e\u{e0041}f\u0085g\tשלום 👩‍👩‍👧 日本";
    const entry = await fact("k", value);
    expect(shown(entry).body).toBe(
      "a[U+0000]b[U+001B][31mc[U+202E]d[U+2066]e[U+E0041]f\ng\tשלום 👩‍👩‍👧 日本",
    );
    expect(Buffer.from(entry.value).toString()).toBe(value);
  });

  test("cannot forge a heading through its key", async () => {
    const { chunk } = shown(await fact("k\n## Pack call: lint", "v"));
    expect(chunk.content.split("\n")[0]).toBe("## k ## Pack call: lint");
    expect(chunk.title).toBe("k ## Pack call: lint");
  });

  test("is shown for any bytes", async () => {
    const entry = await stored({ origin: "fact", key: "k", category: "c", value: Uint8Array.of(0xff, 0x41) });
    expect(shown(entry).body).toBe("\ufffdA");
  });
});

describe("a run in the corpus", () => {
  test("of a pack has helmdeck's shape", async () => {
    const row = {
      pack: "github.lint",
      version: "v2",
      outcome: "timeout",
      at_unix: NOW / 1_000,
      duration_ms: 1_234,
      learn_inputs: { audience: "developers\n## forged", title: "Q4" },
      findings: [
        { code: "E1", severity: "high", file: "a.ts" },
        { code: "E2", severity: "low" },
      ],
    };
    const { chunk, body, bodyStartLine, category } = shown(
      await stored(auditEntry(alice, checkAuditRow("pack", row), NOW)),
    );
    expect(chunk.content).toBe(
      [
        "## Pack call: github.lint",
        "",
        "Outcome: timeout",
        "At: 2026-11-20T12:00:00Z",
        "Version: v2",
        "Duration: 1234ms",
        "",
        "Inputs used:",
        "- audience: developers ## forged",
        "- title: Q4",
        "",
        "Findings:",
        "- high E1 in a.ts",
        "- low E2",
      ].join("\n"),
    );
    expect({ body, bodyStartLine }).toEqual({
      body: chunk.content.split("\n").slice(2).join("\n"),
      bodyStartLine: 3,
    });
    expect(chunk).toMatchObject({ title: "Pack call: github.lint", collection: "helmdeck-pack_history" });
    expect(category).toBe("pack_history");
  });

  test("of a pipeline names its run", async () => {
    const row = { pipeline: "nightly", run_id: "r-1", outcome: "failed", at_unix: NOW / 1_000 };
    const { chunk } = shown(await stored(auditEntry(alice, checkAuditRow("pipeline", row), NOW)));
    expect(chunk.content).toBe(
      "## Pipeline run: nightly\n\nOutcome: failed\nRun ID: r-1\nAt: 2026-11-20T12:00:00Z",
    );
  });

  test("that is unreadable is reported as damaged", async () => {
    const entry = await stored({
      origin: "audit",
      key: "pack_history/a/1",
      category: "pack_history",
      value: Buffer.from("{"),
    });
    expect(projectEntry(entry)).toEqual({ kind: "damaged" });
  });
});

describe("fault 12: cache rows show up as facts in the corpus, plan_history as raw JSON", () => {
  test.each([
    ["a cache row", "cache", "github.list_issues/ab", "cache"],
    ["a cache row in a fact's category", "cache", "deploy", "user_facts"],
    ["a pack's private note", "pack", "swe.solve/ab/notes", "solve"],
    ["a pack's note in a fact's category", "pack", "deploy", "user_facts"],
    ["a plan row", "audit", "plan_history/p/00000000000000000001", "plan_history"],
    ["an audit row in a fact's category", "audit", "deploy", "user_facts"],
    ["a fact in an audit row's category", "fact", "pack_history/a/1", "pack_history"],
    ["a fact in the cache's category", "fact", "deploy", "cache"],
    ["a fact in a category that no policy allows", "fact", "deploy", "Über uns"],
  ] as const)("%s is not in the corpus", async (_, origin, key, category) => {
    const value = Buffer.from(JSON.stringify({ pack: "a", outcome: "ok", at_unix: 1 }));
    expect(projectEntry(await stored({ origin, key, category, value }))).toEqual({ kind: "outside" });
  });
});

describe("fault 7: a fact whose key begins pack_history/ poisons the audit history", () => {
  test("the fact is shown as a fact, under its own path", async () => {
    const row = { pack: "lint", outcome: "ok", at_unix: NOW / 1_000 };
    const audit = shown(await stored(auditEntry(alice, checkAuditRow("pack", row), NOW)));
    const forged = shown(await fact(audit.key, JSON.stringify(row)));
    expect(forged.chunk.title).toBe(audit.key);
    expect(forged.chunk.collection).toBe("helmdeck-user_facts");
    expect(forged.chunk.path).not.toBe(audit.chunk.path);
    expect(parsePath(forged.chunk.path)).toEqual({ origin: "fact", category: "user_facts", key: audit.key });
    expect(parsePath(audit.chunk.path)).toEqual({
      origin: "audit",
      category: "pack_history",
      key: audit.key,
    });
  });
});
