/** A person is asked before an agent pins a fact; what the person sees is what is pinned. */
import { describe, expect, test } from "vitest";
import { makeApprovalHook } from "../../plugin/approval-hook.ts";
import { openTestMemory } from "../app/fixtures/memories.ts";
import { ASKED, AT_A_SCREEN, GROUP_CONTEXT, MAIN_CONTEXT, policyFor, refused } from "./fake-host.ts";
import { accessTo, fakeMemory, hanging } from "./fake-memory.ts";

const TOOL = "helmdeck__memory_pin";
const KEY = "allergies";

interface Call {
  readonly tool?: string;
  readonly context?: object;
  readonly memory?: Parameters<typeof accessTo>[0];
}

async function decide(params: unknown, { tool = TOOL, context = AT_A_SCREEN, memory }: Call = {}) {
  const kept = memory ?? (await memoryWithKey());
  const hook = makeApprovalHook({ access: accessTo(kept), policy: policyFor({}), deadlineMs: 3_000 });
  return hook({ toolName: tool, params }, context);
}

async function memoryWithKey() {
  const memory = await openTestMemory();
  await memory.storeFact("main", { key: KEY, value: "Nuts.\nAnd milk." });
  return memory;
}

// verifies P-pin-asks
describe("a person is asked", () => {
  test.each([
    [{ key: KEY }, {}],
    [{ key: KEY, pinned: true }, { pinned: true }],
    [{ key: KEY, pinned: "true", if_revision: null }, { pinned: true }],
  ])("before %j", async (params, judged) => {
    const asked = await decide(params);
    expect(asked).toEqual({ ...asked, params: { key: KEY, ...judged, if_revision: 1 } });
    expect(asked).toMatchObject({
      requireApproval: {
        title: "Pin to every prompt: allergies",
        description: expect.stringContaining('"allergies"\n> Nuts.\n> And milk.'),
      },
    });
  });

  test.each(["helmdeck__helmdeck-memory_pin", "engine__helmdeck_memory_pin-2", "HELMDECK.MEMORY_PIN"])(
    "under every name of the tool: %s",
    async (tool) => {
      const asked = await decide({ key: KEY }, { tool });
      expect(asked).toMatchObject(ASKED);
      expect(JSON.stringify(asked)).not.toContain("Nuts");
    },
  );

  test("about a key that is no text, read as the tool reads it", async () => {
    const memory = await openTestMemory();
    await memory.storeFact("main", { key: "true", value: "Nuts." });
    const asked = await decide({ key: true }, { memory });
    expect(asked).toMatchObject({ ...ASKED, params: { key: "true", if_revision: 1 } });
    expect(await decide({ key: 7 }, { tool: "engine__helmdeck_memory_pin" })).toMatchObject({
      ...ASKED,
      params: { key: "7" },
    });
  });

  test.each([false, "false"])("not before an unpin: %j", async (pinned) => {
    expect(await decide({ key: KEY, pinned })).toEqual({ params: { key: KEY, pinned: false } });
  });
});

// verifies P-pin-asks
describe("nothing is pinned", () => {
  test.each([
    ["nobody can be asked", { context: MAIN_CONTEXT }, /needs a person's approval.*\/pin allergies/],
    [
      "the session is a group",
      { context: { ...GROUP_CONTEXT, requester: { channel: "x" } } },
      /identity_refused/,
    ],
    ["memory does not open", { memory: new Error("broken") }, /Nothing was pinned\.$/],
    ["memory does not answer", { memory: fakeMemory({ getFact: hanging }) }, /Nothing was pinned\.$/],
  ] as const)("if %s", async (_, call, reason) => {
    expect(await decide({ key: KEY }, call)).toEqual(refused(reason));
  });

  test.each([
    {},
    { key: null },
    { key: ["allergies"] },
    { key: { key: KEY } },
    { key: 1.5 },
    { key: KEY, pinned: 0 },
    { key: KEY, pinned: "no" },
    { key: KEY, if_revision: "last" },
    { key: KEY, pined: false },
  ])("for what the tool does not take: %j", async (params) => {
    for (const tool of [TOOL, "engine__helmdeck_memory_pin"])
      expect(await decide(params, { tool })).toEqual(refused(/^invalid_input: .*Nothing was pinned\.$/));
  });

  test("under a key that has no fact yet, so that nobody stores one meanwhile", async () => {
    expect(await decide({ key: "none" })).toEqual(refused(/not_found/));
  });
});
