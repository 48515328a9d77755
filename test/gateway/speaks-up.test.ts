/**
 * Memory that speaks up, in the real OpenClaw: what the model is asked with a sure fact, what the transcript keeps, who gets nothing, a
 * request that is kept, and a memory that hangs or fails.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type OpenClawHost, startOpenClaw } from "../../scripts/openclaw-host/openclaw-host.ts";
import { sized } from "../run/size.ts";
import { chat } from "./probes.ts";
import { HOOK_TOKEN } from "./setup.ts";
import {
  agentTurn,
  endOfRun,
  installFaultyWorker,
  member,
  patchConfig,
  resultOfSetUp,
  spawnSubAgent,
} from "./shared.ts";
import {
  MODEL_ID,
  type ModelRequest,
  providerAt,
  type StandInModel,
  scriptFor,
  startStandInModel,
  textOf,
} from "./stand-in-model.ts";
import { type StandInTelegram, startStandInTelegram } from "./stand-in-telegram.ts";

const FACT = "Ada drinks oolong in the morning and nothing after four.";
const QUESTION = "What does Ada drink in the morning?";
/** A turn takes a second, and two with a tool call. */
const TURNS = sized(5, 100);
/** Of the dialogue. */
const REQUESTS = TURNS / 5;
const DIALOGUE_WITHIN_MS = sized(180_000, 1_800_000);
const LEAD = "From helmdeck memory";
/** On a busy machine a search may take longer than 400 ms. */
const NOT_LATE = { retry: 2 };
const OWN = "agent:main:telegram:direct:4711";
const GROUP = "agent:main:telegram:group:-4711";
const COMPARED = "agent:main:telegram:direct:4712";
/** An agent in a sandbox, and one that may not search memory. Each has the fact in its own memory. */
const OTHERS = ["boxed", "mute"] as const;
const SWITCHED_ON = { autoRecall: "sure", captureRequests: "store" } as const;

let model: StandInModel;
let telegram: StandInTelegram;
let openclaw: OpenClawHost;
/** The requests of the dialogue in session COMPARED while everything is off. */
let bodiesWithout: readonly string[];

beforeAll(async () => {
  const { tarball } = await resultOfSetUp();
  model = await startStandInModel();
  telegram = await startStandInTelegram();
  openclaw = await startOpenClaw({
    plugins: [tarball],
    otherAgents: OTHERS,
    env: { OPENCLAW_SKIP_CHANNELS: "0" },
    config: {
      channels: { telegram: telegram.channel },
      agents: {
        defaults: {
          model: { primary: `stand-in/${MODEL_ID}` },
          heartbeat: { target: "none", prompt: tempting("by heart") },
        },
        entries: { boxed: { sandbox: SANDBOX_WITHOUT_DOCKER }, mute: { tools: { deny: ["memory_search"] } } },
      },
      models: { providers: { "stand-in": providerAt(model.baseUrl) } },
      hooks: { enabled: true, token: HOOK_TOKEN },
      tools: {
        sessions: { visibility: "all" },
        sandbox: { tools: { allow: ["memory_search", "memory_get", "helmdeck__*"] } },
      },
      plugins: {
        allow: ["memory-core", "telegram"],
        entries: {
          "helmdeck-memory": {
            hooks: { allowConversationAccess: true },
            // Nothing is added even where the operator opened memory.
            config: { allow: ["groups", "hooks", "sandboxed"] },
          },
        },
      },
    },
  });
  for (const agentId of ["main", ...OTHERS]) {
    const stored = await openclaw.invokeTool(
      "helmdeck__memory_store",
      { key: "ada/tea", value: FACT },
      { agentId },
    );
    expect(stored, stored.text).toMatchObject({ ok: true });
  }
  bodiesWithout = await bodiesOfDialogue();
  await openclaw.rpc("sessions.reset", { key: COMPARED });
  await patchConfig(openclaw, { plugins: { entries: { "helmdeck-memory": { config: SWITCHED_ON } } } });
}, DIALOGUE_WITHIN_MS);
afterAll(async () => {
  await openclaw?.stop();
  await model?.close();
  await telegram?.close();
});

/**
 * OpenClaw's own sandbox on its SSH backend. It connects when a tool first runs in the sandbox, which no test does: nothing listens there.
 */
