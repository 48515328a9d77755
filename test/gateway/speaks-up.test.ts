/**
 * Memory that speaks up, in the real OpenClaw: what the model is asked with a sure fact, what the transcript keeps, who gets nothing, and a
 * request that is kept.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type OpenClawHost, startOpenClaw } from "../../scripts/openclaw-host/openclaw-host.ts";
import { sized } from "../run/size.ts";
import { chat } from "./probes.ts";
import { HOOK_TOKEN } from "./setup.ts";
import { agentTurn, endOfRun, member, resultOfSetUp, spawnSubAgent } from "./shared.ts";
import {
  MODEL_ID,
  type ModelRequest,
  providerAt,
  type StandInModel,
  scriptFor,
  startStandInModel,
  textOf,
} from "./stand-in-model.ts";

const FACT = "Ada drinks oolong in the morning and nothing after four.";
const QUESTION = "What does Ada drink in the morning?";
/** A turn takes a second. */
const TURNS = sized(5, 100);
const LEAD = "From helmdeck memory";
const OWN = "agent:main:telegram:direct:4711";
const GROUP = "agent:main:telegram:group:-4711";

let model: StandInModel;
let openclaw: OpenClawHost;

beforeAll(async () => {
  const { tarball } = await resultOfSetUp();
  model = await startStandInModel();
  openclaw = await startOpenClaw({
    plugins: [tarball],
    config: {
      agents: { defaults: { model: { primary: `stand-in/${MODEL_ID}` } } },
      models: { providers: { "stand-in": providerAt(model.baseUrl) } },
      hooks: { enabled: true, token: HOOK_TOKEN },
      tools: { sessions: { visibility: "all" } },
      plugins: {
        entries: {
          "helmdeck-memory": {
            hooks: { allowConversationAccess: true },
            config: { autoRecall: "sure", captureRequests: "store" },
          },
        },
      },
    },
  });
  await openclaw.invokeTool("helmdeck__memory_store", { key: "ada/tea", value: FACT });
});
afterAll(async () => {
  await openclaw?.stop();
  await model?.close();
});

async function requests(): Promise<readonly ModelRequest[]> {
  return (await (await fetch(`${model.baseUrl}/requests`)).json()) as readonly ModelRequest[];
}

/** The latest request about these words: the person's message in it, and everything before their end. */
async function asked(
  words: string,
): Promise<{ readonly message: string; readonly before: string; readonly request: ModelRequest }> {
  const request = (await requests()).findLast(({ messages }) => messages.some((one) => isOf(one, words)));
  const at = request?.messages.findLastIndex((one) => isOf(one, words)) ?? -1;
  const asking = request?.messages[at];
  if (request === undefined || asking === undefined) throw new Error(`the model was not asked: ${words}`);
  const message = textOf(asking);
  const earlier = [JSON.stringify(request.tools), ...request.messages.slice(0, at).map(bytesOf)];
  const own = message.slice(0, message.indexOf(words) + words.length);
  return { message, request, before: [...earlier, `user ${own}`].join("\n") };
}

/** A message as the provider's cache sees it: everything that it has, whatever the form of its text. */
function bytesOf(message: ModelRequest["messages"][number]): string {
  const { role, content: _, ...others } = message;
  return `${role} ${textOf(message)}${JSON.stringify(others)}`;
}

const isOf = (one: ModelRequest["messages"][number], words: string) =>
  one.role === "user" && textOf(one).includes(words);
const say = (message: string, sessionKey = OWN) => agentTurn(openclaw, { message, sessionKey });
const transcript = async (sessionKey: string) =>
  JSON.stringify(member(await openclaw.rpc("chat.history", { sessionKey }), "messages"));
const isStored = async (key: string) =>
  (await openclaw.invokeTool("memory_get", { path: `helmdeck/user_facts/${key}.md` })).details.status ===
  "ok";

