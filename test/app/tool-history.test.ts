/** Records of tool calls: separate from packs and facts, without credentials, limited to the newest 5,000. */
import { describe, expect, test, vi } from "vitest";
import type { OpenMemory } from "../../app/compose.ts";
import { keepNewestCalls, TOOL_HISTORY_LIMITS } from "../../app/tool-history.ts";
import { exportLines } from "../../app/transfer/export-lines.ts";
import type { ToolAudit } from "../../engine/audit/audit-rows.ts";
import { namespaceOf } from "../../engine/store/namespace.ts";
import { importLines } from "../transfer/import-lines.ts";
import { inTurn, NOW, openMemoryInProcess, openTestMemory, TestClock } from "./fixtures/memories.ts";

const AT = NOW / 1_000;
const ANA = "ana";
const FACT = { key: "deploy", value: "Staging first." };
// Assembled here, so that secret scanners do not report this file.
const TOKEN = ["ghp", "0123456789abcdefghijklmnopqrstuvwxyz"].join("_");

const call = (change: Partial<ToolAudit> = {}): ToolAudit => ({
  tool: "exec",
  outcome: "ok",
  at_unix: AT,
  ...change,
});

async function documentsOf(memory: OpenMemory, subject = ANA): Promise<readonly string[]> {
  const { chunks } = await memory.corpusPage(subject, { limit: 100 });
  return chunks.map(({ content }) => content);
}

describe("a recorded call", () => {
  test("is a document of the kind tool, counted and shown completely", async () => {
    const memory = await openTestMemory();
    const inputs = { path: "notes/lichen.md" };
    const writer = { surface: "openclaw", agent: "main", sessionKind: "direct" };
    await memory.recordToolCall(ANA, call({ tool: "write", duration_ms: 12, inputs }), writer);
    const { chunks } = await memory.corpusPage(ANA, {});
    expect(chunks).toMatchObject([
      {
        collection: "helmdeck-tool_history",
        path: expect.stringMatching(/^helmdeck\/tool_history\/tool_history\/write\/\d{20}\.md$/),
        title: "Tool call: write",
        content:
          "## Tool call: write\n\nOutcome: ok\nAt: 2026-11-20T12:00:00Z\nDuration: 12ms\n\nInputs used:\n- path: notes/lichen.md",
        metadata: {
          kind: "tool",
          category: "tool_history",
          tool: "write",
          outcome: "ok",
          written_by: "agent main (direct)",
          expires_at: "2026-12-20T12:00:00.000Z",
        },
      },
    ]);
    const overview = await memory.readDocument(ANA, { path: "helmdeck/my-memory.md" });
    expect(overview?.content).toMatch(/tool_history.*1/);
    const path = chunks[0]?.path ?? "";
    expect((await memory.readDocument(ANA, { path }))?.entry).toMatchObject({ kind: "tool" });
    expect(await memory.readDocument("ben", { path })).toBeUndefined();
  });

  test("has no effect on learnt defaults", async () => {
    const memory = await openTestMemory();
    await memory.recordPackRun(ANA, { pack: "lint", outcome: "ok", at_unix: AT });
    await inTurn(Array.from({ length: 120 }), () => memory.recordToolCall(ANA, call()));
    expect(await memory.defaults(ANA)).toMatchObject({
      packs: [{ id: "lint", calls: 1 }],
      recent: [{ kind: "pack", id: "lint" }],
    });
  });

  test("keeps no input that looks like a credential, even if truncation would split it", async () => {
    const memory = await openTestMemory();
    const inputs = { path: "a.md", command: `login ${TOKEN}`, late: `${"x ".repeat(90)}${TOKEN}` };
    await memory.recordToolCall(ANA, call({ inputs }));
    const [document = ""] = await documentsOf(memory);
    expect(document).toContain("path: a.md");
    expect(document).not.toMatch(/ghp|command|late/);
  });

  test("of a pack or pipeline keeps no input and no finding that looks like a credential either", async () => {
    const memory = await openTestMemory();
    const learn_inputs = { model: "m-1", title: `login ${TOKEN}`, voice: `${"x ".repeat(90)}${TOKEN}` };
    const findings = [
      { code: "E1", severity: "high", file: "a.md" },
      { code: "E2", severity: TOKEN },
    ];
    await memory.recordPackRun(ANA, { pack: "lint", outcome: "ok", at_unix: AT, learn_inputs, findings });
    const run = { pipeline: "nightly", run_id: "r-1", outcome: "succeeded", at_unix: AT } as const;
    await memory.recordPipelineRun(ANA, { ...run, learn_inputs });
    const documents = await documentsOf(memory);
    expect(documents).toHaveLength(2);
    for (const document of documents) expect(document).toContain("model: m-1");
    expect(documents.join()).toContain("E1");
    expect(documents.join()).not.toMatch(/ghp|title|voice|E2/);
  });

  test("is refused when it is malformed, and its category is reserved", async () => {
    const memory = await openTestMemory();
    const malformed = { ...call(), result: "s3cret" } as ToolAudit; // a host may pass any value
    await expect(memory.recordToolCall(ANA, malformed)).rejects.toMatchObject({ code: "invalid_input" });
    await expect(memory.storeFact(ANA, { ...FACT, category: "tool_history" })).rejects.toThrow(
      "tool_history is reserved",
    );
  });

  test("does not affect a fact with the same key", async () => {
    const memory = await openTestMemory();
    await memory.recordToolCall(ANA, call());
    const { categories } = await memory.myMemory(ANA);
    const key = categories[0]?.recentKeys[0] ?? "";
    await memory.storeFact(ANA, { key, value: "mine" });
    await memory.forget(ANA, { scope: "tools" });
    expect((await memory.getFact(ANA, { key }))?.value).toBe("mine");
  });
});

