import { describe, expect, test } from "vitest";
import type { OpenMemory } from "../../app/compose.ts";
import { exportLines } from "../../app/transfer/export-lines.ts";
import type { ImportCounts, ImportResult } from "../../app/transfer/import-counts.ts";
import { HelmdeckError } from "../../engine/errors.ts";
import { readTime, rfc3339 } from "../../engine/rfc3339.ts";
import type { ConflictRule } from "../../engine/store/memory-store.ts";
import { namespaceOf } from "../../engine/store/namespace.ts";
import { importLines } from "../transfer/import-lines.ts";
import {
  DAY_MS,
  entryOf,
  inTurn,
  NOW,
  openTestMemory,
  openWithClock,
  TestClock,
} from "./fixtures/memories.ts";

const AT = NOW / 1_000;

async function* chunks(...parts: readonly (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield typeof part === "string" ? Buffer.from(part) : part;
}

function importText(memory: OpenMemory, ...parts: readonly (string | Uint8Array)[]): Promise<ImportResult> {
  return importLines({ memory, subject: "main", input: chunks(...parts) });
}

function importRows(memory: OpenMemory, ...rows: readonly object[]): Promise<ImportResult> {
  return importText(memory, rows.map((row) => JSON.stringify(row)).join("\n"));
}

async function reasonOf(row: object): Promise<string> {
  const { refused } = await importRows(await openTestMemory(), row);
  return refused[0]?.reason ?? "taken";
}

async function exported(memory: OpenMemory, subject = "main"): Promise<readonly string[]> {
  const lines: string[] = [];
  const onProblem = (problem: object) => lines.push(`problem ${JSON.stringify(problem)}`);
  for await (const line of exportLines({ memory, subject, onProblem })) lines.push(line);
  return lines;
}

/** Every entry of the subject with all fields except those that each store assigns itself. */
async function everyEntry(memory: OpenMemory): Promise<readonly object[]> {
  const { entries } = await memory.store.list({ namespace: namespaceOf("main"), limit: 1_000 });
  return entries
    .map(({ id: _, revision: __, value, ...entry }) => ({
      ...entry,
      value: Buffer.from(value).toString("hex"),
    }))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
}

describe("an import", () => {
  test("accepts facts and audit rows, and counts the results", async () => {
    const memory = await openTestMemory();
    await memory.storeFact("main", { key: "same", value: "v" });
    await memory.storeFact("main", { key: "other", value: "v" });
    const result = await importRows(
      memory,
      { key: "new", value: "v", category: "prefs", tags: ["ci"] },
      { key: "same", value: "v" },
      { key: "other", value: "w" },
      { audit: "pack", pack: "lint", outcome: "ok", at_unix: AT },
      { audit: "pipeline", pipeline: "nightly", run_id: "r", outcome: "failed", at_unix: AT },
    );
    expect(result).toEqual({
      lines: 5,
      stored: 1,
      refreshed: 1,
      replaced: 1,
      superseded: 0,
      retired: 0,
      kept: 0,
      audit: 2,
      refusedCount: 0,
      refused: [],
    });
    expect(await memory.getFact("main", { key: "new" })).toMatchObject({
      value: "v",
      category: "prefs",
      tags: ["ci"],
    });
    expect((await memory.search("main", { query: "nightly" })).results[0]?.category).toBe("pipeline_history");
  });

  test("reports each refused line by its number, and imports the others", async () => {
    const memory = await openTestMemory();
    const result = await importText(
      memory,
      '{"key":"one","value":"v"}\n',
      "\n",
      "not json\n",
      '["a"]\n',
      '{"key":"two","value":"v"}\n',
      '{"value":"s3cret"}\n',
      '{"key":"three","value":"v","categroy":"x"}\n',
      '{"audit":"plan","pack":"p"}\n',
      '{"audit":"pack","pack":"p","outcome":"ok"}\n',
      '{"key":"four","value":"v"}',
    );
    expect(result).toMatchObject({ lines: 10, stored: 3, refusedCount: 6 });
    expect(result.refused).toEqual([
      { line: 3, code: "invalid_input", reason: "This is not JSON: each line must be one JSON object." },
      { line: 4, code: "invalid_input", reason: "This is JSON, but not an object with key and value." },
      { line: 6, code: "invalid_input", reason: "key is missing." },
      { line: 7, code: "invalid_input", reason: "categroy is not a known field; leave it out." },
      { line: 8, code: "invalid_input", reason: 'audit must be "pack", "pipeline" or "tool".' },
      { line: 9, code: "invalid_input", reason: "The audit row's at_unix is missing." },
    ]);
  });

  test.each([
    '{"key":"k","value":"one","value":"two"}',
    '{"key":"k","value":"one","\\u0076alue":"two"}',
    '{"key":"k","key":"j","value":"v"}',
    '{"audit":"pack","pack":"a","pack":"b","outcome":"ok","at_unix":1,"duration_ms":1}',
    `{"key":"k","value":${"[".repeat(100)}${"]".repeat(100)}}`,
  ])("refuses an ambiguous line, as REST does: %s", async (line) => {
    const { stored, refused } = await importText(await openTestMemory(), line);
    expect({ stored, reason: refused[0]?.reason }).toEqual({
      stored: 0,
      reason: expect.stringMatching(/^The line (has a duplicate field|is nested more than 64 deep)/),
    });
  });

  test("keeps the time of a fact's write, and counts its lifetime from now", async () => {
    const memory = await openTestMemory();
    await importRows(
      memory,
      { key: "old", value: "v", created_at: "2023-05-08T13:56:00Z" },
      {
        key: "edited",
        value: "v",
        created_at: "2023-05-08T13:56:00.5+02:00",
        updated_at: "2024-01-01T00:00:00Z",
        ttl_seconds: 3_600,
      },
      { key: "ending", value: "v", expires_at: "2026-11-20T12:00:01Z" },
      { audit: "pack", pack: "lint", outcome: "ok", at_unix: 1_000_000_000 },
    );
    expect(await memory.getFact("main", { key: "old" })).toMatchObject({
      createdAt: Date.parse("2023-05-08T13:56:00Z"),
      updatedAt: Date.parse("2023-05-08T13:56:00Z"),
      expiresAt: NOW + 90 * DAY_MS,
    });
    expect(await memory.getFact("main", { key: "edited" })).toMatchObject({
      createdAt: Date.parse("2023-05-08T11:56:00.500Z"),
      updatedAt: Date.parse("2024-01-01T00:00:00Z"),
      expiresAt: NOW + 3_600_000,
    });
    expect(await memory.getFact("main", { key: "ending" })).toMatchObject({
      createdAt: NOW,
      expiresAt: NOW + 1_000,
    });
    const { entries } = await memory.store.list({ namespace: namespaceOf("main"), origin: "audit" });
    expect(entries[0]).toMatchObject({ createdAt: 1e12, updatedAt: 1e12, expiresAt: NOW + 30 * DAY_MS });
  });

  test.each([
    [
      { key: "k", value: "v", created_at: "2026-02-30T00:00:00Z" },
      "created_at must be a day such as 2026-11-20, or a time such as 2026-11-20T12:00:00Z.",
    ],
    [
      { key: "k", value: "v", created_at: "yesterday" },
      "created_at must be a day such as 2026-11-20, or a time such as 2026-11-20T12:00:00Z.",
    ],
    [{ key: "k", value: "v", created_at: 1_700_000_000 }, "created_at must be a string."],
    [{ key: "k", value: "v", created_at: "2026-11-22T00:00:00Z" }, "created_at is in the future."],
    [
      { key: "k", value: "v", created_at: "2026-01-02T00:00:00Z", updated_at: "2026-01-01T00:00:00Z" },
      "updated_at is before created_at.",
    ],
    [
      { key: "k", value: "v", expires_at: "2026-11-20T12:00:00Z" },
      "expires_at is in the past: this line has expired.",
    ],
    [{ key: "k", value: "v", expires_at: "2027-11-20T13:00:01Z" }, "expires_at is more than 365 days ahead."],
    [
      { key: "k", value: "v", expires_at: "2027-01-01T00:00:00Z", ttl_seconds: 3_600 },
      "ttl_seconds and expires_at cannot be combined; give one of them.",
    ],
    [
      { key: "k", value: "v", ttl_seconds: "3600" },
      expect.stringMatching(/^ttl_seconds must be a whole number/),
    ],
    [
      { key: "k", value: "v", category: "pack_history" },
      expect.stringMatching(/^category pack_history is reserved/),
    ],
    [
      { key: "k", value: "v", fingerprint: "0000000000000000" },
      expect.stringMatching(/^fingerprint does not match/),
    ],
    [{ key: "k", value: "v", fingerprint: 5 }, "fingerprint must be a string."],
    [
      { key: "k", value: "v", path: "helmdeck/user_facts/other.md" },
      "path does not match key and category; leave it out.",
    ],
    [{ key: "k", value: "v", origin: "audit" }, "origin is not a known field; leave it out."],
    [{ key: "k", value: "v", "\u001b[2J": 1 }, "[U+001B][2J is not a known field; leave it out."],
    [{ audit: "pack", pack: "p", outcome: "ok", at_unix: AT + 3 * 86_400 }, "at_unix is in the future."],
    [
      { audit: "pack", pack: "p", outcome: "ok", at_unix: AT, expires_at: "2027-01-01T00:00:00Z" },
      "expires_at is more than 30 days ahead.",
    ],
    [
      { audit: "pack", pack: "p", outcome: "ok", at_unix: AT, ttl_seconds: 3_600 },
      "The audit row's ttl_seconds is not a known field; leave it out.",
    ],
    [
      { audit: "pack", pack: "p", outcome: "ok", at_unix: AT, value: "v" },
      "The audit row's value is not a known field; leave it out.",
    ],
    [
      {
        audit: "pack",
        pack: "p",
        outcome: "ok",
        at_unix: AT,
        key: "pack_history/other/00000000000000000001",
      },
      expect.stringMatching(/^key does not belong to this audit row/),
    ],
    [
      { audit: "pack", pack: "p", outcome: "ok", at_unix: AT, fingerprint: "0000000000000000" },
      expect.stringMatching(/^fingerprint does not match/),
    ],
    [{ audit: 5 }, 'audit must be "pack", "pipeline" or "tool".'],
  ])("refuses %j", async (row, reason) => {
    expect(await reasonOf(row)).toEqual(reason);
  });

  // verifies P-policy-secrets
  test("refuses lines that look like credentials, unless a person allows them", async () => {
    const memory = await openTestMemory();
    const rows = [
      { key: "ci", value: `ghp_${"aB3dE5gH7jK9".repeat(3)}` },
      { key: "deploy", value: "Konflux" },
    ];
    const { stored, refused } = await importRows(memory, ...rows);
    expect({ stored, refused }).toEqual({
      stored: 1,
      refused: [{ line: 1, code: "secret_refused", reason: expect.stringContaining("GITHUB_TOKEN") }],
    });
    const input = chunks(JSON.stringify(rows[0]));
    const allowed = await importLines({ memory, subject: "main", input, allowSecrets: true });
    expect(allowed).toMatchObject({ stored: 1, refusedCount: 0 });
  });

  // verifies P-text-lookalikes
  test("refuses a key that looks like one that was stored while the import ran", async () => {
    const memory = await openTestMemory();
    async function* slowly(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('{"key":"deploy","value":"by the import"}\n');
      await memory.storeFact("main", { key: "d\u0435ploy", value: "meanwhile" });
    }
    const importing = () => importLines({ memory, subject: "main", input: slowly() });
    await expect(importing()).rejects.toThrow(/looks like the existing key .* Import the same files again/);
    expect((await memory.listFacts("main", {})).facts.map(({ key }) => key)).toEqual(["d\u0435ploy"]);
    expect(await importing()).toMatchObject({ stored: 0, refusedCount: 1 });
  });

  test("refuses a key that looks like an existing or earlier one", async () => {
    const memory = await openTestMemory();
    await memory.storeFact("main", { key: "deploy", value: "Konflux" });
    const keys = ["d\u0435ploy", "notes", "n\u03bftes", "deploy"];
    const { refused } = await importRows(memory, ...keys.map((key) => ({ key, value: "x" })));
    expect(refused.map(({ line, reason }) => [line, /"(\w+)"/.exec(reason)?.[1]])).toEqual([
      [1, "deploy"],
      [3, "notes"],
    ]);
  });

  // verifies P-quiet-words
  test("never repeats a value in a reason", async () => {
    const rows = [
      { key: "k", value: { s3cret: "s3cret" } },
      { key: "k", value: `s3cret${"x".repeat(70_000)}` },
      { key: "k\u0000", value: "s3cret" },
      { key: "k", value: "v", created_at: "s3cret" },
      { audit: "pack", pack: "p", outcome: 1, at_unix: "s3cret" },
    ];
    const { refused, refusedCount } = await importRows(await openTestMemory(), ...rows);
    expect(refusedCount).toBe(rows.length);
    expect(JSON.stringify(refused)).not.toContain("s3cret");
  });

  test("keeps the last line of a key, within a batch and across batches", async () => {
    const memory = await openTestMemory();
    const filler = Array.from({ length: 1_500 }, (_, index) => ({ key: `f${index}`, value: "v" }));
    const result = await importRows(
      memory,
      { key: "k", value: "one" },
      { key: "k", value: "two" },
      ...filler,
      { key: "k", value: "three" },
    );
    expect((await memory.getFact("main", { key: "k" }))?.value).toBe("three");
    expect(result).toMatchObject({ stored: 1_501, replaced: 2 });
  });

  // verifies P-import-newer
  test("keeps the newer value by default, and follows another conflict rule", async () => {
    const { clock, memory } = await openWithClock();
    await memory.storeFact("main", { key: "k", value: "as it was" });
    const lines = (await exported(memory)).join("\n");
    clock.pass(1_000);
    await memory.storeFact("main", { key: "k", value: "as it is" });
    const valueAfter = async (onConflict?: ConflictRule) => {
      const options = { memory, subject: "main", input: chunks(lines), ...(onConflict && { onConflict }) };
      const { kept } = await importLines(options);
      return [(await memory.getFact("main", { key: "k" }))?.value, kept];
    };
    expect(await valueAfter()).toEqual(["as it is", 1]);
    expect(await valueAfter("newer")).toEqual(["as it is", 1]);
    expect(await valueAfter("keep")).toEqual(["as it is", 1]);
    expect(await valueAfter("replace")).toEqual(["as it was", 0]);
    const other = await openTestMemory({ now: clock.now });
    expect((await importText(other, lines)).stored).toBe(1);
  });

  test("imports newer values, and does not shorten a lifetime", async () => {
    const clock = new TestClock();
    const [memory, other] = [
      await openTestMemory({ now: clock.now }),
      await openTestMemory({ now: clock.now }),
    ];
    await memory.storeFact("main", { key: "k", value: "as it was" });
    const [before = ""] = await exported(memory);
    await memory.renewFact("main", { key: "k", ttlSeconds: 31_536_000 });
    expect(await importText(memory, before)).toMatchObject({ kept: 1 });
    expect((await memory.getFact("main", { key: "k" }))?.expiresAt).toBe(NOW + 31_536_000_000);
    clock.pass(1_000);
    await other.storeFact("main", { key: "k", value: "as it is" });
    expect(await importText(memory, ...(await exported(other)))).toMatchObject({ replaced: 1 });
    expect((await memory.getFact("main", { key: "k" }))?.value).toBe("as it is");
  });

  test("stores the same audit line once, and different ones in one second separately", async () => {
    const memory = await openTestMemory();
    const row = { audit: "pack", pack: "lint", outcome: "ok", at_unix: AT };
    await importRows(memory, row, { ...row, outcome: "timeout" }, { ...row, duration_ms: 5 }, row);
    await importRows(memory, row);
    expect((await memory.status("main")).subject).toMatchObject({ auditRows: 3 });
  });

  test("resumes after an interrupted import, which reported its position", async () => {
    const memory = await openTestMemory();
    const { putMany } = memory.store;
    let batches = 0;
    memory.store.putMany = (entries) => {
      batches += 1;
      return batches === 2
        ? Promise.reject(new HelmdeckError("store_full", "The disk is full."))
        : putMany.call(memory.store, entries);
    };
    const rows = Array.from({ length: 625 }, (_, index) => ({ key: `k${index}`, value: "v" }));
    await expect(importRows(memory, ...rows)).rejects.toMatchObject({
      code: "store_full",
      message:
        "The disk is full. Imported: 250. Not imported, as far as is known: 375. Import the same files again to continue.",
      details: { imported: 250, left: 375 },
    });
    expect((await memory.status("main")).subject?.facts).toBe(250);
    expect(await importRows(memory, ...rows)).toMatchObject({ stored: 375, refreshed: 250 });
  });

  test("writes each batch completely or not at all", async () => {
    const memory = await openTestMemory();
    const sizes: number[] = [];
    const { putMany } = memory.store;
    memory.store.putMany = (entries) => {
      sizes.push(entries.length);
      return putMany.call(memory.store, entries);
    };
    const large = Array.from({ length: 20 }, (_, index) => ({
      key: `l${index}`,
      value: "x".repeat(60_000),
    }));
    const small = Array.from({ length: 251 }, (_, index) => ({ key: `s${index}`, value: "v" }));
    await importRows(memory, ...small, ...large);
    expect(sizes).toEqual([250, 19, 2]);
  });

  test("reports progress after each batch and at the end", async () => {
    const memory = await openTestMemory();
    const seen: ImportCounts[] = [];
    const rows = Array.from({ length: 300 }, (_, index) => JSON.stringify({ key: `k${index}`, value: "v" }));
    const input = chunks(rows.join("\n"), "\nnonsense");
    await importLines({ memory, subject: "main", input, onProgress: (counts) => seen.push(counts) });
    expect(seen.map(({ lines, stored, refusedCount }) => [lines, stored, refusedCount])).toEqual([
      [250, 250, 0],
      [301, 300, 1],
    ]);
  });

  // verifies P-alone-import
  test("writes to the requested subject's memory only", async () => {
    const memory = await openTestMemory();
    await importLines({ memory, subject: "work", input: chunks('{"key":"k","value":"v"}') });
    expect(await memory.getFact("main", { key: "k" })).toBeUndefined();
    expect(await memory.getFact("work", { key: "k" })).toBeDefined();
    await expect(importLines({ memory, subject: "\ud800", input: chunks("") })).rejects.toMatchObject({
      code: "identity_refused",
    });
  });
});

describe("lines of an earlier version", () => {
  const TIMES = {
    created_at: "2026-11-20T11:00:00.000Z",
    updated_at: "2026-11-20T11:30:00.000Z",
    expires_at: "2027-02-18T11:30:00.000Z",
  };
  const AUDIT =
    '{"audit":"pack","pack":"lint","outcome":"ok","at_unix":1795172400,"duration_ms":5,"key":"pack_history/lint/01795172400000000000",' +
    '"created_at":"2026-11-20T11:00:00.000Z","updated_at":"2026-11-20T11:00:00.000Z","expires_at":"2026-12-20T11:00:00.000Z"}';

  test.each([
    ["0.1, without the path", {}],
    ["today, with the path", { path: "helmdeck/work/deploy.md" }],
  ])("%s, give the same fact and run", async (_, more) => {
    const memory = await openTestMemory();
    const fact = { key: "deploy", value: "Konflux", category: "work", tags: ["ci"], ...TIMES, ...more };
    const line = JSON.stringify({ ...fact, fingerprint: "de3094ac258372a3" });
    expect(await importText(memory, line, "\n", AUDIT)).toMatchObject({ stored: 1, audit: 1, refused: [] });
    const [first = "", second] = await exported(memory);
    expect(JSON.parse(first)).toEqual({
      ...fact,
      path: "helmdeck/work/deploy.md",
      fingerprint: "de3094ac258372a3",
    });
    expect(JSON.parse(second ?? "")).toMatchObject(JSON.parse(AUDIT));
  });
});

describe("the bytes of an import", () => {
  const line = (key: string) => JSON.stringify({ key, value: "é日🦆" });

  test.each([
    ["with a byte order mark", `\ufeff${line("a")}\n${line("b")}`],
    ["with CRLF", `${line("a")}\r\n${line("b")}\r\n`],
    ["with blank lines", `\n\n${line("a")}\n \t \r\n${line("b")}\n\n\n`],
    ["without a last line break", `${line("a")}\n${line("b")}`],
  ])("%s are read", async (_, text) => {
    const memory = await openTestMemory();
    expect(await importText(memory, text)).toMatchObject({ stored: 2, refusedCount: 0 });
    expect((await memory.getFact("main", { key: "b" }))?.value).toBe("é日🦆");
  });

  test("may be split anywhere", async () => {
    const memory = await openTestMemory();
    const bytes = Buffer.from(`${line("a")}\r\n${line("b")}\n`);
    expect(await importText(memory, ...Array.from(bytes, (byte) => Uint8Array.of(byte)))).toMatchObject({
      stored: 2,
      lines: 2,
    });
    expect((await memory.getFact("main", { key: "b" }))?.value).toBe("é日🦆");
  });

  test("may be in memory that the stream reuses", async () => {
    const memory = await openTestMemory();
    const reused = Buffer.alloc(16);
    async function* stream() {
      const text = Buffer.from(`${line("a")}\n${line("b")}\n`);
      for (let at = 0; at < text.length; at += reused.length) {
        const size = text.copy(reused, 0, at);
        yield reused.subarray(0, size);
      }
    }
    expect(await importLines({ memory, subject: "main", input: stream() })).toMatchObject({
      stored: 2,
      refusedCount: 0,
    });
  });

  test("that are not UTF-8 refuse only their own line", async () => {
    const memory = await openTestMemory();
    const broken = Buffer.concat([
      Buffer.from('{"key":"x","value":"'),
      Buffer.of(0xff, 0xfe),
      Buffer.from('"}\n'),
    ]);
    const result = await importText(memory, `${line("a")}\n`, broken, line("b"));
    expect(result).toMatchObject({
      stored: 2,
      refused: [{ line: 2, reason: "The line is not UTF-8 text." }],
    });
  });

  test("without a line break for 200 MB are refused in bounded memory, and the next line is read", async () => {
    const memory = await openTestMemory();
    const megabyte = Buffer.alloc(1_024 * 1_024, "x");
    let mostHeld = 0;
    async function* stream() {
      const before = process.memoryUsage().arrayBuffers;
      for (let sent = 0; sent < 200; sent += 1) {
        yield megabyte;
        mostHeld = Math.max(mostHeld, process.memoryUsage().arrayBuffers - before);
      }
      yield Buffer.from(`\n${line("b")}\n`);
    }
    const result = await importLines({ memory, subject: "main", input: stream() });
    expect(result).toMatchObject({
      stored: 1,
      refused: [{ line: 1, reason: "The line is longer than 1048576 bytes." }],
    });
    expect(mostHeld).toBeLessThan(100 * 1_024 * 1_024);
  });

  test("of the largest fact, with every character escaped, fit into a line", async () => {
    const memory = await openTestMemory();
    const escaped = `{"key":"k","value":"a${"\\u0001".repeat(65_534)}a"}`;
    expect(await importText(memory, escaped)).toMatchObject({ stored: 1, refusedCount: 0 });
  });

  test("of a file of invalid lines do not fill memory with refusals", async () => {
    const memory = await openTestMemory();
    const result = await importText(memory, "x\n".repeat(25_000));
    expect(result.refusedCount).toBe(25_000);
    expect(result.refused).toHaveLength(10_000);
  });
});

describe("an export", () => {
  async function filled(): Promise<OpenMemory> {
    const { clock, memory } = await openWithClock();
    const facts = [
      { key: "a", value: "one" },
      {
        key: "../\u00e9/ b",
        value: "line 1\nline 2\u2028\u202e\u0000end",
        category: "prefs",
        tags: ["x", "ü"],
        ttlSeconds: 3_600,
      },
      { key: "k", value: '"quoted" \\ and 🦆' },
    ];
    await inTurn(facts, (fact) => {
      clock.pass(1_234);
      return memory.storeFact("main", fact);
    });
    const run = {
      pack: "a/b",
      outcome: "ok",
      at_unix: AT,
      duration_ms: 5,
      version: "v1",
      learn_inputs: { title: "T" },
      findings: [{ code: "c", severity: "s" }],
    };
    await memory.recordPackRun("main", run);
    await memory.recordPackRun("main", run);
    await memory.recordPipelineRun("main", { pipeline: "p", run_id: "r", outcome: "cancelled", at_unix: AT });
    return memory;
  }

  // verifies P-transfer-whole
  test("and an import restore the same rows, every field, audit included", async () => {
    const memory = await filled();
    const lines = await exported(memory);
    expect(lines).toHaveLength(6);
    const copy = await openTestMemory();
    expect(await importText(copy, lines.join("\n"))).toMatchObject({ stored: 3, audit: 3, refusedCount: 0 });
    expect(await everyEntry(copy)).toEqual(await everyEntry(memory));
    expect(await exported(copy)).toEqual(lines);
  });

  test("is one JSON object per line, with values without needless escapes", async () => {
    const lines = await exported(await filled());
    for (const line of lines) expect(line).not.toMatch(/[\n\r]/);
    expect(JSON.parse(lines[1] ?? "")).toEqual({
      key: "../\u00e9/ b",
      value: "line 1\nline 2\u2028\u202e\u0000end",
      category: "prefs",
      path: "helmdeck/prefs/%2E%2E/%C3%A9/%20b.md",
      tags: ["x", "ü"],
      created_at: "2026-11-20T12:00:02.468Z",
      updated_at: "2026-11-20T12:00:02.468Z",
      expires_at: "2026-11-20T13:00:02.468Z",
      ending: "chosen",
      fingerprint: expect.stringMatching(/^[0-9a-f]{16}$/),
    });
  });

  test("contains the subject's facts and runs, but no caches, notes, sessions or other subjects", async () => {
    const memory = await openTestMemory();
    await memory.storeFact("main", { key: "mine", value: "v" });
    await memory.storeFact("other", { key: "theirs", value: "v" });
    await memory.store.putMany([
      entryOf("hidden", "v", { origin: "cache", category: "cache" }),
      entryOf("hidden", "v", { origin: "pack", category: "cache" }),
      entryOf("hidden", "v", { namespace: namespaceOf("main", "s1") }),
    ]);
    expect((await exported(memory)).map((line) => JSON.parse(line).key)).toEqual(["mine"]);
  });

  test("reads more than one page of the store", async () => {
    const memory = await openTestMemory();
    const rows = Array.from({ length: 2_345 }, (_, index) => ({ key: `k${index}`, value: "v" }));
    await importRows(memory, ...rows);
    expect(new Set((await exported(memory)).map((line) => JSON.parse(line).key)).size).toBe(2_345);
  });

  test("does not miss a row that is rewritten while it runs", async () => {
    const memory = await openTestMemory();
    const rows = Array.from({ length: 1_500 }, (_, index) => ({ key: `k${index}`, value: "v" }));
    await importRows(memory, ...rows);
    const keys: string[] = [];
    for await (const line of exportLines({ memory, subject: "main", onProblem: () => {} })) {
      if (keys.length === 0) await memory.storeFact("main", { key: "k1400", value: "newer" });
      keys.push(JSON.parse(line).key);
    }
    expect(new Set(keys).size).toBe(1_500);
    expect(keys.at(-1)).toBe("k1400");
  });

  test("reports rows that it cannot export, and never skips them silently", async () => {
    const memory = await openTestMemory();
    await memory.storeFact("main", { key: "good", value: "v" });
    await memory.store.putMany([
      entryOf("bytes", "", { value: Uint8Array.of(0xff) }),
      entryOf("pack_history/p/1", "{", { origin: "audit", category: "pack_history" }),
      entryOf("plan_history/p/1", "{}", { origin: "audit", category: "plan_history" }),
    ]);
    const [good, ...problems] = await exported(memory);
    expect(good).toContain('"key":"good"');
    expect(problems).toEqual([
      expect.stringMatching(/^problem .*"key":"bytes".*"reason":"is not valid text"/),
      expect.stringMatching(/^problem .*"key":"pack_history\/p\/1"/),
      expect.stringMatching(/^problem .*"key":"plan_history\/p\/1"/),
    ]);
  });
});

describe("times", () => {
  test.each([
    ["1970-01-01T00:00:00Z", 0],
    ["2026-11-20T12:00:00.123456789Z", NOW + 123],
    ["2026-11-20t12:00:00z", NOW],
    ["2026-11-20T14:00:00+02:00", NOW],
    ["2026-11-20 12:00:00Z", NOW],
    ["2024-02-29T00:00:00Z", Date.parse("2024-02-29")],
  ])("%s is read", (text, time) => {
    expect(readTime(text)).toBe(time);
  });

  test.each([
    "",
    "2026-11-20",
    "2026-11-20T12:00:00",
    "2026-13-01T00:00:00Z",
    "2025-02-29T00:00:00Z",
    "2026-11-20T24:00:00Z",
    "2026-11-20T12:60:00Z",
    "1969-12-31T23:59:59Z",
    "2026-11-20T12:00:00+0200",
    "+02026-11-20T12:00:00Z",
    " 2026-11-20T12:00:00Z",
    "2026-11-20T12:00:00+99:00",
  ])("%j is invalid", (text) => {
    expect(readTime(text)).toBeUndefined();
  });

  test("a written time can be parsed again", () => {
    expect(readTime(rfc3339(NOW + 7))).toBe(NOW + 7);
  });
});
