import { describe, expect, test } from "vitest";
import { knownAgents, liveConfig } from "../../plugin/access-policy.ts";
import { isQuiet } from "../../plugin/identity.ts";
import type { HostConfig } from "../../plugin/openclaw-api.ts";
import { MAIN, policyFor, sandboxing, TRAP } from "./fake-host.ts";

const OPEN = { ok: true, subject: "main", agentId: "main", sessionKind: expect.any(String) };
const CALLER = { agentId: "main", agentSessionKey: "agent:main:main" };

describe("known agents", () => {
  test("include every agent if none are listed", async () => {
    expect(knownAgents({})).toBeUndefined();
    expect(knownAgents({ agents: {} })).toBeUndefined();
    const caller = { agentId: "nosuch", agentSessionKey: "agent:nosuch:main" };
    expect(await policyFor().verdict(caller)).toMatchObject({ ok: true });
  });

  test("are those listed by id, and in the older list", () => {
    expect(knownAgents({ agents: { entries: { Main: {}, work: {} } } })).toEqual(new Set(["main", "work"]));
    const older = { agents: { list: [{ id: "main" }, null, { id: "Work" }] } };
    // The host's type no longer includes the older shape.
    expect(knownAgents(older as never)).toEqual(new Set(["main", "", "work"]));
  });

  test("no longer include a removed agent, which loses access at once", async () => {
    let config: HostConfig = { agents: { entries: { main: {}, work: {} } } };
    const policy = policyFor({}, { configNow: () => config });
    const caller = { agentId: "work", agentSessionKey: "agent:work:main" };
    expect(await policy.verdict(caller)).toMatchObject({ ok: true });
    config = { agents: { entries: { main: {} } } };
    expect(await policy.verdict(caller)).toEqual({ ok: false, reason: "unknown_agent" });
  });
});

describe("if the host does not report whether a run is sandboxed", () => {
  const verdictUnder = (config: HostConfig, agentSessionKey = "agent:main:main") =>
    policyFor({}, { config }).verdictWithoutSandboxFlag({ agentId: "main", agentSessionKey });
  const CLOSED = { ok: false, reason: "sandboxed" };

  test.each<[string, HostConfig]>([
    ["no sandbox", {}],
    ["sandbox off", { agents: { defaults: { sandbox: { mode: "off" } } } }],
    [
      "sandbox off for this agent",
      { agents: { defaults: { sandbox: { mode: "all" } }, entries: { main: { sandbox: { mode: "off" } } } } },
    ],
    ["everything but the main session", sandboxing("non-main")],
  ])("%s leaves the main session open", async (_, host) => {
    expect(await verdictUnder(host)).toMatchObject({ ok: true });
  });

  test("sandboxing of all sessions closes all", async () => {
    expect(await verdictUnder(sandboxing("all"))).toEqual(CLOSED);
  });

  test("sandboxing of this agent closes it, whatever the case of its name", async () => {
    expect(await verdictUnder({ agents: { entries: { Main: { sandbox: { mode: "all" } } } } })).toEqual(
      CLOSED,
    );
  });

  test("sandboxing of every session but the main one closes a sub-agent", async () => {
    expect(await verdictUnder(sandboxing("non-main"), "agent:main:subagent:1")).toEqual(CLOSED);
  });

  test("the host's last report about the session overrides the configuration", async () => {
    const policy = policyFor();
    await policy.verdict({ ...CALLER, sandboxed: true });
    expect(await policy.verdictWithoutSandboxFlag(CALLER)).toEqual(CLOSED);
    await policy.verdict({ ...CALLER, sandboxed: false });
    expect(await policy.verdictWithoutSandboxFlag(CALLER)).toMatchObject({ ok: true });
  });

  test("the number of remembered reports is limited", async () => {
    const policy = policyFor();
    await policy.verdict({ ...CALLER, sandboxed: true });
    for (let index = 0; index < 1_000; index += 1) {
      await policy.verdict({ ...MAIN, agentSessionKey: `agent:main:subagent:${index}` });
    }
    expect(await policy.verdictWithoutSandboxFlag(CALLER)).toMatchObject({ ok: true });
  });
});

test("the host's configuration is read each time, and the one at registration is used if the runtime throws", () => {
  // The code below reads only these two fields.
  const older = { session: { mainKey: "old" } };
  const newer = { session: { mainKey: "new" } };
  const runtime = { config: { current: () => newer } };
  expect(liveConfig({ config: older, runtime } as never)()).toBe(newer);
  expect(liveConfig({ config: older, runtime: TRAP } as never)()).toBe(older);
});

test.each([
  "agent:main:main:active-memory:0b9f7f3e12ab",
  "agent:main:telegram:direct:12:active-memory:0b9f7f3e12ab",
])("%s searches before a turn without a request, and gets only sure hits", async (agentSessionKey) => {
  for (const policy of [policyFor(), policyFor({ allow: ["groups", "hooks", "sandboxed"] })]) {
    const verdict = await policy.verdict({ agentId: "main", agentSessionKey, sandboxed: false });
    expect(verdict).toEqual({ ...OPEN, unasked: true });
    expect(verdict.ok && isQuiet(verdict)).toBe(true);
  }
});

describe("contexts that the operator opened", () => {
  const policy = policyFor({ allow: ["groups", "hooks", "sandboxed"] });
  const from = (agentSessionKey: string, sandboxed = false) =>
    policy.verdict({ agentId: "main", agentSessionKey, sandboxed });

  test.each([
    ["a group", "agent:main:telegram:group:-100", false, "groups"],
    ["a hook", "agent:main:hook:0b9f7f3e", false, "hooks"],
    ["a sandboxed run", "agent:main:main", true, "sandboxed"],
    ["a sandboxed run in a group", "agent:main:slack:channel:C1", true, "groups"],
  ])("%s is reported as such, and gets only sure hits", async (_, sessionKey, sandboxed, opened) => {
    const verdict = await from(sessionKey, sandboxed);
    expect(verdict).toMatchObject({ ok: true, opened });
    expect(verdict.ok && isQuiet(verdict)).toBe(true);
  });

  test.each(["agent:main:main", "agent:main:telegram:direct:12", "agent:main:dashboard:active-memory"])(
    "%s is the agent's own, and also gets possible hits, whatever is open",
    async (sessionKey) => {
      const verdict = await from(sessionKey);
      expect(verdict).toEqual(OPEN);
      expect(verdict.ok && isQuiet(verdict)).toBe(false);
    },
  );
});