describe("forgetting", () => {
  test.each([
    ["tools", 3],
    ["tool:exec", 2],
    ["packs", 1],
    ["all", 5],
    ["everything", 5],
  ])("%s deletes %i", async (scope, deleted) => {
    const memory = await openTestMemory();
    await memory.storeFact(ANA, FACT);
    await memory.recordPackRun(ANA, { pack: "exec", outcome: "ok", at_unix: AT });
    for (const tool of ["exec", "exec", "write"]) await memory.recordToolCall(ANA, call({ tool }));
    await memory.recordToolCall("ben", call());
    expect(await memory.forget(ANA, { scope, dryRun: true })).toMatchObject({ deleted });
    expect(await memory.forget(ANA, { scope })).toMatchObject({ deleted, erased: "complete" });
    expect(await documentsOf(memory)).toHaveLength(5 - deleted);
    expect(await documentsOf(memory, "ben")).toHaveLength(1);
  });
});

// verifies P-audit-tools
describe("the records of many calls", () => {
  const { rows, lookEvery } = TOOL_HISTORY_LIMITS;
  const countOf = (memory: OpenMemory, subject = ANA) =>
    memory.store.countWhere({
      namespace: namespaceOf(subject),
      origins: ["audit"],
      category: "tool_history",
    });

  test("are limited to the newest 5,000; other callers' calls, packs and facts are kept", async () => {
    const clock = new TestClock();
    const memory = await openMemoryInProcess(clock.now);
    await memory.storeFact(ANA, FACT);
    await memory.recordPackRun(ANA, { pack: "lint", outcome: "ok", at_unix: AT });
    await memory.recordToolCall("ben", call());
    let most = 0;
    await inTurn([...Array(rows + 3 * lookEvery).keys()], async (number) => {
      clock.pass(10);
      await memory.recordToolCall(ANA, call({ inputs: { path: `${number}.md` } }));
      if (number >= rows - lookEvery) most = Math.max(most, await countOf(memory));
    });
    expect(most).toBe(rows);
    expect(await countOf(memory)).toBeGreaterThan(rows - lookEvery);
    const [newest = ""] = await documentsOf(memory);
    expect(newest).toContain(`path: ${rows + 3 * lookEvery - 1}.md`);
    expect(await countOf(memory, "ben")).toBe(1);
    expect(await memory.status(ANA)).toMatchObject({ subject: { facts: 1 } });
    expect((await memory.defaults(ANA)).packs).toHaveLength(1);
  });

  test("are counted only every hundred calls, and again after a failure", async () => {
    const memory = await openMemoryInProcess();
    const looks = vi.spyOn(memory.store, "countWhere").mockRejectedValueOnce(new Error("locked"));
    await expect(memory.recordToolCall(ANA, call())).rejects.toThrow("locked");
    await inTurn(Array.from({ length: lookEvery }), () => memory.recordToolCall(ANA, call()));
    expect(looks).toHaveBeenCalledTimes(2);
    await memory.recordToolCall(ANA, call());
    expect(looks).toHaveBeenCalledTimes(3);
  });

  test("are erased beyond the newest, whatever the order of writing", async () => {
    const memory = await openTestMemory();
    for (const tool of ["a", "b", "c", "d"]) await memory.recordToolCall(ANA, call({ tool }));
    const kept = async () => (await documentsOf(memory)).map((text) => /call: (\w)/.exec(text)?.[1]);
    const before = await kept();
    await keepNewestCalls(memory.store, namespaceOf(ANA), 4);
    expect(await kept()).toEqual(before);
    await keepNewestCalls(memory.store, namespaceOf(ANA), 2);
    expect(await kept()).toEqual(before.slice(0, 2));
  });
});

// verifies P-transfer-whole
describe("an export", () => {
  async function linesOf(memory: OpenMemory): Promise<readonly string[]> {
    const lines: string[] = [];
    const onProblem = (problem: unknown) => void lines.push(JSON.stringify(problem));
    for await (const line of exportLines({ memory, subject: ANA, onProblem })) lines.push(line);
    return lines;
  }

  async function* inputOf(lines: readonly string[]): AsyncGenerator<Uint8Array> {
    for (const line of lines) yield Buffer.from(`${line}\n`);
  }

  test("of calls restores every field", async () => {
    const memory = await openTestMemory();
    const writer = { surface: "openclaw", agent: "main" };
    await memory.recordToolCall(
      ANA,
      call({ outcome: "failed", duration_ms: 3, inputs: { path: "a" } }),
      writer,
    );
    const lines = await linesOf(memory);
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { audit: "tool", tool: "exec", outcome: "failed", duration_ms: 3, inputs: { path: "a" } },
    ]);
    const other = await openTestMemory();
    const input = inputOf(lines);
    expect(await importLines({ memory: other, subject: ANA, input })).toMatchObject({
      audit: 1,
      refusedCount: 0,
    });
    expect(await linesOf(other)).toEqual(lines);
  });

  test("of too many is imported up to the newest 5,000", async () => {
    const memory = await openMemoryInProcess();
    const lines = Array.from({ length: TOOL_HISTORY_LIMITS.rows + 7 }, (_, number) =>
      JSON.stringify({ audit: "tool", ...call({ at_unix: AT - number }) }),
    );
    await importLines({ memory, subject: ANA, input: inputOf(lines) });
    const { categories } = await memory.myMemory(ANA);
    expect(categories).toMatchObject([{ name: "tool_history", count: TOOL_HISTORY_LIMITS.rows }]);
  });
});
