import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CLOSED_CONTEXTS, type ClosedContext } from "../../plugin/config.ts";
import {
  type Caller,
  type IdentityRules,
  sentenceOfRefusal,
  sessionKindOf,
  whoAsks,
} from "../../plugin/identity.ts";

function rules(change: Partial<IdentityRules> = {}): IdentityRules {
  const source = { kind: "embedded" } as const;
  return {
    source,
    subjects: new Map(),
    allow: new Set(),
    knownAgents: undefined,
    mainKey: "main",
    ...change,
  };
}

function allowing(...contexts: ClosedContext[]): IdentityRules {
  return rules({ allow: new Set(contexts) });
}

const ask = (agentSessionKey: unknown, more: Partial<Caller> = {}): Caller => ({
  agentId: "main",
  agentSessionKey,
  sandboxed: false,
  ...more,
});

describe("sessions whose key identifies them as their agent's own", () => {
  test.each([
    ["the main session, where direct chats go by default", "agent:main:main"],
    ["a direct chat per peer", "agent:main:direct:alice"],
    ["a direct chat per channel and peer", "agent:main:telegram:direct:12345"],
    ["a direct chat per account, channel and peer", "agent:main:telegram:work:direct:12345"],
    ["a direct chat in an older key", "agent:main:telegram:dm:12345"],
    ["a thread in a direct chat", "agent:main:slack:direct:u1:thread:1777244748.777299"],
    ["a thread in the main session", "agent:main:main:thread:1777244748.777299"],
    ["a key in capitals", "AGENT:Main:MAIN"],
  ])("%s", (_, session) => {
    expect(whoAsks(ask(session), rules())).toEqual({
      ...{ ok: true, subject: "main", agentId: "main" },
      ...{ session, evidence: "key" },
    });
  });

  test.each([
    ["a slash command", "agent:main:discord:slash:998877"],
    ["a chat in the Control UI", "agent:main:dashboard:0b9f7f3e-1111-2222-3333-444455556666"],
    ["a session that the operator named", "agent:main:big-refactor"],
    ["one of the command line", "agent:main:explicit:0b9f7f3e"],
  ])("%s, unless the host reports otherwise", (_, sessionKey) => {
    expect(whoAsks(ask(sessionKey), rules())).toMatchObject({ ok: true, evidence: "record_if_any" });
  });

  test.each([
    ["a sub-agent", "agent:main:subagent:0b9f7f3e-1111-2222-3333-444455556666"],
    ["a sub-agent of a sub-agent", "agent:main:subagent:aaa:subagent:bbb"],
    ["a thread of a sub-agent", "agent:main:subagent:aaa:thread:1"],
    ["an ACP session", "agent:main:acp:0b9f7f3e-1111-2222-3333-444455556666"],
    ["a cron job", "agent:main:cron:nightly"],
    ["one run of a cron job", "agent:main:cron:nightly:run:8821"],
    ["a sub-agent in capitals", "agent:main:SUBAGENT:aaa"],
  ])("not %s: only the host knows its origin", (_, sessionKey) => {
    expect(whoAsks(ask(sessionKey), rules())).toMatchObject({ ok: true, evidence: "record" });
  });

  test("the main session under another name", () => {
    const renamed = rules({ mainKey: "home" });
    expect(whoAsks(ask("agent:main:home:thread:1"), renamed)).toMatchObject({ ok: true });
  });

  test("an agent id in any case", () => {
    expect(whoAsks(ask("agent:main:main", { agentId: "Main" }), rules())).toMatchObject({ subject: "main" });
  });

  test("a run whose host does not report sandboxing", () => {
    expect(whoAsks({ agentId: "main", agentSessionKey: "agent:main:main" }, rules())).toMatchObject({
      ok: true,
    });
  });
});