const SANDBOX_WITHOUT_DOCKER = {
  ...{ mode: "all", backend: "ssh", scope: "session", workspaceAccess: "rw" },
  ssh: { target: "nobody@127.0.0.1:9" },
};

/** The same messages whether memory speaks up or not: sure ones, others, tool calls, and requests to remember. */
function dialogue(): readonly string[] {
  const lookUp = { tool: "memory_search", args: { query: "which lamp does the lighthouse have" } };
  const kinds = [
    (turn: number) => `${QUESTION} (${turn})`,
    (turn: number) => `Write a limerick about tractors, number ${turn}.`,
    (turn: number) => scriptFor(`Look it up, number ${turn}.`, [lookUp]),
    (turn: number) => `Please remember that Ada's bicycle number ${turn} is red.`,
    (turn: number) => `${QUESTION} Once more (${turn})`,
  ];
  return Array.from({ length: TURNS }, (_, turn) => kinds[turn % kinds.length]?.(turn) ?? "");
}

/** The bytes of all requests to the model that the dialogue causes. */
async function bodiesOfDialogue(): Promise<readonly string[]> {
  const before = (await bodies()).length;
  for (const message of dialogue()) await say(message, COMPARED);
  return (await bodies()).slice(before);
}

async function bodies(): Promise<readonly string[]> {
  return (await (await fetch(`${model.baseUrl}/bodies`)).json()) as readonly string[];
}

