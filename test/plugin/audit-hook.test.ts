import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PackAudit, ToolAudit } from "../../engine/audit/audit-rows.ts";
import { auditRowOf, makeAuditHook } from "../../plugin/audit-hook.ts";
import {
  configOf,
  GROUP_CONTEXT,
  MAIN_CONTEXT,
  policyFor,
  recordingLogger,
  sandboxing,
} from "./fake-host.ts";
import { accessTo, fakeMemory } from "./fake-memory.ts";

const SERVERS = ["helmdeck"];
const NOW_MS = 1_795_217_465_123;

/** The host's event for a finished call of an MCP tool, as recorded from OpenClaw 2026.9.6. */
function finished(change: Record<string, unknown> = {}) {
  return {
    toolName: "helmdeck__github-list_issues",
    params: { repo: "a/b", persona: "maintainer", token: "s3cr3t" },
    runId: "run-1",
    toolCallId: "tool_search_code:call_0:helmdeck__github-list_issues:1",
    result: {
      content: [{ type: "text", text: "issue 1: leak of s3cr3t" }],
      details: { mcpServer: "helmdeck", mcpTool: "github.list_issues" },
    },
    durationMs: 18.6,
    ...change,
  };
}

function failed(text: string, change: Record<string, unknown> = {}) {
  return finished({
    result: {
      content: [{ type: "text", text }],
      details: { mcpServer: "helmdeck", mcpTool: "github.list_issues", status: "error" },
    },
    error: text,
    ...change,
  });
}

const rowOf = (event: unknown, servers: readonly string[] = SERVERS) => auditRowOf(event, servers, NOW_MS);

describe("the row of a run", () => {
  test("contains only the tool's own name, outcome, time, duration and learnable inputs", () => {
    expect(rowOf(finished())).toEqual({
      pack: "github.list_issues",
      outcome: "ok",
      at_unix: 1_795_217_465,
      duration_ms: 19,
      learn_inputs: { persona: "maintainer" },
    });
  });

  test("never contains a result or another input", () => {
    expect(JSON.stringify(rowOf(finished()))).not.toContain("s3cr3t");
    expect(JSON.stringify(rowOf(failed('{"error":"s3cr3t value","message":"s3cr3t"}')))).not.toContain(
      "s3cr3t",
    );
  });

  test.each([
    ["helmdeck's error body", '{"error":"handler_failed","message":"no"}', "handler_failed"],
    ["a body with a code", '{"code":"rate_limited"}', "rate_limited"],
    ["a code before the text", "invalid_input: repo is missing", "invalid_input"],
    ["free text", "something went wrong", "error"],
    ["one word before a colon", "timeout: of what", "error"],
    ["a body that is no JSON", '{"error":', "error"],
    ["an invalid code", '{"error":"Drop Table"}', "error"],
    ["no text at all", "", "error"],
  ])("has the outcome of a failure with %s", (_, text, outcome) => {
    expect(rowOf(failed(text))).toMatchObject({ outcome });
  });

  test("has the tool's name if the call failed without a result", () => {
    const thrown = finished({ result: undefined, error: "connection closed" });
    expect(rowOf(thrown)).toMatchObject({ pack: "github-list_issues", outcome: "error" });
  });

  test("omits an invalid duration", () => {
    for (const durationMs of [undefined, -1, Number.NaN, "7"]) {
      expect(rowOf(finished({ durationMs }))).not.toHaveProperty("duration_ms");
    }
  });
});

describe("recorded calls", () => {
  test.each([
    ["OpenClaw's own tool", { toolName: "exec" }],
    ["the outer call of Tool Search", { toolName: "tool_call" }],
    ["another server's tool", { toolName: "github__list_issues" }],
    ["a server with the same name prefix", { toolName: "helmdeck2__x" }],
    ["the plugin's own store tool", { toolName: "helmdeck__memory_store" }],
    ["the plugin's own forget tool", { toolName: "helmdeck__memory_forget" }],
    ["helmdeck's store tool beside the plugin's", { toolName: "helmdeck__memory_store-2" }],
    ["helmdeck's dotted store tool", { toolName: "helmdeck__helmdeck-memory_store" }],
    ["a tool without a name", { toolName: "helmdeck__" }],
    ["no tool name", { toolName: undefined }],
    ["an endless name", { toolName: `helmdeck__${"x".repeat(200)}` }],
  ])("do not include %s", (_, change) => {
    expect(rowOf(finished({ result: undefined, ...change }))).toBeUndefined();
  });

  test("do not include helmdeck's memory tools, recognised by the name in the result", () => {
    for (const mcpTool of ["helmdeck.memory_store", "memory_forget"]) {
      const result = { content: [], details: { mcpServer: "helmdeck", mcpTool } };
      expect(rowOf(finished({ toolName: "helmdeck__other", result }))).toBeUndefined();
    }
  });

  test("ignore another server's name in a result", () => {
    const result = { content: [], details: { mcpServer: "evil", mcpTool: "innocent" } };
    expect(rowOf(finished({ result }))).toMatchObject({ pack: "github-list_issues" });
  });

  test("include those of servers whose names the host changes", () => {
    expect(
      rowOf(finished({ toolName: "my-deck__web-scrape", result: undefined }), ["my.deck"]),
    ).toMatchObject({
      pack: "web-scrape",
    });
    expect(rowOf(finished({ toolName: "mcp-2deck__x", result: undefined }), ["2deck"])).toMatchObject({
      pack: "x",
    });
  });

  test("are none if no server is configured", () => {
    expect(rowOf(finished(), [])).toBeUndefined();
  });

  test("never throw, whatever the call contains", () => {
    fc.assert(
      fc.property(fc.anything(), fc.anything(), fc.anything(), (params, result, error) => {
        expect(() => rowOf({ ...finished(), params, result, error })).not.toThrow();
        expect(() => rowOf(result)).not.toThrow();
      }),
    );
  });
});