test.each([
  ["agent:main:main", "main"],
  ["agent:main:telegram:direct:42", "direct"],
  ["agent:main:telegram:group:-100", "group"],
  ["agent:main:subagent:aaa", "subagent"],
  ["agent:main:cron:nightly:run:1", "cron"],
  ["agent:main:hook:mail", "hook"],
  ["agent:main:dashboard:d2", "dashboard"],
  ["agent:main:whatever", "other"],
  [undefined, "other"],
])("the session %s is recorded as %s in its facts", (sessionKey, kind) => {
  expect(sessionKindOf(sessionKey)).toBe(kind);
});

const SHARED_SESSIONS = [
  ["a group", "agent:main:telegram:group:-1001234567890"],
  ["a topic in a group", "agent:main:telegram:group:-1001234567890:topic:42"],
  ["a channel", "agent:main:slack:channel:C123"],
  ["a thread in a channel", "agent:main:discord:channel:123456:thread:987654"],
  ["a group per account", "agent:main:telegram:work:group:-100"],
  ["a room", "agent:main:matrix:room:!abc"],
  ["a group in an older key", "agent:main:group:-100"],
  ["a channel in an older key", "agent:main:channel:C123"],
  ["a WhatsApp group in an older key", "agent:main:whatsapp:120363403215116621@g.us"],
  ["a guild channel in an older key", "agent:main:discord:guild-1:channel-2"],
  ["a case-preserving group", "agent:main:signal:group:AbCdEf=="],
  ["the global session", "global"],
  ["the global session of one agent", "agent:main:global"],
  ["a conversation bound to an outside program", "agent:main:acp:binding:discord:acct:0011"],
  ["a telephone call", "agent:main:voice:15551234567"],
  ["a channel with an unknown key format", "agent:main:telegram:12345"],
  ["a direct peer that claims to be a group", "agent:main:telegram:direct:group:1"],
  ["a sub-agent whose key names a group", "agent:main:subagent:telegram:group:1"],
  ["an ACP session whose key names a channel", "agent:main:acp:slack:channel:C1:thread:2"],
  ["a cron run whose key names a group", "agent:main:cron:x:group:-100:run:1"],
  ["a cron job named group", "agent:main:cron:group:run:1"],
  ["a sub-agent of the global session", "agent:main:subagent:global"],
  ["a cron run in a WhatsApp group", "agent:main:cron:x:120363403215116621@g.us"],
  ["a nested sub-agent whose key names a room", "agent:main:subagent:a:subagent:matrix:room:!x"],
] as const;

// verifies P-alone-closed-contexts
describe("shared sessions", () => {
  test.each(SHARED_SESSIONS)("%s is closed, unless the operator opens groups", (_, sessionKey) => {
    expect(whoAsks(ask(sessionKey), rules())).toEqual({ ok: false, reason: "groups" });
    expect(whoAsks(ask(sessionKey), allowing("hooks", "sandboxed"))).toEqual({ ok: false, reason: "groups" });
    expect(whoAsks(ask(sessionKey), allowing("groups"))).toMatchObject({ ok: true, subject: "main" });
  });

  test("a hook is closed, whatever else is open", () => {
    const hook = ask("agent:main:hook:0b9f7f3e");
    expect(whoAsks(hook, rules())).toEqual({ ok: false, reason: "hooks" });
    expect(whoAsks(hook, allowing("groups", "sandboxed"))).toEqual({ ok: false, reason: "hooks" });
    expect(whoAsks(hook, allowing("hooks"))).toMatchObject({ ok: true });
  });

  test.each(["agent:main:cron:hook:1", "agent:main:subagent:hook:0b9f", "agent:main:cron:x:hook:1:run:2"])(
    "the hook in %s is closed, whatever else is open",
    (sessionKey) => {
      const verdict = whoAsks(ask(sessionKey), allowing("groups", "sandboxed"));
      expect(verdict).toEqual({ ok: false, reason: "hooks" });
    },
  );

  test("a sandboxed run is closed, whatever else is open", () => {
    const confined = ask("agent:main:main", { sandboxed: true });
    expect(whoAsks(confined, rules())).toEqual({ ok: false, reason: "sandboxed" });
    expect(whoAsks(confined, allowing("groups", "hooks"))).toEqual({ ok: false, reason: "sandboxed" });
    expect(whoAsks(confined, allowing("sandboxed"))).toMatchObject({ ok: true });
  });

  test("a sandboxed run in a group needs both to be open", () => {
    const both = ask("agent:main:telegram:group:-100", { sandboxed: true });
    expect(whoAsks(both, allowing("groups"))).toEqual({ ok: false, reason: "sandboxed" });
    expect(whoAsks(both, allowing("sandboxed"))).toEqual({ ok: false, reason: "groups" });
    expect(whoAsks(both, allowing("groups", "sandboxed"))).toMatchObject({ ok: true });
  });
});