/** What differs from run to run: the minute of a message, and the ids and durations of tool calls. */
function withoutChance(body: string): string {
  return body
    .replaceAll(/\[\w{3} \d{4}-\d\d-\d\d \d\d:\d\d UTC\]/g, "[MINUTE]")
    .replaceAll(/call_?\d{13}/g, "CALL")
    .replaceAll(/(?<=Ms\\*":\s?)\d+/g, "0");
}

/** What memory adds, as it stands in a JSON string. */
const ADDED = /\\n\\n(?:From helmdeck|Helmdeck) memory\b(?:[^"\\]|\\.)*?(?=\\n\\nRuntime: |")/;

/** Where two texts part, with what stands around; undefined if they are the same. */
function firstDifference(one: string, other: string): readonly [string, string] | undefined {
  if (one === other) return undefined;
  const at = [...one].findIndex((character, place) => character !== other[place]);
  const around = (text: string) => text.slice(Math.max(0, at - 100), at + 100);
  return [around(one), around(other)];
}

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
const untilAsked = (words: string) =>
  expect
    .poll(() =>
      asked(words).then(
        () => true,
        () => false,
      ),
    )
    .toBe(true);

describe("a sure fact", () => {
  // verifies P-unasked-after
  it("stands after the person's words, in its frame, and only in this request", NOT_LATE, async () => {
    await say(QUESTION);
    const { message } = await asked(QUESTION);
    // OpenClaw's own line about the runtime follows.
    const [words, added = ""] = message.split(/\n\nRuntime: /)[0]?.split(`\n\n${LEAD}`) ?? [];
    expect(words).toMatch(/What does Ada drink in the morning\?$/);
    expect(added.split("\n").slice(1)).toEqual([
      expect.stringMatching(/^fact "ada\/tea" in user_facts, stored .* by agent main/),
      `> ${FACT}`,
    ]);
    expect(await transcript(OWN)).toContain(QUESTION);
    expect(await transcript(OWN)).not.toContain(LEAD);
    expect(await transcript(OWN)).not.toContain("oolong");
  });

  // verifies P-unasked-after
  it(`changes nothing before the person's words, in ${TURNS} turns, and comes again`, {
    timeout: DIALOGUE_WITHIN_MS,
  }, async () => {
    let before = (await asked(QUESTION)).before;
    let withFact = 0;
    const late = Number(member(await counts(), "late"));
    for (let turn = 0; turn < TURNS; turn += 1) {
      const question = `${QUESTION} (${turn})`;
      await say(question);
      const now = await asked(question);
      expect(now.before.slice(0, before.length)).toBe(before);
      const isThere = now.message.includes(`> ${FACT}`);
      expect(JSON.stringify(now.request.messages).split(LEAD)).toHaveLength(isThere ? 2 : 1);
      withFact += isThere ? 1 : 0;
      before = now.before;
    }
    expect(withFact + Number(member(await counts(), "late")) - late).toBe(TURNS);
    expect(withFact).toBeGreaterThan(0);
  });

  // verifies P-unasked-after
  it(`is all that differs from the requests of an OpenClaw in which it is off, in ${TURNS} turns`, {
    timeout: DIALOGUE_WITHIN_MS,
  }, async () => {
    const bodiesWith = await bodiesOfDialogue();
    expect(bodiesWith.join()).toMatch(ADDED);
    expect(bodiesWith.length).toBe(bodiesWithout.length);
    const differences = bodiesWith.map((body, at) => {
      const without = withoutChance(bodiesWithout[at] ?? "");
      return firstDifference(withoutChance(body).replace(ADDED, ""), without);
    });
    expect(differences.filter(Boolean)).toEqual([]);
  });

  it("stays out of messages that it is not sure for", async () => {
    await say("Write a limerick about tractors.");
    expect((await asked("about tractors")).message).not.toContain(LEAD);
  });
});

/** A message that is sure for the fact, and asks to remember something. */
const tempting = (where: string) => `Remember that Ada drinks tea in the morning ${where}.`;
const counts = async () => member(await openclaw.rpc("helmdeck.status"), "unasked");

/** Whether the words reach the model, with nothing added to any message, and memory does not even look at the turn. */
async function expectNothing(where: string, run: () => Promise<unknown>): Promise<void> {
  const before = member(await counts(), "turns");
  await run();
  await untilAsked(`${where}.`);
  const { request } = await asked(`${where}.`);
  const said = request.messages.filter(({ role }) => role !== "system" && role !== "developer");
  expect(said.map(textOf).join("\n")).not.toMatch(/oolong|helmdeck memory/i);
  expect(member(await counts(), "turns")).toBe(before);
}

// verifies P-unasked-person
describe("nothing is added, and no request kept,", () => {
  it("only elsewhere than in a person's own session (control)", NOT_LATE, async () => {
    await say(tempting("at home"));
    expect((await asked("at home.")).message).toContain(`> ${FACT}`);
    await expect.poll(async () => (await counts()) ?? null).toMatchObject({ kept: REQUESTS + 1 });
  });

  it("in a group", () => expectNothing("in a group", () => say(tempting("in a group"), GROUP)));

  it("by a web hook", () =>
    expectNothing("by a hook", async () => {
      const reply = await openclaw.fetch("/hooks/agent", {
        method: "POST",
        headers: { authorization: `Bearer ${HOOK_TOKEN}`, "content-type": "application/json" },
        body: JSON.stringify({
          ...{ agentId: "main", name: "tea", deliver: false, waitForCompletion: true },
          message: tempting("by a hook"),
        }),
      });
      expect(reply.status, await reply.text()).toBe(200);
    }));

  it("for a sub-agent", async () => {
    const before = Number(member(await counts(), "turns"));
    const child = await spawnSubAgent(openclaw, OWN, tempting("below"));
    await endOfRun(openclaw, child.runId);
    await expectNothing("below", async () => {});
    // The turn that starts the sub-agent is a person's.
    expect(member(await counts(), "turns")).toBe(before + 1);
  });

  it.each([
    ["for itself", { sessionTarget: "isolated" }, "agentTurn"],
    ["in the person's own session", { sessionTarget: `session:${OWN}` }, "agentTurn"],
    ["as a reminder", { sessionTarget: "main" }, "systemEvent"],
  ])("by a scheduled job %s", async (where, target, kind) => {
    const text = tempting(where);
    const job = await openclaw.rpc("cron.add", {
      ...{ name: where, wakeMode: "now", deleteAfterRun: false, delivery: { mode: "none" } },
      schedule: { kind: "at", at: new Date(Date.now() + 365 * 24 * 3_600_000).toISOString() },
      payload: kind === "agentTurn" ? { kind, message: text } : { kind, text },
      ...target,
    });
    const run = () => openclaw.rpc("cron.run", { id: member(job, "id") ?? null, mode: "force" });
    await expectNothing(where, run);
  });

  it("by a heartbeat, and the event that it tells of", () =>
    expectNothing("by heart", async () => {
      await expectNothing("by an event", () =>
        openclaw.rpc("wake", { mode: "now", text: tempting("by an event") }),
      );
    }));

  it("in a sandbox", async () => {
    const turn = { agentId: "boxed", sessionKey: "agent:boxed:main", message: tempting("in a box") };
    await expectNothing("in a box", () => agentTurn(openclaw, turn));
    const { request } = await asked("in a box.");
    expect(textOf(request.messages[0] ?? { role: "system" })).toContain("Sandbox runtime");
  });

  it("for an agent that may not search memory", () => {
    const turn = { agentId: "mute", sessionKey: "agent:mute:main", message: tempting("unsought") };
    return expectNothing("unsought", () => agentTurn(openclaw, turn));
  });

  it("for a message from another session", async () => {
    const args = { sessionKey: OWN, message: tempting("by letter"), timeoutSeconds: 20 };
    const before = Number(member(await counts(), "turns"));
    await say(scriptFor("Pass it on.", [{ tool: "sessions_send", args }]), "agent:main:telegram:direct:815");
    await expectNothing("by letter", async () => {});
    // The turn that sends it is a person's.
    expect(member(await counts(), "turns")).toBe(before + 1);
  });

  it("for a command", async () => {
    await say(`/memories ${QUESTION} As a command.`);
    const { message } = await asked("As a command.").catch(() => ({ message: "" }));
    expect(message).not.toMatch(/oolong|helmdeck memory/i);
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
  it("say in chat and on the page what was added and kept", async () => {
    const why = await chat(openclaw, OWN, "/helmdeck why");
    expect(why).toMatch(/Message of .*: \d added/);
    const page = await (await openclaw.fetch("/plugins/helmdeck-memory/unasked")).text();
    expect(page).toMatch(
      /added<\/span><\/div><div><p><a href="[^"]*">ada\/tea<\/a>: sure: it has what the message asks for</,
    );
    expect(page).toMatch(/your request, as <a href="[^"]*">ada-takes-stairs</);
    expect(page).not.toContain("oolong");
    const status = await openclaw.rpc("helmdeck.status");
    expect(member(status, "unasked")).toMatchObject({ kept: REQUESTS + 2, failed: 0 });
    expect(member(status, "warnings")).toBeUndefined();
  });
});

// verifies P-request-own-words
it("keeps the request of a reply in Telegram, and none of a message that was forwarded there", async () => {
  const forwarded = { forward_origin: { type: "hidden_user", date: 1, sender_user_name: "Bob" } };
  telegram.say("Remember that the forwarded barn is locked.", forwarded);
  await untilAsked("the forwarded barn is locked.");
  const of = { chat: { id: 4713, type: "private" }, from: { id: 4714, is_bot: false, first_name: "Bob" } };
  const reply_to_message = { ...of, message_id: 9_000, date: 1, text: "Remember that Bob has a red kite." };
  telegram.say("Remember that the other barn is locked.", { reply_to_message });
  await untilAsked("the other barn is locked.");
  await expect.poll(() => isStored("other-barn-locked")).toBe(true);
  expect(await isStored("forwarded-barn-locked")).toBe(false);
});

// verifies P-unasked-quiet
describe("a memory that", () => {
  /** OpenClaw would wait 15 s. The turn itself takes about one. */
  const ENDED_WITHIN_MS = 10_000;

  beforeAll(() => installFaultyWorker(openclaw));

  it("works adds its fact (control)", NOT_LATE, async () => {
    await say("good morning, my dear konflux");
    expect((await asked("good morning")).message).toContain("> the good hit");
  });

  it.each([
    ["hangs", "hang", "late"],
    ["throws", "throw", "failed"],
    ["answers with nothing", "nothing", "failed"],
  ])("%s adds nothing, and the turn goes on", async (_, fault, count) => {
    const before = Number(member(await counts(), count));
    const begun = performance.now();
    await say(`${fault} my dear konflux`);
    expect(performance.now() - begun).toBeLessThan(ENDED_WITHIN_MS);
    expect((await asked(`${fault} my dear`)).message).not.toMatch(/helmdeck memory/i);
    expect(member(await counts(), count)).toBe(before + 1);
  });
});
