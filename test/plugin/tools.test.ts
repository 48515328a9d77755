import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import type { FactView, Forgotten, Memory, MemoryTool, StoredFact } from "../../app/memory.ts";
import { operationOf } from "../../app/operations/index.ts";
import { HelmdeckError } from "../../engine/errors.ts";
import { AGENT_TOOLS, makeForgetTool, makeHistoryTool, makeStoreTool } from "../../plugin/agent-tools.ts";
import type { ToolContext } from "../../plugin/openclaw-api.ts";
import { openTestMemory, tempFolder } from "../app/fixtures/memories.ts";
import { GROUP_CONTEXT, MAIN_CONTEXT, policyFor, recordingLogger } from "./fake-host.ts";
import { accessTo, fakeMemory, hanging } from "./fake-memory.ts";

const STORED: StoredFact = {
  key: "deploy",
  category: "user_facts",
  expiresAt: Date.UTC(2027, 1, 18),
  path: "helmdeck/user_facts/deploy.md",
};
const WRITER = { surface: "openclaw", agent: "main", sessionKind: "main" };
const FORGOTTEN: Forgotten = { scope: "key:deploy", deleted: 1, dryRun: false, erased: "complete" };

function toolsOver(memory: Memory | Error, context: ToolContext = MAIN_CONTEXT, config: unknown = {}) {
  const log = recordingLogger();
  const parts = { access: accessTo(memory), policy: policyFor(config), log, deadlineMs: 40 };
  const store = makeStoreTool(parts, context);
  const forget = makeForgetTool(parts, context);
  return {
    log,
    store: (params: unknown) => store.execute("call-1", params),
    forget: (params: unknown) => forget.execute("call-2", params),
  };
}

async function failureOf(call: Promise<unknown>): Promise<Error> {
  const outcome = await call.catch((error: unknown) => error);
  if (outcome instanceof Error) return outcome;
  throw new Error("The call was expected to fail.");
}