describe("the hook", () => {
  function hookOver(config: unknown = {}, host = {}) {
    const rows: { subject: string; row: PackAudit | ToolAudit }[] = [];
    const note = async (subject: string, row: PackAudit | ToolAudit) => void rows.push({ subject, row });
    const memory = fakeMemory({ recordPackRun: note, recordToolCall: note });
    const log = recordingLogger();
    const policy = policyFor(config, { config: host });
    const parts = { access: accessTo(memory), policy, log, servers: SERVERS, rules: configOf(config) };
    return { rows, log, hook: makeAuditHook(parts) };
  }

  test("writes one row into the memory of the agent that ran the tool", async () => {
    const { hook, rows } = hookOver({ subjects: { main: "alice" } });
    await hook(finished(), MAIN_CONTEXT);
    expect(rows).toMatchObject([{ subject: "alice", row: { pack: "github.list_issues" } }]);
  });

  test("writes one row for a call that is reported twice, and two for two calls", async () => {
    const { hook, rows } = hookOver();
    await hook(finished(), MAIN_CONTEXT);
    await hook(finished(), MAIN_CONTEXT);
    await hook({ ...finished(), toolName: "tool_call", toolCallId: "call_0" }, MAIN_CONTEXT);
    expect(rows).toHaveLength(1);
    await hook(finished({ toolCallId: "another" }), MAIN_CONTEXT);
    await hook(finished({ runId: "run-2" }), MAIN_CONTEXT);
    expect(rows).toHaveLength(3);
  });

  test("writes nothing while a first report of the same call is still being written", async () => {
    const { hook, rows } = hookOver();
    await Promise.all([hook(finished(), MAIN_CONTEXT), hook(finished(), MAIN_CONTEXT)]);
    expect(rows).toHaveLength(1);
  });

  test.each([
    ["a group", GROUP_CONTEXT],
    ["a hook", { agentId: "main", sessionKey: "agent:main:hook:1" }],
    ["another agent's session", { agentId: "other", sessionKey: "agent:main:main" }],
    ["no identity", {}],
    ["no context", undefined],
    ["an incognito session", { agentId: "main", sessionKey: "agent:main:dashboard:incognito-1" }],
  ])("writes nothing for %s", async (_, context) => {
    const { hook, rows, log } = hookOver();
    await hook(finished(), context);
    expect({ rows, lines: log.lines }).toEqual({ rows: [], lines: [] });
  });

  test("writes nothing for an agent that is sandboxed by configuration, because the host does not report it here", async () => {
    const { hook, rows } = hookOver({}, sandboxing("all"));
    await hook(finished(), MAIN_CONTEXT);
    expect(rows).toEqual([]);
  });

  test("a memory that does not open loses the row and logs one line, and does not affect the tool", async () => {
    const log = recordingLogger();
    const parts = {
      access: accessTo(new Error("s3cr3t")),
      policy: policyFor(),
      log,
      servers: SERVERS,
      rules: configOf(),
    };
    await expect(makeAuditHook(parts)(finished(), MAIN_CONTEXT)).resolves.toBeUndefined();
    expect(log.lines).toEqual(["helmdeck memory: a tool run was not recorded: internal: Error"]);
  });

  // verifies P-audit-tools
  describe("with auditTools all", () => {
    const exec = (change = {}) => ({
      ...{ toolName: "exec", params: { command: "curl -H 's3cr3t' x", path: "/s3cr3t" }, runId: "run-1" },
      ...{ toolCallId: "call_1", result: { content: [{ type: "text", text: "s3cr3t" }] }, durationMs: 12.4 },
      ...change,
    });
    const all = (config = {}) => hookOver({ auditTools: "all", ...config });
    const recorded = async (event: unknown, config = {}, context: unknown = MAIN_CONTEXT) => {
      const { hook, rows } = all(config);
      await hook(event, context);
      return rows.map(({ row }) => row);
    };

    test("writes a row for any tool with only name, outcome, time and duration", async () => {
      const { hook, rows } = all({ subjects: { main: "alice" } });
      await hook(exec(), MAIN_CONTEXT);
      const row = { tool: "exec", outcome: "ok", at_unix: expect.any(Number), duration_ms: 12, inputs: {} };
      expect(rows).toEqual([{ subject: "alice", row }]);
      expect(JSON.stringify(rows)).not.toContain("s3cr3t");
    });

    test("is off by default", async () => {
      const { hook, rows } = hookOver();
      await hook(exec(), MAIN_CONTEXT);
      expect(rows).toEqual([]);
    });

    test.each([
      ["an error", { error: "s3cr3t: no such file" }],
      ["a result with the status failed", { result: { details: { status: "failed" } } }],
      ["a program with an exit code other than 0", { result: { details: { exitCode: 2 } } }],
    ])("records a call with %s as failed", async (_, change) => {
      const rows = await recorded(exec(change));
      expect(rows).toMatchObject([{ outcome: "failed" }]);
      expect(JSON.stringify(rows)).not.toContain("s3cr3t");
    });

    test("keeps only the inputs that are allowed for the tool, as text", async () => {
      const inputsOf = async (event: unknown, auditInputs?: Record<string, readonly string[]>) => {
        const [row] = await recorded(event, { auditInputs });
        return row && "inputs" in row ? row.inputs : undefined;
      };
      const allowed = { Exec: ["workdir", "timeout"], write: [] };
      const params = { command: "s3cr3t", workdir: "/home", timeout: 7, path: "s3cr3t" };
      expect(await inputsOf(exec({ params }), allowed)).toEqual({ workdir: "/home" });
      const write = exec({ toolName: "write", params: { path: "a.md", content: "s3cr3t" } });
      expect(await inputsOf(write)).toEqual({ path: "a.md" });
      expect(await inputsOf(write, allowed)).toEqual({});
      expect(await inputsOf(exec(), { exec: ["constructor", "__proto__", "toString"] })).toEqual({});
    });

    test("writes no row for a denied tool, including helmdeck's own", async () => {
      const auditDeny = ["EXEC", "bank__*", "helmdeck__github-*"];
      expect(await recorded(exec(), { auditDeny })).toEqual([]);
      expect(await recorded(exec({ toolName: "bank__transfer" }), { auditDeny })).toEqual([]);
      expect(await recorded(finished(), { auditDeny })).toEqual([]);
      expect(await recorded(exec({ toolName: "execute" }), { auditDeny })).toHaveLength(1);
      expect(await recorded(exec({ toolName: "mybank__x" }), { auditDeny })).toHaveLength(1);
      expect(await recorded(exec({ toolName: "process" }), { auditDeny: "exec" })).toEqual([]);
    });

    test.each([
      ...["memory_search", "memory_get", "helmdeck__memory_store", "helmdeck__memory_forget"],
      ...[
        "helmdeck__memory_history",
        "helmdeck__memory_renew",
        "notes_memory_undo-3",
        "helmdeck-engine__helmdeck__memory_store",
        "x__helmdeck-memory_corpus-2",
      ],
      ...["tool_call", "tool_search", "tool_search_code", "tool_describe"],
      ...["", " ", "a\u202eb", "x".repeat(200), undefined, 7],
    ])("writes no row for %j", async (toolName) => {
      expect(await recorded(exec({ toolName }))).toEqual([]);
    });

    test("writes no row for a tool that its server names as a memory tool", async () => {
      const result = { details: { mcpServer: "notes", mcpTool: "helmdeck.memory_store" } };
      expect(await recorded(exec({ toolName: "notes__keep", result }))).toEqual([]);
    });

    test("records a helmdeck tool once, as its pack", async () => {
      const { hook, rows } = all();
      await hook(finished(), MAIN_CONTEXT);
      await hook(finished(), MAIN_CONTEXT);
      await hook(exec(), MAIN_CONTEXT);
      await hook(exec(), MAIN_CONTEXT);
      expect(rows.map(({ row }) => row)).toMatchObject([{ pack: "github.list_issues" }, { tool: "exec" }]);
    });

    test.each([
      ["groups", GROUP_CONTEXT],
      ["hooks", { agentId: "main", sessionKey: "agent:main:hook:1" }],
    ])(
      "writes no row in %s even if they are open, although a pack's run is recorded there",
      async (kind, context) => {
        const opened = { allow: [kind] };
        expect(await recorded(exec(), opened, context)).toEqual([]);
        expect(await recorded(finished(), opened, context)).toHaveLength(1);
      },
    );

    test("writes no row in a sandbox even if sandboxed runs are open", async () => {
      const host = sandboxing("all");
      const { hook, rows } = hookOver({ auditTools: "all", allow: ["sandboxed"] }, host);
      await hook(exec(), MAIN_CONTEXT);
      expect(rows).toEqual([]);
      await hook(finished(), MAIN_CONTEXT);
      expect(rows).toHaveLength(1);
    });
  });

  test("never rejects, whatever the host passes", async () => {
    const { hook } = hookOver({ auditTools: "all", auditInputs: { exec: ["command"] } });
    await fc.assert(
      fc.asyncProperty(fc.anything(), fc.anything(), async (event, context) => {
        await expect(hook(event, context)).resolves.toBeUndefined();
      }),
    );
  });
});