// verifies P-alone-no-identity
describe("identities that are missing, malformed or contradictory", () => {
  const everythingOpen = allowing(...CLOSED_CONTEXTS);

  test.each([
    ["no agent", { agentSessionKey: "agent:main:main" }, "no_agent"],
    ["an empty agent", { agentId: "", agentSessionKey: "agent:main:main" }, "no_agent"],
    ["an agent that is not a string", { agentId: 7, agentSessionKey: "agent:main:main" }, "malformed"],
    ["an agent id with a path", { agentId: "../main", agentSessionKey: "agent:../main:main" }, "malformed"],
    ["an agent id with a colon", { agentId: "main:x", agentSessionKey: "agent:main:x:main" }, "malformed"],
    ["an agent id with a line break", { agentId: "main\n", agentSessionKey: "agent:main:main" }, "malformed"],
    ["an agent id of 65 characters", ask("agent:main:main", { agentId: "a".repeat(65) }), "malformed"],
    ["no session", { agentId: "main" }, "no_session"],
    ["an empty session", ask(""), "no_session"],
    ["a session that is not a string", ask({ toString: () => "agent:main:main" }), "malformed"],
    ["another agent's session", ask("agent:other:main"), "agent_mismatch"],
    ["a session of an agent with a longer name", ask("agent:main2:main"), "agent_mismatch"],
    ["a key without an agent", ask("main"), "malformed"],
    ["the word unknown", ask("unknown"), "malformed"],
    ["an unknown session of the agent", ask("agent:main:unknown"), "malformed"],
    ["a key that ends after the agent", ask("agent:main"), "malformed"],
    ["a key with nothing after the agent", ask("agent:main:"), "malformed"],
    ["an empty part", ask("agent:main:telegram::direct:1"), "malformed"],
    ["a part missing at the end", ask("agent:main:direct:"), "malformed"],
    ["a wrapped key", ask("agent:main:agent:main:main"), "malformed"],
    ["a sub-agent without an id", ask("agent:main:subagent"), "malformed"],
    ["a hook without an id", ask("agent:main:hook"), "malformed"],
    ["a key wrapped in a sub-agent's", ask("agent:main:subagent:agent:main:main"), "malformed"],
    ["a run of an unknown session", ask("agent:main:cron:unknown:run:1"), "malformed"],
    ["a control character", ask("agent:main:ma\u0000in"), "malformed"],
    ["a trailing line break", ask("agent:main:main\n"), "malformed"],
    ["a leading space", ask(" agent:main:main"), "malformed"],
    ["an endless key", ask(`agent:main:${"x".repeat(5_000)}`), "malformed"],
    ["a sandboxed flag that is not a boolean", ask("agent:main:main", { sandboxed: "no" }), "malformed"],
  ])("%s", (_, caller, reason) => {
    expect(whoAsks(caller, everythingOpen)).toEqual({ ok: false, reason });
  });

  test("an agent that is not configured is refused if agents are listed", () => {
    const listed = rules({ knownAgents: new Set(["main", "work"]) });
    expect(whoAsks(ask("agent:nosuch:main", { agentId: "nosuch" }), listed)).toEqual({
      ok: false,
      reason: "unknown_agent",
    });
    expect(whoAsks(ask("agent:work:main", { agentId: "work" }), listed)).toMatchObject({ subject: "work" });
  });
});