describe("a sure fact", () => {
  // verifies P-unasked-after
  it("stands after the person's words, in its frame, and only in this request", async () => {
    await say(QUESTION);
    const { message } = await asked(QUESTION);
    // OpenClaw's own line about the runtime follows.
    const [words, added = ""] = message.split(/\n\nRuntime: /)[0]?.split(`\n\n${LEAD}`) ?? [];
    expect(words).toMatch(/What does Ada drink in the morning\?$/);
    expect(added.split("\n").slice(1)).toEqual([
      expect.stringMatching(/^fact "ada\/tea" in user_facts, stored .* by openclaw main/),
      `> ${FACT}`,
    ]);
    expect(await transcript(OWN)).toContain(QUESTION);
    expect(await transcript(OWN)).not.toContain(LEAD);
    expect(await transcript(OWN)).not.toContain("oolong");
  });

  // verifies P-unasked-after
  it(`changes nothing before the person's words, in ${TURNS} turns, and comes again`, async () => {
    let before = (await asked(QUESTION)).before;
    for (let turn = 0; turn < TURNS; turn += 1) {
      const question = `${QUESTION} (${turn})`;
      await say(question);
      const now = await asked(question);
      expect(now.message).toContain(`> ${FACT}`);
      expect(now.before.slice(0, before.length)).toBe(before);
      expect(JSON.stringify(now.request.messages).split(LEAD)).toHaveLength(2);
      before = now.before;
    }
  });

  it("stays out of messages that it is not sure for", async () => {
    await say("Write a limerick about tractors.");
    expect((await asked("about tractors")).message).not.toContain(LEAD);
  });
});

const nothing = async (words: string, key: string) => {
  const { message } = await asked(words);
  expect(message).not.toMatch(/oolong|helmdeck memory/i);
  expect(await isStored(key)).toBe(false);
};

describe("nothing is added, and no request kept,", () => {
  it("in a group", async () => {
    await say(`${QUESTION} In the group.`, GROUP);
    await say("Remember that the crane is green.", GROUP);
    await nothing("In the group.", "crane-green");
  });

  it("by a web hook", async () => {
    const reply = await openclaw.fetch("/hooks/agent", {
      method: "POST",
      headers: { authorization: `Bearer ${HOOK_TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify({
        ...{ agentId: "main", name: "tea", deliver: false, waitForCompletion: true },
        message: `Remember that hooks are blue. ${QUESTION} By hook.`,
      }),
    });
    expect(reply.status, await reply.text()).toBe(200);
    await nothing("By hook.", "hooks-blue");
  });

  it("for a sub-agent", async () => {
    const child = await spawnSubAgent(
      openclaw,
      OWN,
      `Remember that sub-agents are red. ${QUESTION} By a sub-agent.`,
    );
    await endOfRun(openclaw, child.runId);
    await nothing("By a sub-agent.", "sub-agents-red");
  });
});

describe("a message from another session", () => {
  it("gets nothing, and nothing of it is kept", async () => {
    const message = `Remember that letters are yellow. ${QUESTION} From a session.`;
    const args = { sessionKey: OWN, message, timeoutSeconds: 20 };
    await say(scriptFor("Pass it on.", [{ tool: "sessions_send", args }]), "agent:main:telegram:direct:815");
    await expect
      .poll(() =>
        asked("From a session.").then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
    await nothing("From a session.", "letters-yellow");
  });
});

describe("a plain request", () => {
  it("is kept when the agent stores nothing, and the next turn says so once", async () => {
    await say("Please remember that Ada takes the stairs.");
    await expect.poll(() => isStored("ada-takes-stairs")).toBe(true);
    await say("Write a limerick about ladders.");
    expect((await asked("about ladders")).message).toMatch(
      /kept .* as ada-takes-stairs\. .*\/forget ada-takes-stairs$/m,
    );
    await say("Write a limerick about lifts.");
    expect((await asked("about lifts")).message).not.toContain("ada-takes-stairs");
    expect(await transcript(OWN)).not.toContain("/forget");
  });

  it("is left to the agent that stores it", async () => {
    const call = { tool: "helmdeck__memory_store", args: { key: "ada/bike", value: "Ada's bike is red." } };
    await say(scriptFor("Remember that Ada's bike is red.", [call]));
    await say("Write a limerick about bikes.");
    expect((await asked("about bikes")).message).not.toContain("/forget");
    expect(await isStored("ada-s-bike-red")).toBe(false);
  });
});

describe("receipts", () => {
  it("say in chat what was added and kept", async () => {
    const why = await chat(openclaw, OWN, "/helmdeck why");
    expect(why).toMatch(/Message of .*: \d added/);
    const status = await openclaw.rpc("helmdeck.status");
    expect(member(status, "unasked")).toMatchObject({ kept: 1, late: expect.any(Number), failed: 0 });
    expect(member(status, "warnings")).toBeUndefined();
  });
});