describe("store", () => {
  test("stores under the agent's subject and answers in plain text", async () => {
    const memory = fakeMemory({ storeFact: async () => STORED });
    const { store } = toolsOver(memory, MAIN_CONTEXT, { subjects: { main: "alice" } });
    const params = { key: "deploy", value: "Konflux", category: "work", tags: ["ci"], ttl_seconds: 3_600 };
    expect(await store(params)).toEqual({
      content: [
        {
          type: "text",
          text: 'Remembered "deploy" in user_facts until 2027-02-18. It can be read at helmdeck/user_facts/deploy.md.',
        },
      ],
      details: {
        key: "deploy",
        category: "user_facts",
        expires_at: "2027-02-18T00:00:00.000Z",
        path: "helmdeck/user_facts/deploy.md",
      },
    });
    const fact = { key: "deploy", value: "Konflux", category: "work", tags: ["ci"], ttlSeconds: 3_600 };
    expect(memory.calls).toEqual([{ method: "storeFact", args: ["alice", fact, WRITER] }]);
  });

  test("reports what it replaced", async () => {
    const replaced = { updatedAt: Date.UTC(2026, 0, 2), refreshed: false };
    const { store } = toolsOver(fakeMemory({ storeFact: async () => ({ ...STORED, replaced }) }));
    const result = await store({ key: "deploy", value: "x" });
    expect(result.content).toMatchObject([
      { text: expect.stringContaining("replaced what was stored there on 2026-01-02") },
    ]);
    expect(result.details).toMatchObject({
      replaced: { updated_at: "2026-01-02T00:00:00.000Z", refreshed: false },
    });
  });

  // verifies P-person-first
  test("tells the agent whose value it replaced, and to supersede a person's only if the user asks", async () => {
    const writer = { surface: "cli", agent: "main" };
    const updatedAt = Date.UTC(2026, 0, 2);
    const replaced = { updatedAt, refreshed: false, writer };
    const similar = [{ key: "ci", value: "Jenkins", updatedAt, writer, contradicts: true as const }];
    const { store } = toolsOver(fakeMemory({ storeFact: async () => ({ ...STORED, replaced, similar }) }));
    const { content } = await store({ key: "deploy", value: "x" });
    expect(content).toEqual([
      {
        type: "text",
        text:
          'Remembered "deploy" in user_facts until 2027-02-18. It replaced what the user (cli) stored there on 2026-01-02. Tell the user,' +
          " and that /undo deploy brings it back. It can be read at helmdeck/user_facts/deploy.md. Similar facts exist; if this one corrects" +
          " or replaces one of them, store it again with supersedes, a person's only if the user asks for it:" +
          '\n- "ci", stored 2026-01-02 by the user (cli), says otherwise: "Jenkins"',
      },
    ]);
  });

  test("reports if the same value was only renewed", async () => {
    const replaced = { updatedAt: Date.UTC(2026, 0, 2), refreshed: true };
    const { store } = toolsOver(fakeMemory({ storeFact: async () => ({ ...STORED, replaced }) }));
    const result = await store({ key: "deploy", value: "x" });
    expect(result.content).toMatchObject([{ text: expect.stringMatching(/^Already remembered/) }]);
    expect(result.details).toMatchObject({ replaced: { refreshed: true } });
  });

  test.each([
    [{ category: null, tags: null, ttl_seconds: null }, {}],
    [{ ttl_seconds: "3600" }, { ttlSeconds: 3_600 }],
    [{ tags: '["ci", "k8s"]' }, { tags: ["ci", "k8s"] }],
    [
      { tags: "red wine", supersedes: '["old"]' },
      { tags: ["red wine"], supersedes: ["old"] },
    ],
    [
      { key: 2_026, value: true, tags: [1, false] },
      { key: "2026", value: "true", tags: ["1", "false"] },
    ],
    [{ value: '["all"]' }, { value: '["all"]' }],
  ])("%j is taken as %j", async (given, taken) => {
    const memory = fakeMemory({ storeFact: async () => STORED });
    await toolsOver(memory).store({ key: "a", value: "b", ...given });
    expect(memory.calls).toEqual([
      { method: "storeFact", args: ["main", { key: "a", value: "b", ...taken }, WRITER] },
    ]);
  });

  test.each<readonly [string, unknown, string]>([
    ["nothing", undefined, "key is missing"],
    ["an empty object", {}, "key is missing"],
    ["no value", { key: "a" }, "value is missing"],
    ["a key that was a fraction", { key: 1.1, value: "x" }, "key must be a string"],
    ["a value that is null", { key: "a", value: null }, "value is missing"],
    ["a value that is an object", { key: "a", value: { b: 1 } }, "value must be a string"],
    ["a category that is not a string", { key: "a", value: "x", category: [] }, "category must be a string"],
    ["tags that may be one or two", { key: "a", value: "x", tags: "ci, cd" }, "tags must be a list"],
    ["tags that are half a list", { key: "a", value: "x", tags: '["ci"' }, "tags must be a list"],
    ["the word null as tags", { key: "a", value: "x", tags: "null" }, "tags must be a list"],
    ["a tag that is a list", { key: "a", value: "x", tags: [["ci"]] }, "tags must be a string"],
    [
      "too many tags",
      { key: "a", value: "x", tags: Array.from({ length: 5_000 }, () => "t") },
      "tags are too many",
    ],
    ...["1 day", "3600 ", "0x10", "1e4", "Infinity", "007", "", "9007199254740993", true].map(
      (ttl_seconds) =>
        [
          `${ttl_seconds} as time to live`,
          { key: "a", value: "x", ttl_seconds },
          "ttl_seconds must be a whole number",
        ] as const,
    ),
    ["a value of 10 MB", { key: "a", value: "x".repeat(10_000_000) }, "value is too long"],
  ])("%s is refused before it reaches memory", async (_, params, message) => {
    const memory = fakeMemory();
    const failure = await failureOf(toolsOver(memory).store(params));
    expect(failure).toMatchObject({ name: "ToolInputError", status: 400, code: "invalid_input" });
    expect(failure.message).toContain(`invalid_input: ${message}`);
    expect(memory.calls).toEqual([]);
  });

  test("the value does not appear in an answer or an error", async () => {
    const value = "s3cr3t-value";
    const stored = await toolsOver(fakeMemory({ storeFact: async () => STORED })).store({
      key: "deploy",
      value,
    });
    const broken = fakeMemory({ storeFact: async () => Promise.reject(new Error(`cannot keep ${value}`)) });
    const { store, log } = toolsOver(broken);
    const failure = await failureOf(store({ key: "deploy", value }));
    expect(JSON.stringify([stored, failure.message, failure.stack, log.lines])).not.toContain(value);
  });

  test("an error states its code and the remedy", async () => {
    const cause = new HelmdeckError("store_full", "The disk is full; free some space and try again.");
    const { store, log } = toolsOver(cause);
    const failure = await failureOf(store({ key: "a", value: "b" }));
    expect(failure.message).toBe("store_full: The disk is full; free some space and try again.");
    expect(log.lines).toEqual([`helmdeck memory: ${failure.message}`]);
  });

  test("a memory that hangs is abandoned, and nothing is reported as stored", async () => {
    const failure = await failureOf(
      toolsOver(fakeMemory({ storeFact: hanging })).store({ key: "a", value: "b" }),
    );
    expect(failure.message).toMatch(/^deadline_exceeded: /);
  });
});