describe("subjects", () => {
  test("are different for two agents", () => {
    const one = whoAsks(ask("agent:a:main", { agentId: "a" }), rules());
    const other = whoAsks(ask("agent:b:main", { agentId: "b" }), rules());
    expect([one, other]).toMatchObject([{ subject: "a" }, { subject: "b" }]);
  });

  test("can be the same for two agents by configuration", () => {
    const shared = rules({ subjects: new Map([["b", "a"]]) });
    expect(whoAsks(ask("agent:b:main", { agentId: "B" }), shared)).toMatchObject({
      subject: "a",
      agentId: "b",
    });
  });

  test("do not fall back to the agent's name if its entry is malformed", () => {
    const broken = rules({ subjects: new Map([["b", undefined]]) });
    expect(whoAsks(ask("agent:b:main", { agentId: "b" }), broken)).toEqual({
      ok: false,
      reason: "malformed",
    });
  });

  test("are those of the agent in the session's key, for any key", () => {
    const part = fc.oneof(
      fc.constantFrom("", ..."main direct group channel hook cron subagent acp agent global".split(" ")),
      fc.string({ maxLength: 6 }),
    );
    const key = fc.oneof(
      fc.array(part, { maxLength: 7 }).map((parts) => parts.join(":")),
      fc.array(part, { maxLength: 5 }).map((parts) => ["agent", "main", ...parts].join(":")),
    );
    fc.assert(
      fc.property(
        fc.constantFrom("main", "Main", "other"),
        key,
        fc.boolean(),
        (agentId, sessionKey, open) => {
          const verdict = whoAsks(
            ask(sessionKey, { agentId }),
            open ? allowing(...CLOSED_CONTEXTS) : rules(),
          );
          if (!verdict.ok) return;
          expect(verdict.subject).toBe(agentId.toLowerCase());
          if (sessionKey.toLowerCase() !== "global") {
            expect(sessionKey.toLowerCase().startsWith(`agent:${verdict.subject}:`)).toBe(true);
          }
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test("are not given by default for a key with a shared part", () => {
    const before = fc.array(fc.constantFrom("telegram", "work", "direct", "x", "main", "dashboard"), {
      maxLength: 3,
    });
    const after = fc.array(fc.string({ minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 3 });
    const marker = fc.constantFrom("group", "channel", "GROUP", "Channel", "room");
    fc.assert(
      fc.property(before, marker, after, (left, shared, right) => {
        const key = ["agent", "main", ...left, shared, ...right].join(":");
        expect(whoAsks(ask(key), rules()).ok).toBe(false);
      }),
    );
  });

  test("never throw, whatever the host passes", () => {
    fc.assert(
      fc.property(fc.anything(), fc.anything(), fc.anything(), (agentId, agentSessionKey, sandboxed) => {
        expect(whoAsks({ agentId, agentSessionKey, sandboxed }, rules())).toHaveProperty("ok");
      }),
    );
  });
});

test("every refusal has its own sentence, and none reveals stored data", () => {
  const identity = ["no_agent", "unknown_agent", "no_session", "agent_mismatch", "malformed"] as const;
  const reasons = [...identity, "unknown_origin", ...CLOSED_CONTEXTS] as const;
  expect(new Set(reasons.map(sentenceOfRefusal)).size).toBe(reasons.length);
});

describe("if an engine keeps the memory", () => {
  const source = {
    kind: "engine",
    settings: { url: "" },
    tokens: new Map([["main", { file: "/t" }]]),
  } as const;

  test("an agent with a token uses its own name, and one without gets nothing", () => {
    expect(whoAsks(ask("agent:main:main"), rules({ source }))).toMatchObject({ ok: true, subject: "main" });
    const other = ask("agent:other:main", { agentId: "other" });
    expect(whoAsks(other, rules({ source }))).toEqual({ ok: false, reason: "no_token" });
  });
});
