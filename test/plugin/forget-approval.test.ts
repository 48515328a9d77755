/** A person is asked before an agent forgets a whole group of entries. Any failure of the question refuses the call. */
import { describe, expect, test } from "vitest";
import type { FactView, Memory } from "../../app/memory.ts";
import { makeApprovalHook } from "../../plugin/approval-hook.ts";
import { ASKED, AT_A_SCREEN, GROUP_CONTEXT, MAIN_CONTEXT, policyFor, refused } from "./fake-host.ts";
import { accessTo, fakeMemory, hanging } from "./fake-memory.ts";

const TOOL = "helmdeck__memory_forget";

/** A memory with this number of entries, which lists these facts. */
function holding(deleted: number, ...facts: readonly Pick<FactView, "key" | "value">[]): Memory {
  return fakeMemory({
    forget: async (_subject, { scope, dryRun }) => {
      expect(dryRun).toBe(true);
      return { scope, deleted, dryRun: true, erased: "nothing" };
    },
    listFacts: async () => ({ facts: facts as readonly FactView[], unreadable: [] }), // the code reads only keys and values
    getFact: async () => undefined,
    myMemory: async () => ({ scope: "main", fetchedAt: 0, categories: [] }),
  });
}
const TEA = holding(1, { key: "tea", value: "Oolong in the morning" });

interface Call {
  readonly tool?: string;
  readonly context?: object;
  readonly memory?: Memory | Error;
  readonly config?: unknown;
}

async function decide(params: unknown, call: Call = {}) {
  const { tool = TOOL, context = AT_A_SCREEN, memory = TEA, config = {} } = call;
  const hook = makeApprovalHook({ access: accessTo(memory), policy: policyFor(config), deadlineMs: 2_000 });
  return hook({ toolName: tool, params }, context);
}

// verifies P-forget-asks
describe("a person is asked", () => {
  test.each([
    ...["all", "everything", "packs", "pipelines", "tools", "category:work"],
    ...["pack:lint", "pipeline:x", "tool:exec"],
    ...[" all ", "\tall\n", "category: work ", "import:notes-1", " import: notes-1 "],
  ])("before %j is forgotten", async (scope) => {
    expect(await decide({ scope })).toMatchObject(ASKED);
  });

  test.each([false, "false", null])("even with a dry_run of %j", async (dry_run) => {
    const params = dry_run === null ? {} : { dry_run: false };
    expect(await decide({ scope: "all", dry_run })).toMatchObject({
      ...ASKED,
      params: { scope: "all", ...params },
    });
  });

  test.each([
    "helmdeck__helmdeck-memory_forget",
    "helmdeck-engine__helmdeck__memory_forget",
    "engine__helmdeck_memory_forget-2",
    "HELMDECK.MEMORY_FORGET",
    "helmdeck.memory_forget",
  ])("under every name of the tool: %s", async (tool) => {
    const asked = await decide({ scope: "all" }, { tool });
    expect(asked).toMatchObject(ASKED);
    expect(JSON.stringify(asked)).not.toContain("Oolong");
  });
});

// verifies P-forget-exact
describe("the call is limited to what the person is shown", () => {
  const asked = (params: object, deleted = 2) => {
    const limits: unknown[] = [];
    const memory = fakeMemory({
      ...holding(deleted),
      forget: async (_subject, { scope, upTo }) => {
        limits.push(upTo);
        return { scope, deleted, dryRun: true, erased: "nothing", revision: 40 };
      },
      listFacts: async () => ({ facts: [], unreadable: [] }),
    });
    return decide(params, { memory }).then((decision) => ({ decision, limits }));
  };

  test.each([
    ["the number of the count", {}, undefined, 40],
    ["an earlier number that the agent names", { up_to: 30 }, 30, 30],
    ["no later number that the agent names", { up_to: 50 }, 50, 40],
    ["a number that is written as a text", { up_to: "30" }, 30, 30],
  ])("by %s", async (_what, given, counted, limit) => {
    const { decision, limits } = await asked({ scope: "category:work", ...given });
    expect(limits).toEqual([counted]);
    expect(decision).toMatchObject({ ...ASKED, params: { scope: "category:work", up_to: limit } });
  });

  test("also if there is nothing to ask about", async () => {
    const { decision } = await asked({ scope: "all" }, 0);
    expect(decision).toEqual({ params: { scope: "all", up_to: 40 } });
  });
});