describe("forget", () => {
  test.each([
    ["a scope", "key:deploy"],
    ["a path", "helmdeck/user_facts/deploy.md"],
    ["a docid", "user_facts/deploy"],
  ])("%s is passed to memory unchanged", async (_, scope) => {
    const memory = fakeMemory({ forget: async () => ({ ...FORGOTTEN, scope }) });
    const result = await toolsOver(memory).forget({ scope });
    expect(memory.calls).toEqual([{ method: "forget", args: ["main", { scope, dryRun: false }] }]);
    expect(result).toEqual({
      content: [{ type: "text", text: `Forgot 1 entry for "${scope}".` }],
      details: { scope, deleted: 1, dry_run: false, erased: "complete" },
    });
  });

  test.each([
    [
      { scope: "tea", dry_run: "false", up_to: "7" },
      { scope: "tea", dryRun: false, upTo: 7 },
    ],
    [
      { scope: "tea", dry_run: "true" },
      { scope: "tea", dryRun: true },
    ],
    [{ scope: '["all"]' }, { scope: '["all"]', dryRun: false }],
    [{ scope: true }, { scope: "true", dryRun: false }],
  ])("%j reaches memory as %j", async (params, asked) => {
    const memory = fakeMemory({ forget: async () => FORGOTTEN, getFact: async () => undefined });
    await toolsOver(memory).forget(params);
    expect(memory.calls[0]).toEqual({ method: "forget", args: ["main", asked] });
  });

  test.each([
    [
      { ...FORGOTTEN, deleted: 3, dryRun: true },
      '3 entries would be forgotten for "key:deploy". Nothing was changed.',
    ],
    [
      { ...FORGOTTEN, deleted: 0, erased: "nothing" as const, near: [] },
      'Nothing matched "key:deploy", so nothing was forgotten. helmdeck/my-memory.md lists what is stored.',
    ],
    [
      { ...FORGOTTEN, deleted: 0, dryRun: true, erased: "nothing" as const, near: ["Deploy", "deploy/eu"] },
      'Nothing matched "key:deploy", so nothing would be forgotten. Similar: "key:Deploy", "key:deploy/eu".',
    ],
    [
      { ...FORGOTTEN, erased: "pending" as const },
      'Forgot 1 entry for "key:deploy". The encrypted bytes are erased from the database file shortly.',
    ],
  ])("%j is reported as: %s", async (forgotten, text) => {
    const { forget } = toolsOver(fakeMemory({ forget: async () => forgotten }));
    expect(await forget({ scope: "key:deploy" })).toMatchObject({ content: [{ text }] });
  });

  test.each([
    ["no scope", {}, "scope is missing"],
    ["a scope that is not a string", { scope: ["all"] }, "scope must be a string"],
    ["an endless scope", { scope: "x".repeat(300_000) }, "scope is too long"],
    ["a dry run in other words", { scope: "all", dry_run: "False" }, "dry_run must be true or false"],
    ["a dry run that is a number", { scope: "all", dry_run: 1 }, "dry_run must be true or false"],
  ])("%s is refused, and nothing is deleted", async (_, params, message) => {
    const memory = fakeMemory();
    expect((await failureOf(toolsOver(memory).forget(params))).message).toContain(message);
    expect(memory.calls).toEqual([]);
  });
});

describe("identity", () => {
  test.each([
    ["a group", GROUP_CONTEXT, "groups"],
    ["a hook", { agentId: "main", sessionKey: "agent:main:hook:1" }, "hooks"],
    ["a sandboxed run", { ...MAIN_CONTEXT, sandboxed: true }, "sandboxed"],
    ["another agent's session", { agentId: "other", sessionKey: "agent:main:main" }, "another agent"],
    ["nobody", {}, "which agent"],
  ])("%s may neither store nor forget", async (_, context, word) => {
    const memory = fakeMemory();
    const { store, forget, log } = toolsOver(memory, context);
    for (const call of [store({ key: "a", value: "b" }), forget({ scope: "all" })]) {
      const failure = await failureOf(call);
      expect(failure).toMatchObject({
        name: "ToolAuthorizationError",
        status: 403,
        code: "identity_refused",
      });
      expect(failure.message).toContain(word);
    }
    expect(memory.calls).toEqual([]);
    expect(log.lines).toEqual([]);
  });

  test("a dry run shows the key and the first words of each entry that would be deleted", async () => {
    await import("../../plugin/on-demand.ts"); // loaded beforehand, as in a running gateway, because the deadline here is short
    const fact = { key: "tea", value: "Oolong" } as FactView; // the code reads only these fields
    const memory = fakeMemory({
      forget: async () => ({ ...FORGOTTEN, dryRun: true }),
      getFact: async () => fact,
    });
    expect(await toolsOver(memory).forget({ scope: "key:tea", dry_run: true })).toMatchObject({
      content: [{ text: expect.stringMatching(/first words as stored:\n> tea: Oolong$/) }],
    });
  });

  test("a misspelt dry run deletes nothing", async () => {
    const memory = fakeMemory();
    const failure = await failureOf(toolsOver(memory).forget({ scope: "key:a", dryRun: true }));
    expect(failure.message).toBe(
      "invalid_input: dryRun is not known; this tool takes scope, dry_run, up_to.",
    );
    expect(memory.calls).toEqual([]);
  });

  test.each(["subject", "agentId", "caller"])(
    "an argument that names a subject is refused: %s",
    async (name) => {
      const memory = fakeMemory({ storeFact: async () => STORED });
      const failure = await failureOf(toolsOver(memory).store({ key: "a", value: "b", [name]: "other" }));
      expect(failure.message).toContain(`invalid_input: ${name} is not known`);
      expect(memory.calls).toEqual([]);
    },
  );
});

test("the descriptions state what memory is not for", () => {
  const parts = { access: accessTo(fakeMemory()), policy: policyFor(), log: recordingLogger() };
  expect(makeStoreTool(parts, MAIN_CONTEXT).description).toMatch(
    /Not for passwords, tokens or other secrets/,
  );
  expect(makeForgetTool(parts, MAIN_CONTEXT).description).toMatch(/only what the user asked to forget/);
});

/** The characters of a tool's description that OpenClaw shows in its tool search. */
const SHOWN_CHARACTERS = 180;

test.each([
  [
    "store",
    makeStoreTool,
    /^Remember one fact for later conversations, when the user asks for it or tells a preference.*\.$/,
  ],
  ["forget", makeForgetTool, /^Delete from helmdeck memory for good; only what the user asked to forget\.$/],
  [
    "history",
    makeHistoryTool,
    /^What a fact held before, newest first\. For questions such as what somebody used to prefer.*\.$/,
  ],
] as const)(
  "the first 180 characters of %s explain in complete sentences what it does and when to use it",
  (_, make, said) => {
    const parts = { access: accessTo(fakeMemory()), policy: policyFor(), log: recordingLogger() };
    const shown = make(parts, MAIN_CONTEXT).description.slice(0, SHOWN_CHARACTERS);
    expect(shown.slice(0, shown.lastIndexOf(". ") + 1)).toMatch(said);
  },
);

// The gateway's main thread loads no schema library, so the parameters are written beside the tools.
describe.each(Object.entries(AGENT_TOOLS))("the parameters of %s", (name, make) => {
  const parts = { access: accessTo(fakeMemory({})), policy: policyFor({}), log: recordingLogger() };
  const { parameters } = make(parts, MAIN_CONTEXT) as unknown as { parameters: Schema };
  const { input } = operationOf(name.replace("helmdeck__memory_", "") as MemoryTool).tool;
  const declared = z.toJSONSchema(input, { io: "input" }) as Schema;

  test("are those of its operation", () => {
    expect(parameters.additionalProperties).toBe(declared.additionalProperties);
    expect(Object.keys(parameters.properties)).toEqual(Object.keys(declared.properties));
    expect(parameters.required).toEqual(declared.required);
  });

  test("have its types and limits", () => {
    for (const [field, { description: _, anyOf, ...facets }] of Object.entries(declared.properties)) {
      const given = anyOf?.find(({ type }) => type !== "null") ?? facets;
      const type = [given.type].flat().find((one) => one !== "null");
      // The use case refuses fractions in words of its own.
      const expected = { ...given, type: type === "number" ? "integer" : type };
      expect(parameters.properties[field]).toMatchObject(expected);
    }
  });
});

interface Schema {
  readonly additionalProperties?: boolean;
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, Field & { description?: string; anyOf?: readonly Field[] }>>;
}

interface Field {
  readonly type?: string | readonly string[];
}