describe("no person is asked", () => {
  test.each(["key:tea", "tea", "ALL", "helmdeck/user_facts/tea.md", "key:all"])("about %j", async (scope) =>
    expect(await decide({ scope }, { memory: new Error("not opened") })).toEqual({ params: { scope } }),
  );

  test.each(["", "key:", "category:pack_history"])("about %j, which the tool itself refuses", async (scope) =>
    expect(await decide({ scope })).toEqual({ params: { scope } }),
  );

  test.each([
    ["7", 7],
    ["true", true],
    ['["all"]', '["all"]'],
    ['{"scope":"all"}', '{"scope":"all"}'],
  ])("about the exact key %s, which is all that %j can name", async (scope, given) => {
    for (const tool of [TOOL, "engine__helmdeck_memory_forget"])
      expect(await decide({ scope: given }, { tool })).toEqual({ params: { scope } });
  });

  test("about a dry run, another tool, or a scope without entries", async () => {
    for (const dry_run of [true, "true"])
      expect(await decide({ scope: "all", dry_run })).toEqual({ params: { scope: "all", dry_run: true } });
    expect(await decide({ scope: "all" }, { tool: "memory_search" })).toBeUndefined();
    expect(await decide({ scope: "all" }, { memory: holding(0) })).toEqual({ params: { scope: "all" } });
  });
});

describe("the call is refused", () => {
  test.each([
    ["memory does not open", new Error("boom")],
    ["the count fails", fakeMemory({ forget: () => Promise.reject(new Error("boom")) })],
  ])("when %s", async (_what, memory) => {
    expect(await decide({ scope: "all" }, { memory })).toMatchObject(refused(/Nothing was forgotten\.$/));
  });

  test("when the count takes too long", async () => {
    const hook = makeApprovalHook({
      access: accessTo(fakeMemory({ forget: hanging })),
      policy: policyFor(),
      deadlineMs: 20,
    });
    expect(await hook({ toolName: TOOL, params: { scope: "all" } }, AT_A_SCREEN)).toMatchObject(
      refused(/^deadline_exceeded/),
    );
  });

  test.each([
    [undefined],
    [{}],
    [{ scope: null }],
    [{ scope: ["all"] }],
    [{ scope: { all: 1 } }],
    [{ scope: 1.5 }],
    [{ scope: "all", dry_run: 1 }],
    [{ scope: "all", dry_run: "yes" }],
    [{ scope: "all", dry_run: ["true"] }],
    [{ scope: "tea", up_to: "now" }],
    [{ scope: "tea", dryRun: true }],
  ])("for what the tool does not take, although the host might convert it: %j", async (params) => {
    for (const tool of [TOOL, "engine__helmdeck_memory_forget"])
      expect(await decide(params, { tool })).toMatchObject(
        refused(/^invalid_input: .*Nothing was forgotten\.$/),
      );
  });

  test("in a group, without a question to a person and without information about the memory", async () => {
    const context = { ...GROUP_CONTEXT, requester: { channel: "telegram" } };
    const memory = new Error("not opened");
    expect(await decide({ scope: "all" }, { context, memory })).toMatchObject(refused(/^identity_refused/));
  });

  test.each([
    ["on the command line", { ...MAIN_CONTEXT, requester: { senderIsOwner: true } }],
    ["from /tools/invoke", MAIN_CONTEXT],
  ])("if no person can be asked, with the command for it: %s", async (_where, context) => {
    const command = /openclaw helmdeck forget category:work, or: helmdeck-memory forget category:work$/;
    expect(await decide({ scope: "category:work" }, { context })).toMatchObject(refused(command));
  });

  test("with the agent and the subject in the command if they are not the default", async () => {
    const context = { agentId: "work", sessionKey: "agent:work:main" };
    const config = { subjects: { work: "o'hara and sons" } };
    expect(await decide({ scope: "all" }, { context, config })).toMatchObject(
      refused(/forget all --agent work, or: .* forget all --caller 'o'\\''hara and sons'$/),
    );
  });
});

describe("the preview for the person", () => {
  const shownFor = async (memory: Memory, scope = "all") => {
    const decision = await decide({ scope }, { memory });
    if (decision === undefined || !("requireApproval" in decision)) throw new Error("nobody was asked");
    return decision.requireApproval;
  };

  test("shows the number of entries, and the newest by key and first words", async () => {
    const { title, description } = await shownFor(
      holding(12, { key: "tea", value: "Oolong\nin the morning" }),
    );
    expect(title).toBe("Forget for good: all");
    expect(description).toBe(
      "This would delete all 12 facts of main for good; it cannot be undone. OpenClaw's own notes and conversations stay, and so do backups, exports, and what packs keep. Newest first, key and first words as stored:\n> tea: Oolong in the morning",
    );
  });

  test("stays within OpenClaw's limits, and no key can imitate a line of the preview", async () => {
    const long = { key: `x"\n0 entries would be deleted ${"y".repeat(200)}`, value: "z".repeat(5_000) };
    const memory = holding(500, long, long, long);
    const { title, description } = await shownFor(memory, `category:${"c".repeat(64)}`);
    expect(title.length).toBeLessThanOrEqual(80);
    expect(description.length).toBeLessThanOrEqual(512);
    const [first, ...others] = description.split("\n");
    expect(first).toMatch(/^This would delete all 500 facts/);
    expect(others).toEqual([expect.stringMatching(/^> x/)]);
  });
});