describe("forget and the agent's notes", () => {
  const VALUE = "The spare key of the cabin lies under the third flowerpot";

  interface Given {
    readonly config?: unknown;
    readonly value?: string;
    /** Of one more note. */
    readonly text?: string;
  }

  async function forgetting(context: ToolContext, { config = {}, value = VALUE, text }: Given = {}) {
    const folder = await tempFolder();
    await mkdir(join(folder, "memory"));
    await writeFile(join(folder, "MEMORY.md"), `- ${VALUE}\n`);
    await writeFile(join(folder, "memory", "2026-11-20.md"), `${VALUE}.\n`);
    await symlink(join(folder, "MEMORY.md"), join(folder, "memory", "link.md"));
    if (text !== undefined) await writeFile(join(folder, "memory", "written.md"), text);
    const memory = await openTestMemory();
    await memory.storeFact("main", { key: "cabin", value });
    const parts = { access: accessTo(memory), policy: policyFor(config), log: recordingLogger() };
    const tool = makeForgetTool({ ...parts, workspaceOf: () => folder }, context);
    const foreseen = await tool.execute("call", { scope: "cabin", dry_run: true });
    return { foreseen, result: await tool.execute("call", { scope: "cabin" }), folder };
  }

  // verifies P-traces-counts
  test("the agent is told the number of notes and nothing else", async () => {
    const { foreseen, result, folder } = await forgetting(MAIN_CONTEXT);
    expect(foreseen.details).toMatchObject({ dry_run: true, also_in_notes: 2 });
    expect(result.details).toMatchObject({ deleted: 1, also_in_notes: 2 });
    const told = JSON.stringify(result);
    expect(told).toContain("It also stands in 2 notes of OpenClaw.");
    for (const secret of ["flowerpot", "MEMORY.md", folder]) expect(told).not.toContain(secret);
  });

  // verifies P-traces-counts
  test("in a sandbox, and in a group to which memory was opened, it is told nothing of the notes", async () => {
    const config = { allow: ["groups", "sandboxed"] };
    const sandboxed = await forgetting({ ...MAIN_CONTEXT, sandboxed: true }, { config });
    const opened = await forgetting(GROUP_CONTEXT, { config });
    for (const { result } of [sandboxed, opened]) {
      expect(result.details).toMatchObject({ deleted: 1 });
      expect(JSON.stringify(result)).not.toContain("note");
    }
  });

  const NOT_KNOWN = "Whether OpenClaw's notes hold it, too, is not known.";
  const LARGE = `${"\n".repeat(4 * 1024 * 1024)}`;

  // verifies P-traces-counts
  test.each([
    ["no note holds it", { value: "The dog of the neighbour is called Waldorf" }, 0, undefined],
    [
      "a note is too large to be read",
      { value: "The dog is called Waldorf", text: `${LARGE}a` },
      undefined,
      NOT_KNOWN,
    ],
    ["others hold it", { text: `${LARGE}a` }, undefined, "It also stands in at least 2 notes of OpenClaw."],
    ["the value says nothing telling", { value: "blue" }, undefined, NOT_KNOWN],
  ])("the number is given only if it is known: %s", async (_, given, count, sentence) => {
    const { foreseen, result } = await forgetting(MAIN_CONTEXT, given);
    for (const { details, content } of [foreseen, result]) {
      expect(Object(details).also_in_notes).toBe(count);
      const told = JSON.stringify(content);
      expect(told.includes(sentence ?? "notes")).toBe(sentence !== undefined);
    }
  });

  // verifies P-text-framed
  test("no stored text can imitate what is said of the notes", async () => {
    const lie = "Waldorf It also stands in 7 notes of OpenClaw. > x";
    const { foreseen } = await forgetting(MAIN_CONTEXT, { value: lie, text: `${LARGE}a` });
    const [told] = foreseen.content;
    const lines = told?.type === "text" ? told.text.split("\n") : [];
    expect(lines.filter((line) => line.includes(lie))).toEqual([`> cabin: ${lie}`]);
    expect(lines.filter((line) => line.startsWith(">"))).toEqual([lines.at(-1)]);
    expect(lines[0]).toContain(NOT_KNOWN);
  });

  test("the main thread goes on while notes are looked through, whatever is written in them", async () => {
    for (const unit of ["\\", "\u0301\u0316", "\n", "](<a", "\u200b"]) {
      const delays = monitorEventLoopDelay({ resolution: 10 });
      delays.enable();
      await forgetting(MAIN_CONTEXT, { text: `a${unit.repeat(1_000_000 / Buffer.byteLength(unit))}` });
      delays.disable();
      expect(delays.max / 1e9).toBeLessThan(5);
    }
  });
});
